package cli

import (
	"net/netip"
	"text/tabwriter"
	"time"

	"github.com/spf13/cobra"

	"github.com/callwright/callwright"
	"github.com/callwright/callwright/sip/ban"
)

// banJSON is the form in which the commands print a ban.
type banJSON struct {
	Source string    `json:"source"`
	Since  time.Time `json:"since"`
	Until  time.Time `json:"until"`
	Node   string    `json:"node"`
}

func banOf(b ban.Ban) banJSON { return banJSON{b.Source.String(), b.Since, b.Until, b.Node} }

func (a *adminCommands) bansCommand() *cobra.Command {
	cmd := group(&cobra.Command{Use: "sip-bans", Short: "List and lift the bans of SIP sources"})
	cmd.AddCommand(&cobra.Command{
		Use: "list", Short: "List the addresses that SIP ignores on any node, those that end last first", Args: exactly(0, "no arguments"),
		RunE: func(cmd *cobra.Command, _ []string) error {
			return a.withAdmin(cmd.Context(), func(admin *Admin) error {
				all, err := ban.List(cmd.Context(), admin.Leases, time.Now())
				if err != nil {
					return err
				}
				out := struct {
					Bans []banJSON `json:"bans"`
				}{[]banJSON{}}
				for _, b := range all {
					out.Bans = append(out.Bans, banOf(b))
				}
				return show(cmd, out, func(w *tabwriter.Writer) {
					printf(w, "SOURCE\tSINCE\tUNTIL\tNODE\n")
					for _, b := range out.Bans {
						printf(w, "%s\t%s\t%s\t%s\n", b.Source, stamp(b.Since), stamp(b.Until), b.Node)
					}
				})
			})
		},
	}, &cobra.Command{
		Use: "lift ADDRESS", Short: "Lift the ban of an address on all nodes, within 10 seconds", Args: exactly(1, "the address"),
		RunE: func(cmd *cobra.Command, args []string) error {
			address, err := netip.ParseAddr(args[0])
			if err != nil {
				return usage(callwright.Invalid("address", "must be an IP address such as 192.0.2.1 or 2001:db8::1"))
			}
			return a.withAdmin(cmd.Context(), func(admin *Admin) error {
				lifted, err := ban.Lift(cmd.Context(), admin.Leases, address, time.Now())
				if err != nil {
					return err
				}
				out := struct {
					Lifted banJSON `json:"lifted"`
				}{banOf(lifted)}
				return show(cmd, out, func(w *tabwriter.Writer) { printf(w, "Lifted\t%s\n", out.Lifted.Source) })
			})
		},
	})
	return cmd
}
