package cli

import (
	"cmp"
	"errors"
	"fmt"
	"slices"
	"strconv"
	"strings"
	"text/tabwriter"
	"time"

	"github.com/spf13/cobra"

	"github.com/callwright/callwright"
	"github.com/callwright/callwright/access"
)

// organizationJSON is the form in which the commands print an organization.
type organizationJSON struct {
	ID           string                   `json:"id"`
	Name         string                   `json:"name"`
	Entitlements []callwright.Entitlement `json:"entitlements"`
	ContactEmail string                   `json:"contact_email,omitempty"`
	Region       string                   `json:"region,omitempty"`
	Country      callwright.Country       `json:"default_country,omitempty"`
	MaxNumbers   int                      `json:"max_numbers"`
	CreatedAt    time.Time                `json:"created_at"`
	PreviousEnds *time.Time               `json:"previous_webhook_secret_ends_at,omitempty"`
}

func organizationOf(o callwright.Organization) organizationJSON {
	out := organizationJSON{
		ID: string(o.ID), Name: o.Name, Entitlements: o.Entitlements, ContactEmail: o.ContactEmail, Region: o.Region, Country: o.DefaultCountry, MaxNumbers: o.NumberLimit(), CreatedAt: o.CreatedAt,
	}
	if out.Entitlements == nil {
		out.Entitlements = []callwright.Entitlement{}
	}
	if len(o.WebhookSecrets(time.Now())) > 1 {
		out.PreviousEnds = o.PreviousWebhookEnds
	}
	return out
}

// rights returns the entitlements as text for a table, or a dash if there are none.
func (o organizationJSON) rights() string {
	texts := make([]string, len(o.Entitlements))
	for i, right := range o.Entitlements {
		texts[i] = string(right)
	}
	return cmp.Or(strings.Join(texts, ", "), "-")
}

func (o organizationJSON) print(w *tabwriter.Writer) {
	printf(w, "Organization\t%s\nName\t%s\nEntitlements\t%s\nContact\t%s\n", o.ID, o.Name, o.rights(), cmp.Or(o.ContactEmail, "-"))
	if o.Region != "" {
		printf(w, "Region\t%s\n", o.Region)
	}
	if o.Country != "" {
		printf(w, "Default country\t%s\n", o.Country)
	}
	printf(w, "Numbers\tat most %d\n", o.MaxNumbers)
	printf(w, "Created\t%s\n", stamp(o.CreatedAt))
	if o.PreviousEnds != nil {
		printf(w, "Webhooks\tthe secret before signs as well until %s\n", stamp(*o.PreviousEnds))
	}
}

func (a *adminCommands) orgsListCommand() *cobra.Command {
	var page pageFlags
	cmd := &cobra.Command{
		Use: "list", Short: "List organizations, the newest first", Args: exactly(0, "no arguments"),
		RunE: func(cmd *cobra.Command, _ []string) error {
			after, err := page.after()
			if err != nil {
				return err
			}
			return a.with(cmd.Context(), func(s *access.Service) error {
				found, err := s.Organizations(cmd.Context(), after, page.limit)
				if err != nil {
					return err
				}
				return showOrganizations(cmd, found)
			})
		},
	}
	page.add(cmd)
	return cmd
}

func showOrganizations(cmd *cobra.Command, found callwright.Page[callwright.Organization]) error {
	out := struct {
		Organizations []organizationJSON `json:"organizations"`
		Next          string             `json:"next_cursor,omitempty"`
	}{[]organizationJSON{}, found.Next.Cursor()}
	for _, o := range found.Items {
		out.Organizations = append(out.Organizations, organizationOf(o))
	}
	noticeNext(cmd, found.Next)
	return show(cmd, out, func(w *tabwriter.Writer) {
		printf(w, "ORGANIZATION\tNAME\tENTITLEMENTS\tCONTACT\tCREATED\n")
		for _, o := range out.Organizations {
			printf(w, "%s\t%s\t%s\t%s\t%s\n", o.ID, o.Name, o.rights(), cmp.Or(o.ContactEmail, "-"), stamp(o.CreatedAt))
		}
	})
}

