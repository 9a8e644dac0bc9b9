package cli

import (
	"context"
	"errors"
	"fmt"
	"text/tabwriter"
	"time"

	"github.com/spf13/cobra"

	"github.com/callwright/callwright"
	"github.com/callwright/callwright/porting"
	"github.com/callwright/callwright/porting/manual"
)

// move describes a command that records the carrier's statement about phone numbers.
type move struct {
	use, short string
	state      porting.NumberState // empty if the numbers are held up
	foc        bool                // the command accepts --foc
	at         bool                // the command accepts --at
	failure    bool                // the command accepts --code and --words
}

var moves = []move{
	{use: "accept", short: "Enter that the carrier processes an order", state: porting.NumberInProgress},
	{use: "confirm", short: "Enter the date on which the carrier releases numbers", state: porting.NumberConfirmed, foc: true},
	{use: "port", short: "Enter that numbers are ported", state: porting.NumberPorted, at: true},
	{use: "reject", short: "Enter that the carrier refuses numbers for good", state: porting.NumberRejected, failure: true},
	{use: "hold", short: "Enter what holds numbers up that can still be ported", failure: true},
	{use: "cancel", short: "Enter that the carrier has canceled numbers", state: porting.NumberCanceled},
}

// moveOptions contains the flags of a move.
type moveOptions struct {
	numbers           []string
	foc, at           string
	code, carrierSays string
}

func (p *portsCommands) moveCommand(m move) *cobra.Command {
	var o moveOptions
	cmd := &cobra.Command{
		Use: m.use + " ORDER", Short: m.short, Args: exactly(1, "the reference of an order"),
		RunE: func(cmd *cobra.Command, args []string) error {
			entered, err := o.move(m)
			if err != nil {
				return usage(err)
			}
			return p.enter(cmd, func(ctx context.Context, ports *Ports) (manual.Order, error) {
				if m.state == porting.NumberInProgress && len(entered.Numbers) == 0 {
					return ports.accept(ctx, args[0])
				}
				return ports.Manual.Move(ctx, args[0], entered)
			}, args[0])
		},
	}
	flags := cmd.Flags()
	flags.StringArrayVar(&o.numbers, "number", nil, "only this `number`, such as +14155550100; may be given several times (default: all that have not ended)")
	if m.foc {
		flags.StringVar(&o.foc, "foc", "", "the `time` at which the carrier releases the numbers, such as 2026-12-09T16:00:00Z (required)")
	}
	if m.at {
		flags.StringVar(&o.at, "at", "", "the `time` at which they were ported, such as 2026-12-09T16:00:00Z (default: now)")
	}
	if m.failure {
		flags.StringVar(&o.code, "code", "", "the `code` of the reason: callwright ports codes lists them (required)")
		flags.StringVar(&o.carrierSays, "words", "", "what the carrier has said, for operators; customers do not see it")
	}
	return cmd
}

// move parses the flags of the command m and returns the move that they describe.
func (o moveOptions) move(m move) (manual.Move, error) {
	entered := manual.Move{State: m.state}
	for _, text := range o.numbers {
		number, err := callwright.ParsePhoneNumber(text)
		if err != nil {
			return manual.Move{}, fmt.Errorf("--number %s: %s", text, callwright.MessageOf(err))
		}
		entered.Numbers = append(entered.Numbers, number)
	}
	var err error
	if entered.FOC, err = readTime("--foc", o.foc, m.foc); err != nil {
		return manual.Move{}, err
	}
	if entered.PortedAt, err = readTime("--at", o.at, false); err != nil {
		return manual.Move{}, err
	}
	if !m.failure {
		return entered, nil
	}
	code := porting.FailureCode(o.code)
	switch {
	case code == "":
		return manual.Move{}, errors.New("--code is required: callwright ports codes lists the codes")
	case code.Remedy().Code != code:
		return manual.Move{}, fmt.Errorf("--code %s: unknown code: callwright ports codes lists the codes", code)
	}
	if err := checkText("--words", o.carrierSays); err != nil {
		return manual.Move{}, err
	}
	entered.Failure = &porting.Failure{Code: code, Raw: o.carrierSays}
	return entered, nil
}

// readTime parses a time in RFC 3339. If the text is empty and not required, it returns the zero time.
func readTime(flag, text string, required bool) (time.Time, error) {
	if text == "" && !required {
		return time.Time{}, nil
	}
	t, err := time.Parse(time.RFC3339, text)
	if err != nil {
		return time.Time{}, fmt.Errorf("%s must be a time with its zone, such as 2026-12-09T16:00:00Z or 2026-12-09T09:00:00-07:00", flag)
	}
	return t, nil
}

// accept moves the new numbers of an order to in_progress, and ends the hold-up of the numbers that are in progress. Confirmed numbers do
// not change, so they keep their FOC date. It returns CodeInvalidState if no number is new or held up.
func (p *Ports) accept(ctx context.Context, ref string) (manual.Order, error) {
	o, err := p.Manual.Order(ctx, ref)
	if err != nil {
		return manual.Order{}, err
	}
	m := manual.Move{State: porting.NumberInProgress}
	for _, n := range o.Numbers {
		if n.State == porting.NumberSubmitted || n.State == porting.NumberInProgress && n.Failure != nil {
			m.Numbers = append(m.Numbers, n.Number)
		}
	}
	if len(m.Numbers) == 0 {
		return manual.Order{}, callwright.Errorf(callwright.CodeInvalidState,
			"the order %s has no new number and no number with a problem: to withdraw the date of a number, name the number with --number", ref)
	}
	return p.Manual.Move(ctx, ref, m)
}

func (p *portsCommands) refuseCancelCommand() *cobra.Command {
	return &cobra.Command{
		Use: "refuse-cancel ORDER", Short: "Enter that the carrier goes on although the customer wants to cancel", Args: exactly(1, "the reference of an order"),
		RunE: func(cmd *cobra.Command, args []string) error {
			return p.enter(cmd, func(ctx context.Context, ports *Ports) (manual.Order, error) {
				return ports.Manual.RefuseCancel(ctx, args[0])
			}, args[0])
		},
	}
}

// enter changes an order in a transaction, makes the server update the port request soon, and prints the order.
func (p *portsCommands) enter(cmd *cobra.Command, change func(context.Context, *Ports) (manual.Order, error), ref string) error {
	return p.with(cmd.Context(), func(ports *Ports) error {
		var changed manual.Order
		err := ports.Atomic.Do(cmd.Context(), func(ctx context.Context) (err error) {
			if changed, err = change(ctx, ports); err != nil {
				return err
			}
			return porting.Hasten(ctx, ports.Requests, manual.Name, ref, time.Now())
		})
		if err != nil {
			return err
		}
		o, err := ports.order(cmd.Context(), changed)
		if err != nil {
			return err
		}
		return show(cmd, o, func(w *tabwriter.Writer) {
			o.numbers(w)
			if wish := o.cancelWish(); wish != "" {
				printf(w, "Cancellation\t%s\n", wish)
			}
		})
	})
}
