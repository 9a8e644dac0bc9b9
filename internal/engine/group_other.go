//go:build !unix

package engine

import "os/exec"

// inGroup does nothing. On this system, only the program itself is killed.
func inGroup(*exec.Cmd) {}
