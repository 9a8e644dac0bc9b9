package cli

import (
	"context"
	"errors"
	"fmt"
	"os"
	"strings"
	"text/tabwriter"

	"github.com/spf13/cobra"

	"github.com/callwright/callwright"
)

// brainSecretVariable is the environment variable that contains the secret with which requests to a brain are signed. The secret cannot be a
// flag, because other users can read command lines.
const brainSecretVariable = "CALLWRIGHT_BRAIN_SECRET"

// BrainService is a service that implements a brain.
type BrainService struct {
	URL    string
	Secret callwright.Secret // signs the requests; if empty, a random secret does, and signatures are not checked
}

// BrainDuty is the result of one duty of a BrainService.
type BrainDuty struct {
	Name   string `json:"name"`
	Result string `json:"result"` // holds, broken or unchecked
	Detail string `json:"detail,omitempty"`
}

func brainCommand(c Config, env func(string) string) *cobra.Command {
	cmd := group(&cobra.Command{
		Use: "brain", Short: "Check services that lead conversations",
		Example: "  callwright brain check https://brain.example.com/turns",
	})
	cmd.AddCommand(brainCheckCommand(c, env))
	return cmd
}

func brainCheckCommand(c Config, env func(string) string) *cobra.Command {
	var file string
	cmd := &cobra.Command{
		Use: "check URL", Short: "Check a service that leads conversations, duty by duty", Args: exactly(1, "the URL of the service"),
		Long: "Holds conversations with a service that implements a brain, without a server and a telephone, and prints which of the\n" +
			"duties in docs/brains.md hold. The requests are signed with the secret of " + brainSecretVariable + " or --secret-file.\n\n" +
			"Exit codes: 0 no duty is broken; 1 a duty is broken.",
		Example:           "  callwright brain check http://127.0.0.1:8000/\n  callwright brain check https://brain.example.com/turns --secret-file secret",
		ValidArgsFunction: cobra.NoFileCompletions,
		RunE: func(cmd *cobra.Command, args []string) error {
			if c.CheckBrain == nil {
				return refused(errors.New("this program cannot check brains"))
			}
			secret, err := brainSecret(env, file)
			if err != nil {
				return err
			}
			duties, err := c.CheckBrain(cmd.Context(), BrainService{args[0], secret})
			if err != nil {
				return err
			}
			return showDuties(cmd, duties, secret != "")
		},
	}
	cmd.Flags().StringVar(&file, "secret-file", "", "a `file` with the organization's webhook secret")
	return cmd
}

// brainSecret returns the secret in a file, or else in the environment.
func brainSecret(env func(string) string, file string) (callwright.Secret, error) {
	if file == "" {
		return callwright.Secret(strings.TrimSpace(env(brainSecretVariable))), nil
	}
	text, err := os.ReadFile(file)
	if err != nil {
		return "", usage(fmt.Errorf("--secret-file: %w", err))
	}
	return callwright.Secret(strings.TrimSpace(string(text))), nil
}

// showDuties prints the results, and returns an error if a duty is broken. signed is whether the check knows the service's secret.
func showDuties(cmd *cobra.Command, duties []BrainDuty, signed bool) error {
	broken := 0
	for _, d := range duties {
		if d.Result == "broken" {
			broken++
		}
	}
	out := struct {
		Duties []BrainDuty `json:"duties"`
	}{duties}
	err := show(cmd, out, func(w *tabwriter.Writer) {
		for _, d := range duties {
			printf(w, "%s\t%s\t%s\n", d.Result, d.Name, d.Detail)
		}
	})
	if err == nil && broken > 0 {
		hint := ""
		if !signed {
			hint = ": a service that checks signatures needs its secret, see --secret-file"
		}
		err = refused(fmt.Errorf("%d of %d duties are broken%s", broken, len(duties), hint))
	}
	return err
}

// CheckBrainFunc checks a service that implements a brain, and returns the result of every duty.
type CheckBrainFunc func(context.Context, BrainService) ([]BrainDuty, error)
