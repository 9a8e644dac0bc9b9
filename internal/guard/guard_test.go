package guard_test

import (
	"errors"
	"os"
	"os/exec"
	"path/filepath"
	"testing"
	"time"

	"github.com/callwright/callwright/internal/guard"
)

// These variables make this test binary a process that starts two guards, releases one of them, and ends in the given way.
const (
	envEnd  = "GUARD_END"
	envKept = "GUARD_KEPT"
	envOff  = "GUARD_OFF"
)

func TestMain(m *testing.M) {
	if end := os.Getenv(envEnd); end != "" {
		guarded(end)
	}
	os.Exit(m.Run())
}

func guarded(end string) {
	release, err := guard.Start(nil, `touch "$1"`, os.Getenv(envOff))
	if err != nil {
		panic(err)
	}
	if _, err := guard.Start(nil, `rmdir "$1"; pwd > "$2"`, os.Getenv(envKept)+".d", os.Getenv(envKept)); err != nil {
		panic(err)
	}
	release()
	release()
	switch end {
	case "return":
		os.Exit(0)
	case "panic":
		panic("the test process panics")
	default: // a signal that cannot be caught
		self, err := os.FindProcess(os.Getpid())
		if err == nil {
			err = self.Kill()
		}
		panic(err)
	}
}

func TestGuard(t *testing.T) {
	t.Parallel()
	for _, end := range []string{"return", "panic", "kill"} {
		t.Run(end, func(t *testing.T) {
			t.Parallel()
			kept, off := filepath.Join(t.TempDir(), "a b"), filepath.Join(t.TempDir(), "off")
			if err := os.Mkdir(kept+".d", 0o700); err != nil {
				t.Fatal(err)
			}
			cmd := exec.CommandContext(t.Context(), os.Args[0])
			cmd.Env = append(os.Environ(), envEnd+"="+end, envKept+"="+kept, envOff+"="+off)
			// CombinedOutput returns when no process holds the output open, so the guard must not hold it.
			if output, err := cmd.CombinedOutput(); (err == nil) != (end == "return") {
				t.Fatalf("the process ended with %v\n%s", err, output)
			}
			if wrote := await(t, kept); wrote != "/\n" {
				t.Errorf("the guard works in %q", wrote)
			}
			if _, err := os.Stat(kept + ".d"); !errors.Is(err, os.ErrNotExist) {
				t.Errorf("the guard's first argument is still there: %v", err)
			}
			if _, err := os.Stat(off); !errors.Is(err, os.ErrNotExist) {
				t.Errorf("the guard that was called off did its work: %v", err)
			}
		})
	}
}

// await waits until a file has content, and returns the content.
func await(t *testing.T, path string) string {
	t.Helper()
	tick := time.NewTicker(5 * time.Millisecond)
	defer tick.Stop()
	deadline := time.After(30 * time.Second)
	for {
		if raw, err := os.ReadFile(path); err == nil && len(raw) > 0 {
			return string(raw)
		}
		select {
		case <-tick.C:
		case <-deadline:
			t.Fatal("the guard did nothing")
		}
	}
}
