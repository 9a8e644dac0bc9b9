// Package cli is the command line of Callwright. The program cmd/callwright joins it with the adapters.
package cli

import (
	"context"
	"io"
	"math/rand/v2"

	"github.com/spf13/cobra"

	"github.com/callwright/callwright"
	"github.com/callwright/callwright/agents/llm"
	"github.com/callwright/callwright/agenttest/assert"
	"github.com/callwright/callwright/transport/client"
)

// Config configures the commands.
type Config struct {
	Model func(ModelOptions) (llm.Model, error) // required
	Judge func(llm.Model) assert.Judge          // a judge that asks a model; nil: assertions that need a judge are errors

	// Ports opens the database of a deployment; nil: the commands of the manual gateway are refused.
	Ports func(context.Context, Deployment) (*Ports, error)
	// Admin opens it for the commands of administration; nil: they are refused.
	Admin func(context.Context, Deployment) (*Admin, error)

	Stdin    io.Reader             // nil: there is nothing to read
	Retry    client.Retry          // of requests to the API
	Rand     rand.Source           // draws voices; nil: one with a random seed
	Terminal func(stream any) bool // reports whether a reader or a writer is a terminal; nil: the system knows
}

// ModelOptions choose a language model.
type ModelOptions struct {
	BaseURL string // of a service that is compatible with OpenAI's; empty: a stand-in that follows rules and scripts
	Model   string // empty: the service's default
	APIKey  callwright.Secret
}

// The groups of commands in the help, by their titles.
const (
	groupSpeech    = "Speech:"
	groupTelephony = "Telephony:"
	groupTesting   = "Testing:"
	groupOperators = "Operators:"
)

// NewRoot returns the tree of commands. Every command takes the flags of the root: see addRootFlags. A new command needs a row in
// cmd/callwright/tree_test.go, which runs all of them.
func NewRoot(c Config, env func(string) string) *cobra.Command {
	root := &cobra.Command{
		Use: "callwright", Short: "Work with Callwright from the command line", SilenceErrors: true, SilenceUsage: true, Version: version(),
		Long: "Works with a Callwright server from the command line, tests agents without one, and looks after a deployment.\n\n" +
			"The key of the API comes from " + apiKeyVariable + ", or from the file that --api-key-file, --server or\n" +
			apiKeyFileVariable + " names; it never stands on the command line.\n\n" + exitCodes,
		CompletionOptions: cobra.CompletionOptions{DisableDefaultCmd: true},
	}
	addRootFlags(root)
	add := func(group string, commands ...*cobra.Command) {
		root.AddGroup(&cobra.Group{ID: group, Title: group})
		for _, cmd := range commands {
			cmd.GroupID = group
		}
		root.AddCommand(commands...)
	}
	add(groupSpeech, speakCommand(c, env), voicesCommand(c, env), voiceCommand(c, env), cloneCommand(c, env), renameCommand(c, env),
		deleteCommand(c, env), samplesCommand(c, env), mcpCommand(c, env))
	add(groupTelephony, callsCommand(c, env), trunksCommand(c, env), portsCommand(c, env), webhooksCommand(c, env))
	add(groupTesting, pathwaysCommand(c, env), testCommand(c, env), scenariosCommand(c, env), issuesCommand(c, env))
	add(groupOperators, adminCommand(c, env))
	root.AddCommand(completionCommand())
	root.SetHelpCommand(helpCommand())
	root.SetHelpFunc(help(root.HelpFunc()))
	root.SetFlagErrorFunc(flagError)
	return root
}

// Run runs a command and returns its exit code: see ExitDone. Messages go to stderr, results to stdout. env looks up a variable of
// the environment.
func Run(ctx context.Context, c Config, args []string, env func(string) string, stdout, stderr io.Writer) int {
	root := NewRoot(c, env)
	root.SetArgs(args)
	if c.Stdin == nil {
		c.Stdin = nothing{}
	}
	root.SetIn(c.Stdin)
	root.SetOut(stdout)
	root.SetErr(stderr)
	cmd, err := root.ExecuteContextC(ctx)
	if err == nil {
		return ExitDone
	}
	f := failureOf(ctx, cmd, err)
	if f.Message != "" {
		f.print(stderr, asJSON(root) || asksJSON(args))
	}
	return f.ExitCode
}

// nothing is an input that has ended.
type nothing struct{}

// Read returns io.EOF.
func (nothing) Read([]byte) (int, error) { return 0, io.EOF }
