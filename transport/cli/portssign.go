package cli

import (
	"context"
	"errors"
	"text/tabwriter"

	"github.com/spf13/cobra"

	"github.com/callwright/callwright"
	"github.com/callwright/callwright/porting"
)

// PortSigner submits port requests whose letters were signed on paper; porting.Service implements it.
type PortSigner interface {
	// Sign submits a port request. It returns CodeInvalidState if the request no longer waits for a signature, and CodeNotFound if the
	// request is absent.
	Sign(ctx context.Context, org callwright.OrgID, id string, by porting.Actor, note string) (porting.Request, error)
}

func (p *portsCommands) signCommand() *cobra.Command {
	return p.onRequest("where the signed letter is", p.sign, &cobra.Command{
		Use: "sign REQUEST", Short: "Enter that a letter of authorization was signed on paper",
		Long: "Submits a request whose letter was signed on paper, and ends the link to the letter. The history of the request keeps the note:\n" +
			"write where the paper is.",
		Example: `  callwright ports sign port_0197f2a4c0007a1c8d2e5f3a1c9b7d20 --org ORG --note "signed on paper, folder 12"`,
	})
}

// onRequest completes a command for a port request: it adds the argument and the flags --org and --note, and makes the command call the
// function do. The parameter why describes the required content of the note.
func (p *portsCommands) onRequest(
	why string, do func(cmd *cobra.Command, ports *Ports, org callwright.OrgID, request, note string) error, cmd *cobra.Command,
) *cobra.Command {
	var org, note string
	cmd.Args = exactly(1, "the id of a port request")
	cmd.RunE = func(cmd *cobra.Command, args []string) error {
		switch {
		case org == "":
			return usage(errors.New("--org is required: the id of the organization that has requested the port"))
		case note == "":
			return usage(errors.New("--note is required: " + why))
		}
		if err := checkText("--note", note); err != nil {
			return usage(err)
		}
		return p.with(cmd.Context(), func(ports *Ports) error { return do(cmd, ports, callwright.OrgID(org), args[0], note) })
	}
	cmd.Flags().StringVar(&org, "org", "", "the `id` of the organization (required)")
	cmd.Flags().StringVar(&note, "note", "", "the `text` for the history (required)")
	return cmd
}

// sign records that the letter of a port request was signed on paper, and prints the new state of the request.
func (p *portsCommands) sign(cmd *cobra.Command, ports *Ports, org callwright.OrgID, request, note string) error {
	r, err := ports.Signer.Sign(cmd.Context(), org, request, porting.Operator, note)
	if err != nil {
		return err
	}
	signed := struct {
		Request  string `json:"port_request_id"`
		Status   string `json:"status"`
		SignedAt string `json:"signed_at"`
	}{r.ID, string(r.State), stamp(r.SignedAt)}
	return show(cmd, signed, func(w *tabwriter.Writer) {
		printf(w, "%s\t%s\n", signed.Request, signed.Status)
	})
}
