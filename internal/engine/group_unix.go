//go:build unix

package engine

import (
	"os/exec"
	"syscall"
)

// inGroup makes a program run in its own process group, which is killed as a whole. So a synthesizer that is a script leaves no child
// process behind.
func inGroup(cmd *exec.Cmd) {
	cmd.SysProcAttr = &syscall.SysProcAttr{Setpgid: true}
	cmd.Cancel = func() error { return syscall.Kill(-cmd.Process.Pid, syscall.SIGKILL) }
}
