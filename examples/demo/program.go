package main

import (
	"bufio"
	"context"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"time"
)

// build compiles example programs into a folder.
func build(folder string, names ...string) error {
	args := []string{"build", "-o", folder + string(filepath.Separator)}
	for _, name := range names {
		args = append(args, "./examples/"+name)
	}
	c := exec.Command("go", args...) //nolint:noctx // a build has no time limit
	c.Stdout, c.Stderr = os.Stderr, os.Stderr
	if err := c.Run(); err != nil {
		return fmt.Errorf("building %s: %w", strings.Join(names, " and "), err)
	}
	return nil
}

// program is a running program. lines receives the lines of its standard output.
type program struct {
	name  string
	log   string // path of the log file
	cmd   *exec.Cmd
	lines chan string
}

// stopTimeout is how long stop waits before it kills the program.
const stopTimeout = 10 * time.Second

// start starts a program. Its standard error goes to a file in the folder of the program, with the given name and the extension .log. The
// program runs in its own process group, so that an interrupt from the keyboard does not reach it: the demo stops it.
func start(ctx context.Context, path, name string, args ...string) (*program, error) {
	p := &program{
		name: name, log: filepath.Join(filepath.Dir(path), name+".log"), cmd: exec.CommandContext(ctx, path, args...), lines: make(chan string, 100),
	}
	p.cmd.SysProcAttr = &syscall.SysProcAttr{Setpgid: true}
	log, err := os.Create(p.log)
	if err != nil {
		return nil, err
	}
	defer log.Close()
	p.cmd.Stderr = log
	p.cmd.Cancel = func() error { return p.cmd.Process.Signal(syscall.SIGTERM) }
	p.cmd.WaitDelay = stopTimeout
	out, err := p.cmd.StdoutPipe()
	if err != nil {
		return nil, err
	}
	if err := p.cmd.Start(); err != nil {
		return nil, err
	}
	go func() {
		defer close(p.lines)
		for scanner := bufio.NewScanner(out); scanner.Scan(); {
			select {
			case p.lines <- scanner.Text():
			default: // the buffer is full, because nothing reads lines any more
			}
		}
	}()
	return p, nil
}

// line waits for a line of output that begins with the given text, and returns the rest of that line.
func (p *program) line(ctx context.Context, start string) (string, error) {
	for {
		select {
		case text, ok := <-p.lines:
			if !ok {
				return "", fmt.Errorf("the %s ended before it said %q", p.name, start)
			}
			if rest, found := strings.CutPrefix(text, start); found {
				return rest, nil
			}
		case <-ctx.Done():
			return "", fmt.Errorf("the %s did not say %q: %w", p.name, start, ctx.Err())
		}
	}
}

// said returns the last 2000 bytes of the program's log.
func (p *program) said() string {
	const most = 2000
	text, err := os.ReadFile(p.log)
	if err != nil {
		return err.Error()
	}
	return string(text[max(0, len(text)-most):])
}

// stop terminates the program and waits until it has ended. After stopTimeout it kills the program.
func (p *program) stop() {
	_ = p.cmd.Process.Signal(syscall.SIGTERM)
	done := time.AfterFunc(stopTimeout, func() { _ = p.cmd.Process.Kill() })
	defer done.Stop()
	_ = p.cmd.Wait()
}
