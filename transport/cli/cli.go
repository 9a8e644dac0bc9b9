// Package cli implements the command line of Callwright. The program cmd/callwright connects it to the adapters.
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
	Judge func(llm.Model) assert.Judge          // returns a judge that asks a model; if nil, assertions that need a judge are errors

	// Ports opens the database of a deployment for the commands of the manual gateway. If nil, these commands are refused.
	Ports func(context.Context, Deployment) (*Ports, error)
	// Admin opens the database of a deployment for the admin commands. If nil, these commands are refused.
	Admin func(context.Context, Deployment) (*Admin, error)

	CheckBrain CheckBrainFunc // if nil, callwright brain check is refused

	Stdin    io.Reader             // if nil, the standard input is empty
	Retry    client.Retry          // how requests to the API are retried
	Rand     rand.Source           // selects voices; if nil, randomly seeded
	Terminal func(stream any) bool // reports whether a reader or writer is a terminal; if nil, the system is asked
}

// ModelOptions select a language model.
type ModelOptions struct {
	BaseURL string // of an OpenAI-compatible service; if empty, a stand-in follows rules and scripts
	Model   string // if empty, the service's default
	APIKey  callwright.Secret
}

// The titles of the command groups in the help.
const (
	groupSpeech    = "Speech:"
	groupTelephony = "Telephony:"
	groupTesting   = "Testing:"
	groupOperators = "Operators:"
)

// NewRoot returns the tree of commands. env returns the value of an environment variable. Every command accepts the flags of the root: see
// addRootFlags. A new command requires a row in cmd/callwright/tree_test.go, which runs all commands.
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
	add(groupTesting, pathwaysCommand(c, env), testCommand(c, env), scenariosCommand(c, env), brainCommand(c, env), issuesCommand(c, env))
	add(groupOperators, adminCommand(c, env))
	root.AddCommand(completionCommand())
	root.SetHelpCommand(helpCommand())
	root.SetHelpFunc(help(root.HelpFunc()))
	root.SetFlagErrorFunc(flagError)
	return root
}

// Run runs a command and returns its exit code: see ExitDone. It writes results to stdout and messages to stderr. env returns the value of
// an environment variable.
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

// nothing is the standard input if Config.Stdin is nil.
type nothing struct{}

func (nothing) Read([]byte) (int, error) { return 0, io.EOF }
