// Package cli is the command line of Callwright. The program cmd/callwright joins it with the adapters.
package cli

import (
	"context"
	"errors"
	"fmt"
	"io"

	"github.com/spf13/cobra"

	"github.com/callwright/callwright"
	"github.com/callwright/callwright/agents/llm"
	"github.com/callwright/callwright/agenttest/assert"
	"github.com/callwright/callwright/agenttest/report"
)

// Config holds what the commands need.
type Config struct {
	Model func(ModelOptions) (llm.Model, error) // required
	Judge func(llm.Model) assert.Judge          // a judge that asks a model; nil: what needs a judge is an error

	// Ports opens the database of a deployment; nil: the commands of the manual gateway are refused.
	Ports func(context.Context, PortsOptions) (*Ports, error)
}

// ModelOptions choose a language model.
type ModelOptions struct {
	BaseURL string // of a service that is compatible with OpenAI's; empty: a stand-in that follows rules and scripts
	Model   string // empty: the service's default
	APIKey  callwright.Secret
}

// exit is an error with the exit code that it means.
type exit struct {
	code int
	err  error
}

func (e *exit) Error() string { return e.err.Error() }

func (e *exit) Unwrap() error { return e.err }

// Run runs a command and returns its exit code, which is one of package report: report.ExitUsage for a command that could not
// begin. Messages go to stderr, results to stdout. env looks up a variable of the environment.
func Run(ctx context.Context, c Config, args []string, env func(string) string, stdout, stderr io.Writer) int {
	root := &cobra.Command{
		Use: "callwright", Short: "Work with Callwright from the command line", SilenceErrors: true, SilenceUsage: true,
		CompletionOptions: cobra.CompletionOptions{HiddenDefaultCmd: true},
	}
	root.AddCommand(testCommand(c, env), scenariosCommand(env), portsCommand(c, env))
	root.SetArgs(args)
	root.SetOut(stdout)
	root.SetErr(stderr)
	err := root.ExecuteContext(ctx)
	if err == nil {
		return report.ExitPassed
	}
	code := report.ExitUsage
	if e, ok := errors.AsType[*exit](err); ok {
		if code = e.code; e.err == nil {
			return code
		}
	}
	_, _ = fmt.Fprintln(stderr, "callwright:", visible(err.Error(), "\n\t")) // nothing can be told if this fails
	return code
}
