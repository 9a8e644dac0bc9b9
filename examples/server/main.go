// Command server is the reference server. It runs package platform, with every domain behind the /v1 API, and configures it by flags. The
// database, telephony and speech engines are on this machine by default.
package main

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"os"
	"os/signal"
	"syscall"
	_ "time/tzdata" // time zones of browsers, on systems without zone data

	"github.com/callwright/callwright/platform"
)

func main() { os.Exit(run()) }

func run() int {
	c, err := parse(os.Args[1:], os.Environ())
	if errors.Is(err, flag.ErrHelp) {
		return 0
	}
	if err == nil && c.check {
		works, err := checkEngines(context.Background(), c.to, os.Stdout)
		switch {
		case err != nil:
			fmt.Fprintln(os.Stderr, "server:", err)
			return 2
		case !works:
			return 1
		}
		return 0
	}
	var p *platform.Platform
	if err == nil {
		c.to.Ready = announce
		p, err = platform.New(c.to)
	}
	if err != nil {
		fmt.Fprintln(os.Stderr, "server:", err)
		return 2
	}
	hung := make(chan os.Signal, 1)
	signal.Notify(hung, syscall.SIGHUP) // registered first, so that a hang-up never ends the program
	stopped, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	defer stop()
	context.AfterFunc(stopped, func() { signal.Reset(os.Interrupt, syscall.SIGTERM) }) // a second signal ends the program immediately
	if err := serve(stopped, p, hung); err != nil {
		fmt.Fprintln(os.Stderr, "server:", err)
		return 1
	}
	return 0
}

// serve runs the platform until ctx ends or the platform fails. At each SIGHUP it reloads the certificates and the log level.
func serve(ctx context.Context, p *platform.Platform, hung <-chan os.Signal) error {
	if err := p.Start(ctx); err != nil {
		return err
	}
	for {
		select {
		case <-hung:
			p.Reload(ctx)
		case <-ctx.Done():
			return p.Stop(context.WithoutCancel(ctx))
		case err := <-p.Failed():
			return errors.Join(err, p.Stop(context.WithoutCancel(ctx)))
		}
	}
}

// announce prints the server's URLs and its adapters, with the flags that change the adapters. It prints a new API key only on a terminal.
func announce(i platform.Info) {
	switch {
	case i.NewAPIKey == "":
	case terminal(os.Stdout):
		fmt.Printf("API key of the new organization, shown once and kept in %s:\n  %s\n", i.APIKeyFile, i.NewAPIKey.Reveal())
	default: // more people may read a log than the key file
		fmt.Printf("API key of the new organization: in the file %s\n", i.APIKeyFile)
	}
	fmt.Printf("callwright is ready\n  dashboard  %s (sign in with the API key)\n  API        %s (reference: %s/docs)\n  SIP        %s, trust %s\n",
		i.DashboardURL, i.APIURL, i.APIURL, i.SIPURI, i.CAFile)
	if i.APIKeyFile == "" {
		fmt.Println("  API key    none in this data folder: use one that the database has already")
	}
	for _, part := range i.RunsOn {
		fmt.Printf("  %-10s %s%s\n", part.Name, part.By, inBrackets(part.Hint))
	}
	for _, part := range i.Missing {
		fmt.Printf("  No %s can be made: %s\n", part.Name, part.By)
	}
}

func inBrackets(hint string) string {
	if hint == "" {
		return ""
	}
	return " (" + hint + ")"
}

// terminal reports whether a file is a terminal.
func terminal(f *os.File) bool {
	info, err := f.Stat()
	return err == nil && info.Mode()&os.ModeCharDevice != 0
}
