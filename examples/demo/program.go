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
	c := exec.Command("go", args...) //nolint:noctx // takes what it takes
	c.Stdout, c.Stderr = os.Stderr, os.Stderr
	if err := c.Run(); err != nil {
		return fmt.Errorf("building %s: %w", strings.Join(names, " and "), err)
	}
	return nil
}

// program is a running program, whose output is read line by line.
type program struct {
	name  string
	cmd   *exec.Cmd
	lines chan string
}

// stopTimeout is how long a program may take to end once it is asked to.
const stopTimeout = 10 * time.Second

// start starts a program. What it logs goes into a file beside it.
func start(ctx context.Context, path string, args ...string) (*program, error) {
	p := &program{name: filepath.Base(path), cmd: exec.CommandContext(ctx, path, args...), lines: make(chan string, 100)}
	log, err := os.Create(path + ".log")
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
			default: // nobody reads any more
			}
		}
	}()
	return p, nil
}

// line waits for a line that begins so, and gives the rest of it.
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

// stop asks the program to end, and waits until it has.
func (p *program) stop() {
	_ = p.cmd.Process.Signal(syscall.SIGTERM)
	done := time.AfterFunc(stopTimeout, func() { _ = p.cmd.Process.Kill() })
	defer done.Stop()
	_ = p.cmd.Wait()
}
