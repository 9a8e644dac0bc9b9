//go:build unix

package engine

import (
	"os/exec"
	"syscall"
)

// inGroup has a program run in a process group of its own, which is killed as a whole: a synthesizer that is a script leaves nothing
// behind.
func inGroup(cmd *exec.Cmd) {
	cmd.SysProcAttr = &syscall.SysProcAttr{Setpgid: true}
	cmd.Cancel = func() error { return syscall.Kill(-cmd.Process.Pid, syscall.SIGKILL) }
}
