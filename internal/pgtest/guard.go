package pgtest

import (
	"fmt"
	"os"
	"os/exec"
	"syscall"
)

// guards keeps the writing ends of the guards' pipes open for as long as the process lives.
var guards []*os.File

// guard runs a shell script when this process has ended, be it by a return, a panic or a signal that cannot be
// caught. The script sees args as $1, $2 and so on, and runs as the given account (nil: this one). Its output is
// dropped: go test waits for everybody who holds its output open.
func guard(as *syscall.Credential, dir, script string, args ...string) error {
	reading, writing, err := os.Pipe()
	if err != nil {
		return err
	}
	defer reading.Close()
	args = append([]string{"-c", "read -r _; " + script, "guard"}, args...)
	cmd := exec.Command("/bin/sh", args...) //nolint:noctx // it outlives every context: it waits for our end
	cmd.Dir = dir
	cmd.Stdin = reading
	// A session of its own: Ctrl-C in the terminal ends the tests, not the one who cleans up after them.
	cmd.SysProcAttr = &syscall.SysProcAttr{Setsid: true, Credential: as}
	if err := cmd.Start(); err != nil {
		writing.Close()
		return fmt.Errorf("start the process that cleans up: %w", err)
	}
	guards = append(guards, writing)
	return nil
}
