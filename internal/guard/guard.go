// Package guard cleans up after a test process, however that ends: a process of its own holds the reading end of a pipe
// and does its work when the writing end is gone.
package guard

import (
	"fmt"
	"os"
	"os/exec"
	"sync"
	"syscall"
)

// pipes keeps the writing ends open for as long as this process lives, or until a guard is released. Without it the
// garbage collector would close them.
var pipes sync.Map

// Start makes a guard that runs a shell script when this process has ended, be it by a return, a panic or a signal that
// cannot be caught. The script sees args as $1, $2 and so on, and runs in / as the given account (nil: this one). Its
// output is dropped: go test waits for all processes that hold its output open. release calls the guard off. To keep
// the guard, do not call it.
func Start(as *syscall.Credential, script string, args ...string) (release func(), err error) {
	reading, writing, err := os.Pipe()
	if err != nil {
		return nil, fmt.Errorf("start the process that cleans up: %w", err)
	}
	defer reading.Close()
	args = append([]string{"-c", "read -r _; " + script, "guard"}, args...)
	cmd := exec.Command("/bin/sh", args...) //nolint:noctx // it outlives every context: it waits for our end
	cmd.Dir, cmd.Stdin = "/", reading
	// A session of its own: Ctrl-C in the terminal ends the tests, but not the guard.
	cmd.SysProcAttr = &syscall.SysProcAttr{Setsid: true, Credential: as}
	if err := cmd.Start(); err != nil {
		writing.Close()
		return nil, fmt.Errorf("start the process that cleans up: %w", err)
	}
	pipes.Store(writing, nil)
	return sync.OnceFunc(func() {
		_ = cmd.Process.Kill() // before the pipe is closed, which would set it off
		_ = cmd.Wait()
		pipes.Delete(writing)
		writing.Close()
	}), nil
}
