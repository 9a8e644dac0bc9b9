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

// The exit codes of callwright ports.
const (
	exitRefused = 1 // the order is absent, or cannot become that
	exitUsage   = 2 // nothing was done
)

// The variables of the environment that name a deployment, as those of the server do.
const (
	dataVariable     = "CALLWRIGHT_DATA"
	databaseVariable = "CALLWRIGHT_DATABASE_URL"
	secretVariable   = "CALLWRIGHT_SECRET_KEY"
)

// PortsOptions name a deployment.
type PortsOptions struct {
	Data        string            // its data folder
	DatabaseURL string            // empty: SQLite in the data folder
	SecretKey   callwright.Secret // its master key; empty: the data folder has it
}

// Ports holds what the operator's commands need: the stores and services of a deployment, whose server may be running.
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

// portsCommands makes the commands of the manual gateway.
type portsCommands struct {
	open func(context.Context, PortsOptions) (*Ports, error)
	env  func(string) string

	options PortsOptions
	asJSON  bool
}

func portsCommand(c Config, env func(string) string) *cobra.Command {
	p := &portsCommands{open: c.Ports, env: env}
	cmd := &cobra.Command{
		Use:   "ports",
		Short: "Work on the port orders of the manual gateway",
		Long: "Lists the port orders that wait for a person, shows what a carrier's form asks for, and enters what the carrier says.\n" +
			"The commands work on the database of a deployment, also while its server runs, which passes changes on within a minute or\n" +
			"two.\n\n" +
			"The deployment is named as the server's is: by --data and --database-url, or " + dataVariable + " and " + databaseVariable + ".\n" +
			"The key comes from " + secretVariable + ", or from the data folder.\n\n" +
			"Exit codes: 0 done; 1 refused, because the order is absent or cannot become that; 2 nothing was done.",
		Example: "  callwright ports list --open\n" +
			"  callwright ports show man-5f0c2b7d9e4a8c136b01 --secrets\n" +
			"  callwright ports accept man-5f0c2b7d9e4a8c136b01\n" +
			"  callwright ports confirm man-5f0c2b7d9e4a8c136b01 --foc 2026-12-09T16:00:00Z\n" +
			"  callwright ports port man-5f0c2b7d9e4a8c136b01",
		Args: func(_ *cobra.Command, args []string) error {
			if len(args) > 0 {
				return usage(fmt.Errorf("there is no command ports %s: callwright ports --help lists them", args[0]))
			}
			return nil
		},
		RunE: func(cmd *cobra.Command, _ []string) error { return cmd.Help() },
	}
	flags := cmd.PersistentFlags()
	flags.StringVar(&p.options.Data, "data", "", "the `folder` of the deployment's data (default ./data)")
	flags.StringVar(&p.options.DatabaseURL, "database-url", "", "its database, sqlite:PATH or postgres://... (default: SQLite in the data folder)")
	flags.BoolVar(&p.asJSON, "json", false, "print JSON")
	cmd.SetFlagErrorFunc(func(_ *cobra.Command, err error) error { return usage(err) })
	cmd.AddCommand(p.listCommand(), p.showCommand(), p.codesCommand(), p.refuseCancelCommand(), p.verifyCommand(), p.documentsCommand(), p.signCommand(),
		p.findCommand(), p.withdrawCommand())
	for _, m := range moves {
		cmd.AddCommand(p.moveCommand(m))
	}
	return cmd
}

// usage returns an error of a command that could not begin.
func usage(err error) error { return &exit{code: exitUsage, err: err} }

// exactly wants so many arguments, which what names.
func exactly(n int, what string) cobra.PositionalArgs {
	return func(_ *cobra.Command, args []string) error {
		if len(args) != n {
			return usage(fmt.Errorf("the command takes %s, and got %d arguments", what, len(args)))
		}
		return nil
	}
}

// with runs a command on the deployment that the flags and the environment name.
func (p *portsCommands) with(ctx context.Context, do func(*Ports) error) error {
	o := p.options
	for _, of := range []struct {
		value    *string
		variable string
		fallback string
	}{{&o.Data, dataVariable, "./data"}, {&o.DatabaseURL, databaseVariable, ""}} {
		if *of.value == "" {
			*of.value = p.env(of.variable)
		}
		if *of.value == "" {
			*of.value = of.fallback
		}
	}
	o.SecretKey = callwright.Secret(p.env(secretVariable))
	if p.open == nil {
		return usage(errors.New("this program has no database to look into"))
	}
	ports, err := p.open(ctx, o)
	if err != nil {
		return usage(err)
	}
	return refusal(errors.Join(do(ports), ports.Close()))
}

// refusal returns an error with the exit code that it means.
func refusal(err error) error {
	switch {
	case err == nil:
		return nil
	case errors.Is(err, callwright.ErrWrongKey):
		return usage(fmt.Errorf("the master key is not the one that this database was made with: name its data folder with --data, or set %s", secretVariable))
	}
	if e, ok := errors.AsType[*exit](err); ok {
		return e
	}
	switch callwright.CodeOf(err) {
	case callwright.CodeNotFound, callwright.CodeInvalidState, callwright.CodeBadRequest, callwright.CodeConflict:
		return &exit{code: exitRefused, err: err}
	default:
		return usage(err)
	}
}

// orderJSON is an order as the commands print it.
type orderJSON struct {
	Ref           string       `json:"ref"`
	Request       string       `json:"port_request_id,omitempty"`
	Org           string       `json:"organization_id,omitempty"`
	Status        string       `json:"status,omitempty"` // of the request
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

// order returns an order with what is known of its request.
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

// set returns a time, or nothing for one that is not set.
func set(t time.Time) *time.Time {
	if t.IsZero() {
		return nil
	}
	return &t
}

// stamp returns a time as the commands print and read it.
func stamp(t time.Time) string { return t.UTC().Format(time.RFC3339) }

// count returns how many numbers are in each state, in the order of the states.
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

// wish says whether the customer wants to cancel.
func (o orderJSON) wish() string {
	switch {
	case o.CancelAskedAt == nil:
		return ""
	case o.CancelRefused:
		return "refused"
	}
	return "asked " + stamp(*o.CancelAskedAt)
}
