package cli

import (
	"cmp"
	"fmt"
	"strings"
	"text/tabwriter"

	"github.com/spf13/cobra"

	"github.com/callwright/callwright"
	"github.com/callwright/callwright/porting"
	"github.com/callwright/callwright/porting/manual"
)

// maxListed is the maximum number of orders that callwright ports list prints.
const maxListed = 1000

func (p *portsCommands) listCommand() *cobra.Command {
	open, limit := false, 0
	cmd := &cobra.Command{
		Use: "list", Short: "List orders, the oldest first", Args: exactly(0, "no arguments"),
		RunE: func(cmd *cobra.Command, _ []string) error {
			if limit < 1 || limit > maxListed {
				return usage(fmt.Errorf("--limit must be from 1 to %d", maxListed))
			}
			return p.with(cmd.Context(), func(ports *Ports) error { return p.list(cmd, ports, open, limit) })
		},
	}
	cmd.Flags().BoolVar(&open, "open", false, "only those with a number that has not ended")
	cmd.Flags().IntVar(&limit, "limit", manual.MaxPage, "list at most this many orders, up to 1000")
	return cmd
}

// list prints the oldest orders, at most limit. If open is set, it prints only open orders.
func (p *portsCommands) list(cmd *cobra.Command, ports *Ports, open bool, limit int) error {
	found, more := []orderJSON{}, true
	for after := (callwright.Keyset{}); more && len(found) < limit; {
		page, err := ports.Manual.Orders(cmd.Context(), open, after, limit-len(found))
		if err != nil {
			return err
		}
		for _, o := range page.Items {
			one, err := ports.order(cmd.Context(), o)
			if err != nil {
				return err
			}
			found = append(found, one)
		}
		after, more = page.Next, !page.Next.IsZero()
	}
	if more {
		notice(cmd, "these are the %d oldest orders: raise --limit to see more", len(found))
	}
	return show(cmd, found, func(w *tabwriter.Writer) {
		if len(found) == 0 {
			printf(w, "no orders\n")
			return
		}
		printf(w, "ORDER\tREQUEST\tNUMBERS\tSINCE\tCANCEL\n")
		for _, o := range found {
			printf(w, "%s\t%s\t%s\t%s\t%s\n", o.Ref, cmp.Or(o.Request, "-"), o.count(), stamp(o.UpdatedAt), cmp.Or(o.cancelWish(), "-"))
		}
	})
}

func (p *portsCommands) showCommand() *cobra.Command {
	secrets := false
	cmd := &cobra.Command{
		Use: "show ORDER", Short: "Show what a carrier's form asks for", Args: exactly(1, "the reference of an order"),
		RunE: func(cmd *cobra.Command, args []string) error {
			return p.with(cmd.Context(), func(ports *Ports) error { return p.show(cmd, ports, args[0], secrets) })
		},
	}
	cmd.Flags().BoolVar(&secrets, "secrets", false, "show the account number and the PINs")
	return cmd
}

// shownJSON is an order with all data that a carrier's form requires.
type shownJSON struct {
	orderJSON

	TargetDate string      `json:"target_port_date"`
	SignedAt   string      `json:"signed_at"`
	Account    accountJSON `json:"account"`
	Documents  []string    `json:"documents"`
}

type accountJSON struct {
	CustomerType  string `json:"customer_type"`
	BusinessName  string `json:"business_name,omitempty"`
	FirstName     string `json:"first_name"`
	LastName      string `json:"last_name"`
	AccountNumber string `json:"account_number"`
	Email         string `json:"authorized_representative_email"`
	Street        string `json:"street"`
	Street2       string `json:"street2,omitempty"`
	City          string `json:"city"`
	State         string `json:"state"`
	Zip           string `json:"zip"`
	Country       string `json:"country"`
}

