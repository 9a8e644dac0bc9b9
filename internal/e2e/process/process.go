// Package process runs the programs that end-to-end tests use. It records the output of each program, kills the program when its test ends
// or the test process dies, and prints the output of failed tests.
package process

import (
	"bytes"
	"io"
	"os/exec"
	"strconv"
	"strings"
	"sync"
	"syscall"
	"testing"

	"github.com/callwright/callwright/internal/await"
	"github.com/callwright/callwright/internal/guard"
)

// Process is a program that Start has started. Its methods are safe for concurrent use.
type Process struct {
	name string
	cmd  *exec.Cmd
	log  log
	dull string        // lines that contain this are not printed; empty prints all
	done chan struct{} // closed when the process has ended
}

// Find returns the path of a program. If it is not installed, the test fails and names the Debian package.
func Find(t testing.TB, program, debianPackage string) string {
	t.Helper()
	path, err := exec.LookPath(program)
	if err != nil {
		t.Fatalf("this test needs the program %s: apt-get install %s", program, debianPackage)
	}
	return path
}

// Start starts a program. At the end of the test, the program and its child processes are killed. If the test has failed, the program's
// output is printed under the given name, without the lines that contain dull, unless dull is empty. The test fails if a Go program panics,
// or detects a data race (GOFLAGS=-race).
func Start(t testing.TB, name string, cmd *exec.Cmd, dull string) *Process {
	t.Helper()
	p := &Process{name: name, cmd: cmd, dull: dull, done: make(chan struct{})}
	cmd.Stdout, cmd.Stderr = &p.log, &p.log
	cmd.SysProcAttr = &syscall.SysProcAttr{Setpgid: true}
	if err := cmd.Start(); err != nil {
		t.Fatalf("starting %s: %v", name, err)
	}
	release, err := guard.Start(nil, `kill -s KILL -- "-$1"`, strconv.Itoa(cmd.Process.Pid))
	if err != nil {
		_ = cmd.Process.Kill()
		t.Fatal(err)
	}
	go func() {
		_ = cmd.Wait() // ProcessState contains the exit status
		release()
		close(p.done)
	}()
	t.Cleanup(func() {
		p.Kill()
		for _, sign := range []string{"WARNING: DATA RACE", "panic: ", "fatal error: "} {
			if strings.Contains(p.Log(), sign) {
				t.Errorf("%s printed %q", name, sign)
			}
		}
		if t.Failed() {
			t.Logf("---- %s printed:\n%s\n---- end of %s", name, p.shown(), name)
		}
	})
	return p
}

// PID returns the process id.
func (p *Process) PID() int { return p.cmd.Process.Pid }

// Done returns a channel that is closed when the process has ended.
func (p *Process) Done() <-chan struct{} { return p.done }

// Running reports whether the process has not ended yet.
func (p *Process) Running() bool {
	select {
	case <-p.done:
		return false
	default:
		return true
	}
}

// Terminate sends SIGTERM to the process and does not wait.
func (p *Process) Terminate(t testing.TB) {
	t.Helper()
	if err := p.cmd.Process.Signal(syscall.SIGTERM); err != nil {
		t.Fatalf("stopping %s: %v", p.name, err)
	}
}

// Kill kills the process and its children with SIGKILL, and waits until the process has ended. It does nothing if the process has ended
// before.
func (p *Process) Kill() {
	if p.Running() {
		_ = syscall.Kill(-p.PID(), syscall.SIGKILL)
	}
	<-p.done
}

// ExitCode waits until the process has ended by itself, and returns its exit code, or -1 if a signal ended it.
func (p *Process) ExitCode(t testing.TB) int {
	t.Helper()
	await.That(t, "the end of "+p.name, func() bool { return !p.Running() })
	return p.cmd.ProcessState.ExitCode()
}

// Log returns the complete output of the process so far.
func (p *Process) Log() string { return p.log.String() }

// log is a buffer that is safe for concurrent use.
type log struct {
	mu     sync.Mutex
	buffer bytes.Buffer
}

var _ io.Writer = (*log)(nil)

// Write appends b to the buffer.
func (l *log) Write(b []byte) (int, error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.buffer.Write(b)
}

// String returns the content of the buffer.
func (l *log) String() string {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.buffer.String()
}

// shown returns the last 24 KiB of the output, without the lines that contain dull.
func (p *Process) shown() string {
	const most = 24 << 10
	var shown strings.Builder
	for line := range strings.Lines(p.Log()) {
		if p.dull == "" || !strings.Contains(line, p.dull) {
			shown.WriteString(line)
		}
	}
	if text := shown.String(); len(text) > most {
		return "...\n" + text[len(text)-most:]
	}
	return shown.String()
}
