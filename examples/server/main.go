// Command server is the reference server: every domain behind the /v1 API, on this machine's own database, telephone
// and speech engines. It is wiring and nothing else; read app.go for what is joined to what.
package main

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"io/fs"
	"os"
	"os/signal"
	"syscall"
	"time"

	"go.uber.org/dig"
	"go.uber.org/fx"
)

// stopTimeout is what stopping may take beyond the calls that are still running.
const stopTimeout = 30 * time.Second

func main() { os.Exit(run()) }

func run() int {
	c, err := parse(os.Args[1:], os.Environ())
	if errors.Is(err, flag.ErrHelp) {
		return 0
	}
	if err != nil {
		fmt.Fprintln(os.Stderr, "server:", err)
		return 2
	}
	held, err := takeFolder(c)
	if err != nil {
		fmt.Fprintln(os.Stderr, "server:", err)
		return 1
	}
	defer held.Close()
	hung := make(chan os.Signal, 1)
	signal.Notify(hung, syscall.SIGHUP) // before anything runs: a hang-up never ends the program
	stopped, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	defer stop()
	app := fx.New(fx.Supply(c, starting{stopped}, hangups(hung)), modules(), fx.NopLogger, fx.StopTimeout(c.ShutdownDelay+c.DrainTimeout+stopTimeout))
	if err := app.Start(stopped); err != nil {
		fmt.Fprintln(os.Stderr, "server:", dig.RootCause(err)) // without the way that the wiring took to it
		return 1
	}
	code := 0
	select {
	case <-stopped.Done():
	case failed := <-app.Wait(): // a part of the server has ended for good
		code = failed.ExitCode
	}
	signal.Reset(os.Interrupt, syscall.SIGTERM) // a second signal ends the program at once: fx, too, has asked for them
	ctx, cancel := context.WithTimeout(context.Background(), app.StopTimeout())
	defer cancel()
	if err := app.Stop(ctx); err != nil {
		fmt.Fprintln(os.Stderr, "server: stopping:", err)
		return 1
	}
	return code
}

// takeFolder makes the data folder, takes it for this server alone, and removes what tells of a server that was killed there.
func takeFolder(c config) (locked, error) {
	if err := os.MkdirAll(c.Data, 0o700); err != nil {
		return nil, fmt.Errorf("--data %s: %w: name a folder that this user may make and write", c.Data, err)
	}
	held, err := lock(c)
	if err != nil {
		return nil, err
	}
	err = checkWritable(c.Data)
	if err == nil {
		err = checkKeyFiles(c)
	}
	if err == nil {
		err = checkLost(c)
	}
	if stale := os.Remove(serverFilePath(c)); err == nil && !errors.Is(stale, fs.ErrNotExist) {
		err = stale
	}
	if err != nil {
		return nil, errors.Join(err, held.Close())
	}
	return held, nil
}
