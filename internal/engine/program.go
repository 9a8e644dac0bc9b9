// Package engine is the common code of the adapters for speech engines. It checks texts to speak, streams audio that is produced in the
// background, and buffers received audio until it is recognized. For engines that are programs on this machine, it finds the programs,
// limits their concurrent runs, and kills them when their context ends.
package engine

import (
	"bytes"
	"context"
	"fmt"
	"os"
	"os/exec"
	"runtime"
	"strings"
	"time"

	"github.com/callwright/callwright"
)

// maxOutput is the maximum output of a program in bytes: half an hour of 16-bit audio at 16 kHz.
const maxOutput = 64 << 20

// maxComplaint limits the stored part of a program's error output, in bytes.
const maxComplaint = 2 << 10

// Program is an installed program with a limit of concurrent runs, which its users share: see For.
type Program struct {
	path    string
	slots   *pool
	user    string
	longest time.Duration // maximum duration of a run; 0 means no limit
}

// Find finds a program at the given path, or, if path is empty, under one of the names on the PATH. parallel limits the concurrent runs; 0
// means twice the number of processors. If the program is missing, Find returns CodeUnavailable. The message contains install, which states
// how to install the program.
func Find(path string, names []string, install string, parallel int) (*Program, error) {
	if path != "" {
		names = []string{path}
	}
	if parallel <= 0 {
		parallel = 2 * runtime.GOMAXPROCS(0)
	}
	for _, name := range names {
		if found, err := exec.LookPath(name); err == nil {
			return &Program{path: found, slots: newPool(parallel)}, nil
		}
	}
	return nil, callwright.Errorf(callwright.CodeUnavailable, "the program %s is not installed: %s",
		strings.Join(names, " or "), install)
}

// For returns the program for a user, such as an organization. The slots are shared with other users: a user without a running program waits
// at most until one run of the others ends. A run that takes longer than longest is killed; 0 means no limit.
func (p *Program) For(user string, longest time.Duration) *Program {
	return &Program{path: p.path, slots: p.slots, user: user, longest: longest}
}

// Path returns the path of the program.
func (p *Program) Path() string { return p.path }

// Run waits for a free slot, runs the program in a folder, and returns its output. It uses no shell, so that the arguments stay unchanged.
// The environment contains only the variables that every program needs, and no secret. When ctx ends, Run kills the program, on Unix with
// its children, and returns ctx.Err(). If the program fails, Run returns the output so far and CodeUnavailable, with the program's error
// output as the cause. A run that exceeds the limit of For also causes CodeUnavailable. If the output exceeds 64 MiB, Run returns only CodeUnavailable.
func (p *Program) Run(ctx context.Context, dir string, args ...string) ([]byte, error) {
	release, err := p.slots.claim(ctx, p.user)
	if err != nil {
		return nil, err
	}
	defer release()
	running := ctx
	if p.longest > 0 {
		var cancel context.CancelFunc
		running, cancel = context.WithTimeout(ctx, p.longest)
		defer cancel()
	}
	printed, complaint := &bounded{limit: maxOutput}, &bounded{limit: maxComplaint}
	cmd := exec.CommandContext(running, p.path, args...)
	cmd.Dir = dir
	cmd.Env = environment(os.LookupEnv)
	cmd.Stdout, cmd.Stderr = printed, complaint
	cmd.WaitDelay = time.Second // in case a child has left the group and keeps the pipes open
	inGroup(cmd)
	err = cmd.Run()
	switch {
	case ctx.Err() != nil:
		return nil, ctx.Err()
	case running.Err() != nil:
		return nil, callwright.Errorf(callwright.CodeUnavailable, "the speech engine did not finish within %s, the limit", p.longest)
	case err != nil:
		cause := fmt.Errorf("%s: %w: %s", p.path, err, bytes.TrimSpace(complaint.kept.Bytes()))
		return printed.kept.Bytes(), (&callwright.Error{Code: callwright.CodeUnavailable, Message: "the speech engine failed"}).Because(cause)
	case printed.over:
		return nil, callwright.Errorf(callwright.CodeUnavailable, "the speech engine printed more than %d bytes, the limit", maxOutput)
	}
	return printed.kept.Bytes(), nil
}

// ReadFile returns the content of a file that a program has written to a Scratch folder. It returns an error for a file of more than 64
// MiB, and for anything but a regular file, because the reader of a pipe or device could block.
func ReadFile(path string) ([]byte, error) {
	info, err := os.Lstat(path)
	switch {
	case err != nil:
		return nil, err
	case !info.Mode().IsRegular():
		return nil, fmt.Errorf("%s must be a regular file, but has the mode %s", path, info.Mode())
	case info.Size() > maxOutput:
		return nil, fmt.Errorf("%s must have at most %d bytes", path, maxOutput)
	}
	return os.ReadFile(path)
}

// passed lists the variables that a program inherits: they locate programs, libraries, voices and temporary files, and set the encoding of
// text. None contains a secret.
var passed = []string{
	"PATH", "HOME", "TMPDIR", "LANG", "LC_ALL", "LC_CTYPE", "LD_LIBRARY_PATH", "DYLD_LIBRARY_PATH", "ESPEAK_DATA_PATH", "SystemRoot",
}

// environment returns the environment of a program. It contains only the passed variables, because the others include the keys of this
// process.
func environment(lookup func(string) (string, bool)) []string {
	env := []string{} // not nil, which would mean the whole environment of this process
	for _, name := range passed {
		if value, ok := lookup(name); ok {
			env = append(env, name+"="+value)
		}
	}
	return env
}

// bounded stores the first limit bytes that are written to it. It does not embed the buffer, because the promoted method ReadFrom would
// ignore the limit.
type bounded struct {
	kept  bytes.Buffer
	limit int
	over  bool
}

// Write stores p up to the limit. It always reports success, so that the program is not blocked.
func (b *bounded) Write(p []byte) (int, error) {
	room := min(len(p), b.limit-b.kept.Len())
	b.over = b.over || room < len(p)
	_, _ = b.kept.Write(p[:room])
	return len(p), nil
}

// Scratch creates a folder that only this user can read, calls the function use with it, and then deletes it. name is part of the folder's
// name. Scratch returns the error of use, or CodeUnavailable if the folder cannot be created.
func Scratch(name string, use func(dir string) error) error {
	dir, err := os.MkdirTemp("", name+"-*")
	if err != nil {
		return (&callwright.Error{Code: callwright.CodeUnavailable, Message: "the temporary folder for the speech engine cannot be created"}).Because(err)
	}
	defer func() { _ = os.RemoveAll(dir) }() // a folder that remains does no harm
	return use(dir)
}
