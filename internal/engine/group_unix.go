//go:build unix

package engine

import (
	"os/exec"
	"syscall"
)

// inGroup makes a program run in its own process group, which is killed as a whole: a synthesizer that is a script leaves nothing
// behind.
func inGroup(cmd *exec.Cmd) {
	cmd.SysProcAttr = &syscall.SysProcAttr{Setpgid: true}
	cmd.Cancel = func() error { return syscall.Kill(-cmd.Process.Pid, syscall.SIGKILL) }
}
