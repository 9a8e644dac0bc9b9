// Package guard cleans up after a test process, regardless of how the process ends. A separate process holds the reading end of a pipe, and
// runs its script when the writing end is closed.
package guard

import (
	"fmt"
	"os"
	"os/exec"
	"sync"
	"syscall"
)

// pipes holds the writing ends until this process ends or their guards are released. Otherwise the garbage collector would close them.
var pipes sync.Map

// Start starts a guard that runs a shell script when this process has ended: by a return, a panic, or a signal that cannot be caught. The
// script receives args as $1, $2 and so on. It runs in the folder / under the given account, or under the current account if none is given.
// Its output is discarded, because go test waits for all processes that hold its output open. release stops the guard without running the
// script. It need not be called.
func Start(as *syscall.Credential, script string, args ...string) (release func(), err error) {
	reading, writing, err := os.Pipe()
	if err != nil {
		return nil, fmt.Errorf("start the process that cleans up: %w", err)
	}
	defer reading.Close()
	args = append([]string{"-c", "read -r _; " + script, "guard"}, args...)
	cmd := exec.Command("/bin/sh", args...) //nolint:noctx // it outlives every context: it waits for our end
	cmd.Dir, cmd.Stdin = "/", reading
	// The guard has its own session, so that Ctrl-C in the terminal ends the tests but not the guard.
	cmd.SysProcAttr = &syscall.SysProcAttr{Setsid: true, Credential: as}
	if err := cmd.Start(); err != nil {
		writing.Close()
		return nil, fmt.Errorf("start the process that cleans up: %w", err)
	}
	pipes.Store(writing, nil)
	return sync.OnceFunc(func() {
		_ = cmd.Process.Kill() // before the pipe is closed, because closing it would start the script
		_ = cmd.Wait()
		pipes.Delete(writing)
		writing.Close()
	}), nil
}
