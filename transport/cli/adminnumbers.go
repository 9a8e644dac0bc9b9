package cli

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"text/tabwriter"
	"time"

	"github.com/spf13/cobra"

	"github.com/callwright/callwright"
	"github.com/callwright/callwright/sip"
)

// AdminTrunks finds and detaches numbers of any organization; sip.Service implements it.
type AdminTrunks interface {
	Holder(ctx context.Context, number callwright.PhoneNumber) (callwright.OrgID, sip.Record, error)
	Release(ctx context.Context, org callwright.OrgID, number callwright.PhoneNumber) (sip.Record, error)
}

// AdminPorts releases the reservations of ported numbers; porting.Service implements it.
type AdminPorts interface {
	Release(ctx context.Context, org callwright.OrgID, number callwright.PhoneNumber, note string) (reserved bool, err error)
}

// holderJSON is the form in which the commands print an organization that holds a number: it has attached, ported or requested the number.
type holderJSON struct {
	Org        string          `json:"organization_id"`
	Directions []sip.Direction `json:"directions"`                // the directions in which the number is attached
	AttachedAt *time.Time      `json:"attached_at,omitempty"`     // creation time of the earlier trunk
	ReservedAt *time.Time      `json:"reserved_at,omitempty"`     // when the port was finished
	Request    string          `json:"port_request_id,omitempty"` // the port request that reserved the number
	Open       string          `json:"open_port_request_id,omitempty"`
}

// text writes a holder as text.
func (h holderJSON) text(w *tabwriter.Writer) {
	printf(w, "Organization\t%s\n", h.Org)
	for _, d := range h.Directions {
		printf(w, "Attached\t%s, since %s\n", d, stampIf(h.AttachedAt))
	}
	if h.ReservedAt != nil {
		printf(w, "Reserved\tsince %s, by the port request %s\n", stamp(*h.ReservedAt), h.Request)
	}
	if h.Open != "" {
		printf(w, "Porting\tthe port request %s has not ended: see callwright ports withdraw\n", h.Open)
	}
}

// holders lists the organizations that hold a number.
type holders []holderJSON

// of returns the entry of an organization, and adds an entry if there is none.
func (h *holders) of(org callwright.OrgID) *holderJSON {
	i := slices.IndexFunc(*h, func(one holderJSON) bool { return one.Org == string(org) })
	if i < 0 {
		i, *h = len(*h), append(*h, holderJSON{Org: string(org), Directions: []sip.Direction{}})
	}
	return &(*h)[i]
}

// holders returns the organizations that hold a number: first the organization that has attached the number, then the organizations that
// have reserved it, and last the organization with an open port request for it.
func (a *Admin) holders(ctx context.Context, number callwright.PhoneNumber) (all holders, err error) {
	org, r, err := a.Trunks.Holder(ctx, number)
	if err != nil && !errors.Is(err, callwright.ErrNotFound) {
		return nil, err
	}
	for _, t := range []*sip.Trunk{r.Inbound, r.Outbound} {
		if t == nil {
			continue
		}
		h := all.of(org)
		h.Directions = append(h.Directions, t.Direction)
		if h.AttachedAt == nil || t.CreatedAt.Before(*h.AttachedAt) {
			h.AttachedAt = &t.CreatedAt
		}
	}
	reserved, err := a.Requests.Reserved(ctx, []callwright.PhoneNumber{number})
	if err != nil {
		return nil, err
	}
	for _, one := range reserved {
		h := all.of(one.Org)
		h.ReservedAt, h.Request = &one.Since, one.Request
	}
	open, err := a.Requests.OpenRequest(ctx, number)
	if err == nil {
		all.of(open.Org).Open = open.ID
	} else if !errors.Is(err, callwright.ErrNotFound) {
		return nil, err
	}
	return all, nil
}

func (a *adminCommands) numbersCommand() *cobra.Command {
	cmd := group(&cobra.Command{Use: "numbers", Short: "Find who has a phone number, and free it for others"})
	cmd.AddCommand(a.numbersFindCommand(), a.numbersReleaseCommand())
	return cmd
}

// numberArgument parses the phone number in a command's arguments.
func numberArgument(text string) (callwright.PhoneNumber, error) {
	number, err := callwright.ParsePhoneNumber(text)
	if err != nil {
		return "", usage(fmt.Errorf("%s: %s", text, callwright.MessageOf(err)))
	}
	return number, nil
}