// secretJSON is an organization with its new webhook secret, which cannot be shown again.
type secretJSON struct {
	Organization organizationJSON `json:"organization"`
	Secret       string           `json:"webhook_secret,omitempty"` // empty if the secret is written to File
	File         string           `json:"file,omitempty"`
}

// showSecret prints a new webhook secret with its organization, or only the secret, or writes the secret to a file and prints its
// organization.
func showSecret(cmd *cobra.Command, o callwright.Organization, to *secretFile) error {
	out := secretJSON{Organization: organizationOf(o), File: to.name}
	var err error
	if out.Secret, err = to.store(o.WebhookSecret.Reveal()); err != nil {
		return printOnce(err, "the webhook secret of "+out.Organization.ID, "rotate it without an overlap to get another")
	}
	if to.alone() {
		_, err := fmt.Fprintln(cmd.OutOrStdout(), out.Secret)
		return printOnce(err, "the webhook secret of "+out.Organization.ID, "rotate it without an overlap to get another")
	}
	err = show(cmd, out, func(w *tabwriter.Writer) {
		out.Organization.print(w)
		if to.name != "" {
			printf(w, "Webhook secret\tin %s\n", to.name)
			return
		}
		printf(w, "Webhook secret\t%s (shown this once)\n", out.Secret)
	})
	return printOnce(err, "the webhook secret of "+out.Organization.ID, "rotate it without an overlap to get another")
}

func (a *adminCommands) orgsCreateCommand() *cobra.Command {
	var id string
	var grant []string
	cmd := &cobra.Command{
		Use: "create NAME", Short: "Create an organization, and print the secret that signs its webhooks", Args: exactly(1, "the name of the organization"),
		RunE: func(cmd *cobra.Command, args []string) error {
			rights, err := entitlements(grant)
			if err != nil {
				return err
			}
			return a.with(cmd.Context(), func(s *access.Service) error {
				o, err := s.CreateOrganization(cmd.Context(), callwright.OrgID(id), args[0], rights...)
				if errors.Is(err, callwright.ErrConflict) {
					return callwright.Errorf(callwright.CodeConflict, "the organization %s already exists: choose another id", id)
				}
				if err != nil {
					return err
				}
				return showSecret(cmd, o, &secretFile{})
			})
		},
	}
	cmd.Flags().StringVar(&id, "id", "", "its id, 1 to 64 letters, digits, dots, underscores and hyphens (default: a new UUID)")
	cmd.Flags().StringArrayVar(&grant, "grant", nil, "an `entitlement`, such as SIP; may be given several times")
	return cmd
}

// known lists the entitlements that commands can grant.
var known = []callwright.Entitlement{callwright.EntitlementSIP, callwright.EntitlementOperator}

// entitlements parses the names of entitlements, without regard to case. It refuses unknown names, because granting them would have no
// effect.
func entitlements(names []string) ([]callwright.Entitlement, error) {
	rights := make([]callwright.Entitlement, len(names))
	for i, name := range names {
		rights[i] = callwright.Entitlement(strings.ToUpper(name))
		if !slices.Contains(known, rights[i]) {
			return nil, usage(callwright.Invalid("entitlements", "unknown entitlement %s: use one of %s", name, fmt.Sprint(known)))
		}
	}
	return rights, nil
}

func (a *adminCommands) orgsShowCommand() *cobra.Command {
	return &cobra.Command{
		Use: "show ORG", Short: "Show an organization", Args: exactly(1, "the id of an organization"),
		RunE: func(cmd *cobra.Command, args []string) error {
			return a.with(cmd.Context(), func(s *access.Service) error {
				o, err := s.Organization(cmd.Context(), callwright.OrgID(args[0]))
				if err != nil {
					return err
				}
				return showOrganization(cmd, o)
			})
		},
	}
}

