package cli

import (
	"context"
	"errors"
	"text/tabwriter"

	"github.com/spf13/cobra"

	"github.com/callwright/callwright"
	"github.com/callwright/callwright/porting"
)

// PortWithdrawer cancels port requests for the operator; porting.Service implements it.
type PortWithdrawer interface {
	// Withdraw cancels a port request, or asks the carrier to cancel it: see porting.PlanCancel. It returns CodeInvalidState if the request
	// can no longer be canceled, and CodeNotFound if the request is absent.
	Withdraw(ctx context.Context, org callwright.OrgID, id, note string) (porting.Request, error)
}

// foundJSON is the form in which the commands print a port request.
type foundJSON struct {
	Number        string `json:"number,omitempty"`
	Org           string `json:"organization_id"`
	Request       string `json:"port_request_id"`
	Status        string `json:"status"`
	CancelAskedAt string `json:"cancel_asked_at,omitempty"`
}

func foundOf(r porting.Request) foundJSON {
	f := foundJSON{Org: string(r.Org), Request: r.ID, Status: string(r.State)}
	if !r.State.Ended() && !r.CancelAskedAt.IsZero() {
		f.CancelAskedAt = stamp(r.CancelAskedAt)
	}
	return f
}

// text writes a port request as text, without empty fields.
func (f foundJSON) text(w *tabwriter.Writer) {
	for _, line := range [][2]string{
		{"Number", f.Number}, {"Organization", f.Org}, {"Request", f.Request}, {"Status", f.Status}, {"Cancellation asked", f.CancelAskedAt},
	} {
		if line[1] != "" {
			printf(w, "%s\t%s\n", line[0], line[1])
		}
	}
}

func (p *portsCommands) findCommand() *cobra.Command {
	return &cobra.Command{
		Use: "find NUMBER", Short: "Name the request that has taken a number, of any organization",
		Long: "Names the request that has not ended with a number, and its organization. A number is taken from the request on, before the letter\n" +
			"is signed; callwright ports withdraw ends a request that should not be.",
		Example: "  callwright ports find +14155550100",
		Args:    exactly(1, "a number, such as +14155550100"),
		RunE: func(cmd *cobra.Command, args []string) error {
			number, err := numberArgument(args[0])
			if err != nil {
				return err
			}
			return p.with(cmd.Context(), func(ports *Ports) error { return p.find(cmd, ports, number) })
		},
	}
}

// find prints the port request that contains a number and has not ended. It returns CodeNotFound if there is none.
func (p *portsCommands) find(cmd *cobra.Command, ports *Ports, number callwright.PhoneNumber) error {
	name, err := ports.Requests.OpenRequest(cmd.Context(), number)
	if errors.Is(err, callwright.ErrNotFound) {
		return callwright.Errorf(callwright.CodeNotFound, "no open port request contains %s", number)
	}
	if err != nil {
		return err
	}
	r, err := ports.Requests.Request(cmd.Context(), name.Org, name.ID)
	if err != nil {
		return err
	}
	found := foundOf(r)
	found.Number = string(number)
	return show(cmd, found, found.text)
}

func (p *portsCommands) withdrawCommand() *cobra.Command {
	return p.onRequest("why the request is ended", p.withdraw, &cobra.Command{
		Use: "withdraw REQUEST", Short: "End a request of any organization that should not be",
		Long: "Cancels a request as its organization can: at once while no carrier has it, and otherwise the carrier is asked. The history of the\n" +
			"request, which its organization sees, names the operator and keeps the note. callwright ports find names the request of a number.",
		Example: `  callwright ports withdraw port_0197f2a4c0007a1c8d2e5f3a1c9b7d20 --org ORG --note "the number is another customer's"`,
	})
}

// withdraw cancels a port request, or asks the carrier to cancel it, and prints the request.
func (p *portsCommands) withdraw(cmd *cobra.Command, ports *Ports, org callwright.OrgID, request, note string) error {
	r, err := ports.Withdraw.Withdraw(cmd.Context(), org, request, note)
	if err != nil {
		return err
	}
	return show(cmd, foundOf(r), foundOf(r).text)
}
