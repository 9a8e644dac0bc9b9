package cli

import (
	"bytes"
	"fmt"
	"io"
	"strconv"
	"strings"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"
)

// group completes a command that only contains subcommands. Without arguments it prints its help; an unknown subcommand is an error with
// suggestions.
func group(cmd *cobra.Command) *cobra.Command {
	cmd.Args = func(cmd *cobra.Command, args []string) error {
		if len(args) > 0 {
			return usage(unknownCommand(cmd, args[0]))
		}
		return nil
	}
	cmd.RunE = func(cmd *cobra.Command, _ []string) error { return cmd.Help() }
	cmd.SuggestionsMinimumDistance = 2
	return cmd
}

// unknownCommand returns the error for an unknown subcommand of cmd, with similar names.
func unknownCommand(cmd *cobra.Command, name string) error {
	path := strings.TrimPrefix(cmd.CommandPath()+" ", cmd.Root().Name()+" ")
	text := fmt.Sprintf("unknown command %s%s: %s --help lists the commands", path, name, cmd.CommandPath())
	if like := cmd.SuggestionsFor(name); len(like) > 0 {
		text += "\n\nDid you mean this?\n\t" + strings.Join(like, "\n\t")
	}
	return fmt.Errorf("%s", text)
}

// exactly returns a check that requires n arguments. The parameter what describes the arguments in the error.
func exactly(n int, what string) cobra.PositionalArgs {
	return func(_ *cobra.Command, args []string) error {
		if len(args) != n {
			got := strconv.Itoa(len(args)) + " arguments"
			if len(args) == 1 {
				got = "1 argument"
			}
			return usage(fmt.Errorf("the command expects %s, but got %s", what, got))
		}
		return nil
	}
}

// helpJSON is the form in which --json prints the help of a command.
type helpJSON struct {
	Command  string     `json:"command"`
	Usage    string     `json:"usage"`
	Short    string     `json:"short"`
	Long     string     `json:"long,omitempty"`
	Examples string     `json:"examples,omitempty"`
	Flags    []flagJSON `json:"flags"`
	Commands []helpJSON `json:"commands,omitempty"`
}

type flagJSON struct {
	Name      string `json:"name"`
	Shorthand string `json:"shorthand,omitempty"`
	Type      string `json:"type"`
	Default   string `json:"default,omitempty"`
	Usage     string `json:"usage"`
}

// help returns a function that prints the help of a command: as JSON with --json, and otherwise by calling the function forPeople.
func help(forPeople func(*cobra.Command, []string)) func(*cobra.Command, []string) {
	return func(cmd *cobra.Command, args []string) {
		if !asJSON(cmd) {
			forPeople(cmd, args)
			return
		}
		_ = showJSON(cmd.OutOrStdout(), helpOf(cmd)) // the function cannot return an error
	}
}

func helpOf(cmd *cobra.Command) helpJSON {
	h := helpJSON{Command: cmd.CommandPath(), Usage: cmd.UseLine(), Short: cmd.Short, Long: cmd.Long, Examples: cmd.Example, Flags: []flagJSON{}}
	own := cmd.LocalFlags()
	own.VisitAll(func(f *pflag.Flag) {
		if !f.Hidden {
			h.Flags = append(h.Flags, flagJSON{f.Name, f.Shorthand, f.Value.Type(), f.DefValue, f.Usage})
		}
	})
	for _, below := range cmd.Commands() {
		if !below.Hidden {
			h.Commands = append(h.Commands, helpOf(below))
		}
	}
	return h
}

func helpCommand() *cobra.Command {
	return &cobra.Command{
		Use: "help [COMMAND]...", Short: "Show the help of a command",
		ValidArgsFunction: func(cmd *cobra.Command, args []string, _ string) ([]string, cobra.ShellCompDirective) {
			about, rest, err := cmd.Root().Find(args)
			if err != nil || len(rest) > 0 {
				return nil, cobra.ShellCompDirectiveNoFileComp
			}
			var names []string
			for _, below := range about.Commands() {
				if !below.Hidden {
					names = append(names, below.Name()+"\t"+below.Short)
				}
			}
			return names, cobra.ShellCompDirectiveNoFileComp
		},
		RunE: func(cmd *cobra.Command, args []string) error {
			about, rest, err := cmd.Root().Find(args)
			switch {
			case err != nil:
				return usage(err)
			case len(rest) > 0:
				return usage(unknownCommand(about, rest[0]))
			}
			about.InitDefaultHelpFlag()
			return about.Help()
		},
	}
}

// shells maps the names of shells to the functions that write their completion scripts.
var shells = map[string]func(root *cobra.Command, to io.Writer) error{
	"bash":       func(root *cobra.Command, to io.Writer) error { return root.GenBashCompletionV2(to, true) },
	"zsh":        func(root *cobra.Command, to io.Writer) error { return root.GenZshCompletion(to) },
	"fish":       func(root *cobra.Command, to io.Writer) error { return root.GenFishCompletion(to, true) },
	"powershell": func(root *cobra.Command, to io.Writer) error { return root.GenPowerShellCompletionWithDesc(to) },
}

func completionCommand() *cobra.Command {
	return &cobra.Command{
		Use: "completion bash|zsh|fish|powershell", Short: "Print a script that completes commands in a shell",
		Long: "Prints a script that completes commands, flags, and the names of voices, which it asks the server for.\n\n" +
			"  bash        source <(callwright completion bash)                    in ~/.bashrc; needs the package bash-completion\n" +
			"  zsh         source <(callwright completion zsh)                     in ~/.zshrc, after compinit\n" +
			"  fish        callwright completion fish > ~/.config/fish/completions/callwright.fish\n" +
			"  powershell  callwright completion powershell | Out-String | Invoke-Expression",
		ValidArgs: []string{"bash", "zsh", "fish", "powershell"},
		Args:      exactly(1, "the name of a shell: bash, zsh, fish or powershell"),
		RunE: func(cmd *cobra.Command, args []string) error {
			write := shells[args[0]]
			if write == nil {
				return usage(fmt.Errorf("%s: the shell must be bash, zsh, fish or powershell", args[0]))
			}
			var script bytes.Buffer
			if err := write(cmd.Root(), &script); err != nil {
				return err
			}
			if !asJSON(cmd) {
				_, err := cmd.OutOrStdout().Write(script.Bytes())
				return err
			}
			return showJSON(cmd.OutOrStdout(), struct {
				Shell  string `json:"shell"`
				Script string `json:"script"`
			}{args[0], script.String()})
		},
	}
}