func showOrganization(cmd *cobra.Command, o callwright.Organization) error {
	out := organizationOf(o)
	return show(cmd, out, out.print)
}

func (a *adminCommands) orgsSetCommand() *cobra.Command {
	var name, contact, country string
	var numbers int
	var grant, withdraw []string
	cmd := &cobra.Command{
		Use: "set ORG", Short: "Change the name, the contact, the default country, the limit of numbers and the entitlements of an organization", Args: exactly(1, "the id of an organization"),
		RunE: func(cmd *cobra.Command, args []string) error {
			var change access.OrganizationChange
			for _, of := range []struct {
				flag  string
				value *string
				to    **string
			}{{"name", &name, &change.Name}, {"contact", &contact, &change.ContactEmail}} {
				if cmd.Flags().Changed(of.flag) {
					*of.to = of.value
				}
			}
			if cmd.Flags().Changed("default-country") {
				change.Country = new(callwright.Country(strings.ToUpper(country)))
			}
			if cmd.Flags().Changed("max-numbers") {
				change.Numbers = &numbers
			}
			granted, grantErr := entitlements(grant)
			withdrawn, withdrawErr := entitlements(withdraw)
			if err := cmp.Or(grantErr, withdrawErr); err != nil {
				return err
			}
			change.Grant, change.Withdraw = granted, withdrawn
			return a.with(cmd.Context(), func(s *access.Service) error {
				o, err := s.UpdateOrganization(cmd.Context(), callwright.OrgID(args[0]), change)
				if err != nil {
					return err
				}
				return showOrganization(cmd, o)
			})
		},
	}
	flags := cmd.Flags()
	flags.StringVar(&name, "name", "", "its new name")
	flags.StringVar(&contact, "contact", "", "the `address` for mail about what needs a person; empty: no mail")
	flags.StringVar(&country, "default-country", "", "the `country` in whose form numbers without a plus are read, such as US; empty: they must be E.164")
	flags.IntVar(&numbers, "max-numbers", 0, "how many phone numbers it may attach to trunks; 0: "+strconv.Itoa(callwright.DefaultMaxNumbers))
	flags.StringArrayVar(&grant, "grant", nil, "an `entitlement` to add, such as SIP; may be given several times")
	flags.StringArrayVar(&withdraw, "withdraw", nil, "an `entitlement` to remove; may be given several times")
	cmd.MarkFlagsOneRequired("name", "contact", "default-country", "max-numbers", "grant", "withdraw")
	return cmd
}

func (a *adminCommands) secretRotateCommand() *cobra.Command {
	overlap := defaultOverlap
	var to secretFile
	cmd := &cobra.Command{
		Use: "rotate ORG", Short: "Give an organization a new webhook secret, and print it",
		Long: "Gives an organization a new webhook secret, and prints it. Until the overlap has passed, both secrets sign: webhook-signature has two\n" +
			"signatures, X-Webhook-Signature that of the old secret, and X-Webhook-Signature-Next that of the new one. With --overlap 0, as for a\n" +
			"secret that has leaked, the old one ends at once, also one from a rotation before.",
		Args: exactly(1, "the id of an organization"),
		RunE: func(cmd *cobra.Command, args []string) error {
			if err := checkOverlap(overlap); err != nil {
				return err
			}
			if err := to.open(cmd); err != nil {
				return err
			}
			defer to.discard()
			return a.with(cmd.Context(), func(s *access.Service) error {
				o, err := s.RotateWebhookSecret(cmd.Context(), callwright.OrgID(args[0]), time.Duration(overlap))
				if err != nil {
					return err
				}
				return showSecret(cmd, o, &to)
			})
		},
	}
	to.add(cmd, "the secret alone")
	cmd.Flags().Var(&overlap, "overlap", "how long the old secret signs as well, such as 24h, 7d or 0, at most 30d")
	return cmd
}
