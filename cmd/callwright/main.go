// Command callwright is the command line of Callwright. Run "callwright help" for a list of its commands.
package main

import (
	"context"
	"io"
	"os"
	"os/signal"
	"syscall"

	"github.com/callwright/callwright/adapters/openai"
	"github.com/callwright/callwright/adapters/scripted"
	"github.com/callwright/callwright/agents/llm"
	"github.com/callwright/callwright/agenttest/assert"
	"github.com/callwright/callwright/agenttest/judge"
	"github.com/callwright/callwright/transport/cli"
)

func main() {
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	context.AfterFunc(ctx, stop) // a second signal ends the program immediately
	code := cli.Run(ctx, config(os.Stdin), os.Args[1:], os.Getenv, os.Stdout, os.Stderr)
	stop()
	os.Exit(code)
}

// config passes the adapters to the command line.
func config(stdin io.Reader) cli.Config {
	return cli.Config{Model: model, Judge: judged, Ports: openPorts, Admin: openAdmin, CheckBrain: checkBrain, Stdin: stdin}
}

// model returns the model at o.BaseURL, or a scripted model if the URL is empty.
func model(o cli.ModelOptions) (llm.Model, error) {
	if o.BaseURL == "" {
		return scripted.New(), nil
	}
	return openai.New(openai.Config{BaseURL: o.BaseURL, Model: o.Model, APIKey: o.APIKey})
}

// judged returns a judge that asks the model m.
func judged(m llm.Model) assert.Judge { return judge.New(m, judge.Config{}) }