func (a *adminCommands) numbersFindCommand() *cobra.Command {
	return &cobra.Command{
		Use: "find NUMBER", Short: "Name the organizations that have attached, ported or requested a number",
		Long: "Names the organization that has attached a number to trunks, the one that has ported it, since when and through which port\n" +
			"request, and the one whose port request for it has not ended.",
		Example: "  callwright admin numbers find +14155550100",
		Args:    exactly(1, "a number, such as +14155550100"),
		RunE: func(cmd *cobra.Command, args []string) error {
			number, err := numberArgument(args[0])
			if err != nil {
				return err
			}
			return a.withAdmin(cmd.Context(), func(admin *Admin) error {
				all, err := admin.holders(cmd.Context(), number)
				if err != nil {
					return err
				}
				if len(all) == 0 {
					return callwright.Errorf(callwright.CodeNotFound, "no organization has %s", number)
				}
				return showHolders(cmd, "holders", number, all)
			})
		},
	}
}

// showHolders prints the organizations that hold or held a number. member is the name of their list in JSON.
func showHolders(cmd *cobra.Command, member string, number callwright.PhoneNumber, all holders) error {
	return show(cmd, map[string]any{"number": number, member: all}, func(w *tabwriter.Writer) {
		printf(w, "Number\t%s\n", number)
		for _, h := range all {
			h.text(w)
		}
	})
}

func (a *adminCommands) numbersReleaseCommand() *cobra.Command {
	var org, note string
	yes := false
	cmd := &cobra.Command{
		Use: "release NUMBER", Short: "Detach a number from trunks and end its reservation, so that another organization may have it",
		Long: "Detaches a number from the trunks of its organization, so that calls to it are no longer answered there, and ends the reservation\n" +
			"of its port. Another organization may attach or port it then: that is how a number moves between organizations of one\n" +
			"deployment. A port request that has not ended stays: see callwright ports withdraw.\n\n" +
			"The command asks first, and takes --yes where nobody can answer. The server's log has each release with its note.",
		Example: `  callwright admin numbers release +14155550100 --org acme --note "moves to other, ticket 17"`,
		Args:    exactly(1, "a number, such as +14155550100"),
		RunE: func(cmd *cobra.Command, args []string) error {
			number, err := numberArgument(args[0])
			if err != nil {
				return err
			}
			if !yes {
				if err := a.confirm(cmd, fmt.Sprintf("Take %s from %s?", number, orAll(org))); err != nil {
					return err
				}
			}
			return a.withAdmin(cmd.Context(), func(admin *Admin) error {
				released, err := admin.release(cmd.Context(), number, callwright.OrgID(org), note)
				if err != nil {
					return err
				}
				return showHolders(cmd, "released", number, released)
			})
		},
	}
	flags := cmd.Flags()
	flags.StringVar(&org, "org", "", "only from this `organization`; without it from all that have the number")
	flags.StringVar(&note, "note", "", "why, for the server's log")
	flags.BoolVarP(&yes, "yes", "y", false, "release without a question")
	if err := cmd.MarkFlagRequired("note"); err != nil {
		panic(err)
	}
	return cmd
}

func orAll(org string) string {
	if org == "" {
		return "all organizations that have it"
	}
	return "the organization " + org
}

func by(org callwright.OrgID) string {
	if org == "" {
		return ""
	}
	return " by the organization " + string(org)
}

// release detaches a number and ends its reservation, for one organization or, if org is empty, for all that hold the number. It works in
// one transaction and returns the released holders. It returns CodeNotFound if no such organization has attached or reserved the number.
func (a *Admin) release(
	ctx context.Context, number callwright.PhoneNumber, org callwright.OrgID, note string,
) (released holders, err error) {
	err = a.Atomic.Do(ctx, func(ctx context.Context) error {
		all, err := a.holders(ctx, number)
		if err != nil {
			return err
		}
		released = slices.DeleteFunc(all, func(h holderJSON) bool {
			return org != "" && h.Org != string(org) || len(h.Directions) == 0 && h.ReservedAt == nil
		})
		if len(released) == 0 {
			return callwright.Errorf(callwright.CodeNotFound, "%s is neither attached nor reserved%s; callwright ports withdraw ends a port request", number, by(org))
		}
		for i, h := range released {
			if _, err := a.Trunks.Release(ctx, callwright.OrgID(h.Org), number); err != nil {
				return err
			}
			if _, err := a.Ports.Release(ctx, callwright.OrgID(h.Org), number, note); err != nil {
				return err
			}
			released[i].Open = ""
		}
		return nil
	})
	return released, err
}
