package cli

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"github.com/callwright/callwright"
	"github.com/callwright/callwright/porting"
	"github.com/callwright/callwright/porting/manual"
)

// Ports provides the stores and services of a deployment for the operators' commands. The server of the deployment may be running.
type Ports struct {
	Manual    *manual.Gateway
	Requests  porting.Store
	Atomic    callwright.Atomic
	Documents PortDocuments
	Letters   PortLetters
	Signer    PortSigner
	Withdraw  PortWithdrawer
	Close     func() error
}

// portsCommands creates the commands of the manual gateway.
type portsCommands struct {
	deploymentFlags

	open func(context.Context, Deployment) (*Ports, error)
}

func portsCommand(c Config, env func(string) string) *cobra.Command {
	p := &portsCommands{open: c.Ports, deploymentFlags: deploymentFlags{env: env}}
	cmd := group(&cobra.Command{
		Use:   "ports",
		Short: "Follow port requests, and work on the orders of the manual gateway",
		Long: "Customers check numbers and follow their port requests through the API.\n\n" +
			"Operators list the port orders that wait for a person, see what a carrier's form asks for, and enter what the carrier says.\n" +
			"These commands work on the database of a deployment, also while its server runs, which passes changes on within a minute or\n" +
			"two.\n\n" +
			howDeployed +
			"Exit codes of operators' commands: 0 done; 1 refused, because the order is absent or its state does not allow the change; 2 nothing was done.",
		Example: "  callwright ports check +14155550100\n" +
			"  callwright ports requests --status in_progress\n" +
			"  callwright ports list --open\n" +
			"  callwright ports show man-5f0c2b7d9e4a8c136b01 --secrets\n" +
			"  callwright ports accept man-5f0c2b7d9e4a8c136b01\n" +
			"  callwright ports confirm man-5f0c2b7d9e4a8c136b01 --foc 2026-12-09T16:00:00Z\n" +
			"  callwright ports port man-5f0c2b7d9e4a8c136b01",
	})
	cmd.AddGroup(&cobra.Group{ID: groupRequests, Title: "Requests of your organization (through the API):"},
		&cobra.Group{ID: groupOrders, Title: "Orders, for operators (in the database of a deployment):"})
	for _, o := range portOperations {
		below := o.command(c, env)
		below.GroupID = groupRequests
		cmd.AddCommand(below)
	}
	p.addOperators(cmd)
	return cmd
}

// addOperators adds the commands that work on the database of a deployment.
func (p *portsCommands) addOperators(cmd *cobra.Command) {
	of := []*cobra.Command{
		p.listCommand(), p.showCommand(), p.codesCommand(), p.refuseCancelCommand(), p.verifyCommand(), p.documentsCommand(), p.signCommand(),
		p.findCommand(), p.withdrawCommand(),
	}
	for _, m := range moves {
		of = append(of, p.moveCommand(m))
	}
	for _, below := range of {
		below.GroupID = groupOrders
		p.add(below)
	}
	cmd.AddCommand(of...)
}

// with opens the deployment that the flags and the environment name, and runs a command on it.
func (p *portsCommands) with(ctx context.Context, do func(*Ports) error) error {
	if p.open == nil {
		return usage(errors.New("this program was built without access to databases (cli.Config.Ports): use the program callwright"))
	}
	ports, err := p.open(ctx, p.deployment())
	if err != nil {
		return usage(err)
	}
	return refusal(errors.Join(do(ports), ports.Close()))
}

// orderJSON is the form in which the commands print an order.
type orderJSON struct {
	Ref           string       `json:"ref"`
	Request       string       `json:"port_request_id,omitempty"`
	Org           string       `json:"organization_id,omitempty"`
	Status        string       `json:"status,omitempty"` // state of the port request
	Numbers       []numberJSON `json:"phone_numbers"`
	CreatedAt     time.Time    `json:"created_at"`
	UpdatedAt     time.Time    `json:"updated_at"`
	CancelAskedAt *time.Time   `json:"cancel_asked_at,omitempty"`
	CancelRefused bool         `json:"cancel_refused,omitempty"`
}

type numberJSON struct {
	Number   string     `json:"number"`
	State    string     `json:"status"`
	FOC      *time.Time `json:"foc,omitempty"`
	PortedAt *time.Time `json:"ported_at,omitempty"`
	Failure  string     `json:"failure,omitempty"`
	Words    string     `json:"carrier_words,omitempty"`
	HasPIN   bool       `json:"has_pin,omitempty"`
	PIN      string     `json:"pin,omitempty"`
}

// order returns an order in the form in which the commands print it, with the data of the port request that has the order's reference. If
// no request has the reference yet, these data are empty.
func (p *Ports) order(ctx context.Context, o manual.Order) (orderJSON, error) {
	out := orderJSON{
		Ref: o.Ref, CreatedAt: o.CreatedAt, UpdatedAt: o.UpdatedAt, CancelAskedAt: set(o.CancelAskedAt), CancelRefused: o.CancelRefused,
		Numbers: []numberJSON{},
	}
	for _, n := range o.Numbers {
		one := numberJSON{Number: string(n.Number), State: string(n.State), FOC: set(n.FOC), PortedAt: set(n.PortedAt)}
		if n.Failure != nil {
			one.Failure, one.Words = string(n.Failure.Code), n.Failure.Raw
		}
		_, one.HasPIN = o.Submission.PINs[n.Number]
		out.Numbers = append(out.Numbers, one)
	}
	r, err := p.Requests.RequestByRef(ctx, manual.Name, o.Ref)
	if errors.Is(err, callwright.ErrNotFound) { // the server has not stored the reference yet
		return out, nil
	}
	out.Request, out.Org, out.Status = r.ID, string(r.Org), string(r.State)
	return out, err
}

// set returns a time, or nil for the zero time.
func set(t time.Time) *time.Time {
	if t.IsZero() {
		return nil
	}
	return &t
}

// stamp returns a time in the format that the commands print: RFC 3339, in UTC.
func stamp(t time.Time) string { return t.UTC().Format(time.RFC3339) }

// count returns text that states how many phone numbers are in each state, in the order of the states, and whether a number is held up.
func (o orderJSON) count() string {
	var parts []string
	for _, state := range porting.NumberStates() {
		n := 0
		for _, one := range o.Numbers {
			if one.State == string(state) {
				n++
			}
		}
		if n > 0 {
			parts = append(parts, fmt.Sprintf("%d %s", n, state))
		}
	}
	if slices.ContainsFunc(o.Numbers, func(n numberJSON) bool { return n.Failure != "" && n.State != string(porting.NumberRejected) }) {
		parts = append(parts, "held up")
	}
	return strings.Join(parts, ", ")
}

// cancelWish returns when the customer asked to cancel, or "refused" if the cancellation was refused, or an empty text if the customer did
// not ask.
func (o orderJSON) cancelWish() string {
	switch {
	case o.CancelAskedAt == nil:
		return ""
	case o.CancelRefused:
		return "refused"
	}
	return "asked " + stamp(*o.CancelAskedAt)
}