// show prints an order. Unless secrets is set, it masks the account number and omits the PINs.
func (p *portsCommands) show(cmd *cobra.Command, ports *Ports, ref string, secrets bool) error {
	o, err := ports.Manual.Order(cmd.Context(), ref)
	if err != nil {
		return err
	}
	s := o.Submission
	shown := shownJSON{
		TargetDate: s.TargetDate.Format("2006-01-02"), SignedAt: stamp(s.SignedAt), Account: accountOf(s.Account), Documents: s.Documents,
	}
	if shown.orderJSON, err = ports.order(cmd.Context(), o); err != nil {
		return err
	}
	if secrets {
		shown.Account.AccountNumber = s.Account.AccountNumber.Reveal()
		for i, n := range shown.Numbers {
			shown.Numbers[i].PIN = s.PINs[callwright.PhoneNumber(n.Number)].Reveal()
		}
	}
	return show(cmd, shown, shown.text)
}

func accountOf(a porting.Account) accountJSON {
	return accountJSON{
		CustomerType: string(a.CustomerType), BusinessName: a.BusinessName, FirstName: a.FirstName, LastName: a.LastName,
		AccountNumber: porting.Masked(a.AccountNumber), Email: a.Email, Street: a.Address.Street, Street2: a.Address.Street2,
		City: a.Address.City, State: a.Address.State, Zip: a.Address.Zip, Country: a.Address.Country,
	}
}

func (s shownJSON) text(w *tabwriter.Writer) {
	a := s.Account
	for _, line := range [][2]string{
		{"Order", s.Ref}, {"Request", s.Request}, {"Organization", s.Org}, {"Status", s.Status}, {"Ordered", stamp(s.CreatedAt)},
		{"Changed", stamp(s.UpdatedAt)}, {"Cancellation", s.cancelWish()}, {"Target date", s.TargetDate}, {"Letter signed", s.SignedAt},
		{"Documents", strings.Join(s.Documents, " ")}, {"Customer type", a.CustomerType}, {"Business name", a.BusinessName},
		{"First name", a.FirstName}, {"Last name", a.LastName}, {"Email", a.Email}, {"Account number", a.AccountNumber},
		{"Street", a.Street}, {"", a.Street2}, {"City", a.City}, {"State", a.State}, {"Zip", a.Zip}, {"Country", a.Country},
	} {
		if line[1] != "" {
			printf(w, "%s\t%s\n", line[0], line[1])
		}
	}
	s.numbers(w)
}

// numbers writes the phone numbers of an order as text.
func (o orderJSON) numbers(w *tabwriter.Writer) {
	for _, n := range o.Numbers {
		text := n.State
		switch {
		case n.PortedAt != nil:
			text += " " + stamp(*n.PortedAt)
		case n.FOC != nil:
			text += " " + stamp(*n.FOC)
		}
		if n.Failure != "" {
			text += ", " + n.Failure
		}
		if n.Words != "" {
			text += fmt.Sprintf(" (%q)", n.Words)
		}
		switch {
		case n.PIN != "":
			text += ", PIN " + n.PIN
		case n.HasPIN:
			text += ", has a PIN"
		}
		printf(w, "%s\t%s\n", n.Number, text)
	}
}

// remedyJSON describes a failure code that an operator can enter.
type remedyJSON struct {
	Code string `json:"code"`
	Act  string `json:"who_must_act"`
	Text string `json:"text"`
}

func (p *portsCommands) codesCommand() *cobra.Command {
	return &cobra.Command{
		Use: "codes", Short: "List the codes of failures, and who must act on each", Args: exactly(0, "no arguments"),
		RunE: func(cmd *cobra.Command, _ []string) error {
			var all []remedyJSON
			for _, r := range porting.Remedies() {
				all = append(all, remedyJSON{string(r.Code), string(r.Act), r.Text})
			}
			return show(cmd, all, func(w *tabwriter.Writer) {
				printf(w, "CODE\tWHO MUST ACT\tWHAT IT MEANS\n")
				for _, r := range all {
					printf(w, "%s\t%s\t%s\n", r.Code, r.Act, r.Text)
				}
			})
		},
	}
}
