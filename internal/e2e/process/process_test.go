package process_test

import (
	"bytes"
	"os"
	"os/exec"
	"strconv"
	"strings"
	"syscall"
	"testing"

	"github.com/callwright/callwright/internal/await"
	"github.com/callwright/callwright/internal/e2e/process"
)

// victim is the environment variable that makes TestKilled the killed process. Its value is the path of the file to which TestKilled writes
// the id of its child process.
const victim = "CALLWRIGHT_E2E_VICTIM"

// alive reports whether a process exists and is not a zombie.
func alive(t *testing.T, pid int) bool {
	t.Helper()
	if syscall.Kill(pid, 0) != nil {
		return false
	}
	state, err := exec.CommandContext(t.Context(), "ps", "-o", "stat=", "-p", strconv.Itoa(pid)).Output()
	return err == nil && !bytes.HasPrefix(bytes.TrimSpace(state), []byte("Z"))
}

func TestExit(t *testing.T) {
	t.Parallel()
	p := process.Start(t, "a shell", exec.CommandContext(t.Context(), "/bin/sh", "-c", "echo out; echo err >&2; exit 3"), "")
	if code := p.ExitCode(t); code != 3 || p.Running() {
		t.Errorf("exit code %d, running %v", code, p.Running())
	}
	if log := p.Log(); !strings.Contains(log, "out\n") || !strings.Contains(log, "err\n") {
		t.Errorf("log %q", log)
	}
}

func TestTerminate(t *testing.T) {
	t.Parallel()
	p := process.Start(t, "a shell", exec.CommandContext(t.Context(), "/bin/sh", "-c", `trap 'exit 7' TERM; echo ready; while :; do sleep 0.1; done`), "")
	await.That(t, "the shell to be ready", func() bool { return strings.Contains(p.Log(), "ready") })
	p.Terminate(t)
	if code := p.ExitCode(t); code != 7 {
		t.Errorf("exit code %d", code)
	}
}

// TestKilled checks that the child process of a killed test process dies, too.
func TestKilled(t *testing.T) {
	t.Parallel()
	if os.Getenv(victim) != "" {
		p := process.Start(t, "a sleeper", exec.CommandContext(t.Context(), "sleep", "600"), "")
		if err := os.WriteFile(os.Getenv(victim), []byte(strconv.Itoa(p.PID())+"\n"), 0o600); err != nil {
			t.Fatal(err)
		}
		<-p.Done()
		return
	}
	file := t.TempDir() + "/pid"
	cmd := exec.CommandContext(t.Context(), os.Args[0], "-test.run", "^TestKilled$")
	cmd.Env = append(os.Environ(), victim+"="+file)
	p := process.Start(t, "the victim", cmd, "")
	var pid int
	await.That(t, "the victim's process", func() bool {
		text, err := os.ReadFile(file)
		if err != nil || !bytes.HasSuffix(text, []byte("\n")) {
			return false
		}
		pid, err = strconv.Atoi(strings.TrimSpace(string(text)))
		return err == nil
	})
	if !alive(t, pid) {
		t.Fatal("the victim's process does not run")
	}
	p.Kill()
	await.That(t, "the victim's process to die", func() bool { return !alive(t, pid) })
}
