// Package process runs the programs that end-to-end tests talk to: it keeps the output of each, ends it when its test
// ends or the test process dies, and shows the output when the test failed.
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

// Process is a program that was started. Its methods may be called from several goroutines.
type Process struct {
	name string
	cmd  *exec.Cmd
	log  log
	dull string        // lines with this are not shown
	done chan struct{} // closed when it has ended
}

// Find returns the path of a program. A missing one fails the test and names the Debian package that has it.
func Find(t testing.TB, program, debianPackage string) string {
	t.Helper()
	path, err := exec.LookPath(program)
	if err != nil {
		t.Fatalf("this test needs the program %s: apt-get install %s", program, debianPackage)
	}
	return path
}

// Start starts a program whose output is kept under a name. It is killed at the end of the test if it still runs then,
// with the processes that it has started. Lines of its output that have dull in them, unless that is empty, are kept
// but not shown. A Go program that panics or, built with the race detector (GOFLAGS=-race), finds a race fails the
// test.
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
		_ = cmd.Wait() // ProcessState contains the result
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

// PID returns the process's id.
func (p *Process) PID() int { return p.cmd.Process.Pid }

// Done is closed when the process has ended.
func (p *Process) Done() <-chan struct{} { return p.done }

// Running reports whether the process still runs.
func (p *Process) Running() bool {
	select {
	case <-p.done:
		return false
	default:
		return true
	}
}

// Terminate asks the process to end (SIGTERM) and does not wait.
func (p *Process) Terminate(t testing.TB) {
	t.Helper()
	if err := p.cmd.Process.Signal(syscall.SIGTERM); err != nil {
		t.Fatalf("stopping %s: %v", p.name, err)
	}
}

// Kill ends the process and its children (SIGKILL), and waits until it is gone. It does nothing to an ended process.
func (p *Process) Kill() {
	if p.Running() {
		_ = syscall.Kill(-p.PID(), syscall.SIGKILL)
	}
	<-p.done
}

// ExitCode waits until the process has ended by itself and gives its exit code, -1 for a signal.
func (p *Process) ExitCode(t testing.TB) int {
	t.Helper()
	await.That(t, "the end of "+p.name, func() bool { return !p.Running() })
	return p.cmd.ProcessState.ExitCode()
}

// Log returns everything that the process has printed so far.
func (p *Process) Log() string { return p.log.String() }

// log stores the bytes that are written to it.
type log struct {
	mu     sync.Mutex
	buffer bytes.Buffer
}

var _ io.Writer = (*log)(nil)

// Write keeps a copy of b.
func (l *log) Write(b []byte) (int, error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.buffer.Write(b)
}

// String returns all that was written.
func (l *log) String() string {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.buffer.String()
}

// shown returns the end of the output, without its dull lines.
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
