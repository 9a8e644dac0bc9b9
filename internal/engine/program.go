// Package engine is the common code of the adapters of speech engines. It checks texts to speak, streams audio that
// is made in the background, and buffers received audio until it is recognized. For engines that are programs of this
// machine it finds them, limits the concurrent runs, and kills them when their context ends.
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

// maxOutput bounds the output of a program, in bytes: half an hour of 16-bit audio at 16 kHz.
const maxOutput = 64 << 20

// maxComplaint bounds the stored part of its error output, in bytes.
const maxComplaint = 2 << 10

// Program is a program that was found on this machine.
type Program struct {
	path  string
	slots chan struct{}
}

// Find looks for a program: at the given path, or if that is empty under the given names on the PATH. parallel is the maximum
// number of concurrent processes; 0: twice the number of processors. A missing program is CodeUnavailable, and the message names
// the package to install.
func Find(path string, names []string, install string, parallel int) (*Program, error) {
	if path != "" {
		names = []string{path}
	}
	if parallel <= 0 {
		parallel = 2 * runtime.GOMAXPROCS(0)
	}
	for _, name := range names {
		if found, err := exec.LookPath(name); err == nil {
			return &Program{path: found, slots: make(chan struct{}, parallel)}, nil
		}
	}
	return nil, callwright.Errorf(callwright.CodeUnavailable, "the program %s is not installed: %s",
		strings.Join(names, " or "), install)
}

// Path returns the path of the program.
func (p *Program) Path() string { return p.path }

// Run runs the program in a folder, waits for its turn and its end, and returns its output. There is no shell: the
// arguments arrive as they are. The environment holds only the variables that every program needs, and no secret. The end of ctx kills the
// program with its children; the error is then ctx.Err(). When the program fails by itself, the error is CodeUnavailable with its own words as
// the cause, and Run also returns the output so far.
func (p *Program) Run(ctx context.Context, dir string, args ...string) ([]byte, error) {
	select {
	case p.slots <- struct{}{}:
		defer func() { <-p.slots }()
	case <-ctx.Done():
		return nil, ctx.Err()
	}
	if err := ctx.Err(); err != nil {
		return nil, err
	}
	printed, complaint := &bounded{limit: maxOutput}, &bounded{limit: maxComplaint}
	cmd := exec.CommandContext(ctx, p.path, args...)
	cmd.Dir = dir
	cmd.Env = environment(os.LookupEnv)
	cmd.Stdout, cmd.Stderr = printed, complaint
	cmd.WaitDelay = time.Second // for a child of it that has left the group and keeps the pipes open
	inGroup(cmd)
	err := cmd.Run()
	switch {
	case ctx.Err() != nil:
		return nil, ctx.Err()
	case err != nil:
		cause := fmt.Errorf("%s: %w: %s", p.path, err, bytes.TrimSpace(complaint.kept.Bytes()))
		return printed.kept.Bytes(), (&callwright.Error{Code: callwright.CodeUnavailable, Message: "the speech engine failed"}).Because(cause)
	case printed.over:
		return nil, callwright.Errorf(callwright.CodeUnavailable, "the speech engine printed over %d bytes", maxOutput)
	}
	return printed.kept.Bytes(), nil
}

// ReadFile returns the contents of a file that a program has written to a Scratch folder. Anything but a file, which could keep its reader
// waiting, and a file of more bytes than a program may print, are errors.
func ReadFile(path string) ([]byte, error) {
	info, err := os.Lstat(path)
	switch {
	case err != nil:
		return nil, err
	case !info.Mode().IsRegular():
		return nil, fmt.Errorf("%s is no file: %s", path, info.Mode())
	case info.Size() > maxOutput:
		return nil, fmt.Errorf("%s has over %d bytes", path, maxOutput)
	}
	return os.ReadFile(path)
}

// passed are the variables that a program gets of ours: where it finds programs, libraries, voices and a folder for temporary
// files, and the encoding of text. None holds a secret.
var passed = []string{
	"PATH", "HOME", "TMPDIR", "LANG", "LC_ALL", "LC_CTYPE", "LD_LIBRARY_PATH", "DYLD_LIBRARY_PATH", "ESPEAK_DATA_PATH", "SystemRoot",
}

// environment returns the environment of a program: never all of ours, which contains the keys of the process.
func environment(lookup func(string) (string, bool)) []string {
	env := []string{} // nil would be all of ours
	for _, name := range passed {
		if value, ok := lookup(name); ok {
			env = append(env, name+"="+value)
		}
	}
	return env
}

// bounded keeps the first bytes that are written to it. The buffer is no embedded one: its ReadFrom would know no
// limit.
type bounded struct {
	kept  bytes.Buffer
	limit int
	over  bool
}

// Write never fails, so that the program is not blocked.
func (b *bounded) Write(p []byte) (int, error) {
	room := min(len(p), b.limit-b.kept.Len())
	b.over = b.over || room < len(p)
	_, _ = b.kept.Write(p[:room])
	return len(p), nil
}

// Scratch runs a function with a folder of its own, which only this user can read and which is gone afterwards.
func Scratch(name string, use func(dir string) error) error {
	dir, err := os.MkdirTemp("", name+"-*")
	if err != nil {
		return (&callwright.Error{Code: callwright.CodeUnavailable, Message: "no temporary folder for the speech engine"}).Because(err)
	}
	defer func() { _ = os.RemoveAll(dir) }() // a remaining file does no harm
	return use(dir)
}
