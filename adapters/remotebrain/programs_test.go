package remotebrain_test

import (
	"bytes"
	"context"
	"fmt"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/callwright/callwright/adapters/remotebrain"
	"github.com/callwright/callwright/agents/agentstest"
	"github.com/callwright/callwright/agents/conversation"
)

const (
	programs = "../../examples/brains"
	modules  = "../../internal/tools/web/node_modules" // scripts/install-deps.sh test installs them
)

// TestPrograms checks that the examples in other languages fulfill all duties, and that a brain over each passes the suite of brains.
func TestPrograms(t *testing.T) {
	t.Parallel()
	for name, command := range map[string]func(t *testing.T) []string{
		"brain.py":   func(*testing.T) []string { return []string{"python3", filepath.Join(programs, "brain.py")} },
		"Brain.java": func(*testing.T) []string { return []string{"java", filepath.Join(programs, "Brain.java")} },
		"brain.ts":   compiled,
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			text, err := os.ReadFile(filepath.Join(programs, name))
			if lines := bytes.Count(text, []byte("\n")); err != nil || lines >= 60 {
				t.Errorf("it has %d lines, %v", lines, err)
			}
			url := start(t, command(t))
			for duty, d := range check(t, url) {
				if d.Result != remotebrain.Holds {
					t.Errorf("%s is %s: %s", duty, d.Result, d.Detail)
				}
			}
			agentstest.RunBrain(t, func(t *testing.T) conversation.Brain { return brain(t, url, nil) })
		})
	}
}

// compiled compiles brain.ts, and returns the command that runs it.
func compiled(t *testing.T) []string {
	t.Helper()
	out := t.TempDir()
	types, err := filepath.Abs(filepath.Join(modules, "@types"))
	if err != nil {
		t.Fatal(err)
	}
	c := exec.CommandContext(t.Context(), "node", filepath.Join(modules, "typescript", "bin", "tsc"), "--strict", "--target", "es2022",
		"--module", "commonjs", "--skipLibCheck", "--typeRoots", types, "--types", "node", "--outDir", out, filepath.Join(programs, "brain.ts"))
	if said, err := c.CombinedOutput(); err != nil {
		t.Fatalf("%v: run scripts/install-deps.sh test\n%s", err, said)
	}
	return []string{"node", filepath.Join(out, "brain.js")}
}

// start runs a program that serves a brain, until the test ends, and returns its URL. Another process may occupy the chosen port first, so
// that start tries several.
func start(t *testing.T, command []string) string {
	t.Helper()
	var said bytes.Buffer
	for range 5 {
		l, err := new(net.ListenConfig).Listen(t.Context(), "tcp", "127.0.0.1:0")
		if err != nil {
			t.Fatal(err)
		}
		address := l.Addr().String()
		_ = l.Close()
		ctx, stop := context.WithCancel(context.Background())
		c := exec.CommandContext(ctx, command[0], command[1:]...)
		c.Env = append(os.Environ(), "SECRET="+secret, "PORT="+address[strings.LastIndex(address, ":")+1:])
		said.Reset()
		c.Stdout, c.Stderr = &said, &said
		if err := c.Start(); err != nil {
			stop()
			t.Fatalf("%v: run scripts/install-deps.sh test", err)
		}
		ended := make(chan struct{})
		go func() {
			_ = c.Wait()
			close(ended)
		}()
		if listens(ctx, address, ended) {
			t.Cleanup(func() {
				stop()
				<-ended
			})
			return fmt.Sprintf("http://%s/", address)
		}
		stop()
		<-ended
	}
	t.Fatalf("the program does not serve:\n%s", said.String())
	return ""
}

// listens waits until a program accepts connections. It returns false if the program ends before, or after a minute.
func listens(ctx context.Context, address string, ended <-chan struct{}) bool {
	late := time.After(time.Minute)
	for {
		if c, err := new(net.Dialer).DialContext(ctx, "tcp", address); err == nil {
			_ = c.Close()
			return true
		}
		select {
		case <-ended:
			return false
		case <-late:
			return false
		case <-time.After(50 * time.Millisecond):
		}
	}
}
