package cli

import (
	"cmp"
	"errors"
	"fmt"
	"text/tabwriter"
	"time"

	"github.com/spf13/cobra"

	"github.com/callwright/callwright"
	"github.com/callwright/callwright/access"
)

// keyJSON is the form in which the commands print the record of a key.
type keyJSON struct {
	ID         string     `json:"id"`
	Org        string     `json:"organization_id"`
	Name       string     `json:"name"`
	Prefix     string     `json:"prefix"`
	Status     string     `json:"status"` // active, rotated, expired or revoked
	CreatedAt  time.Time  `json:"created_at"`
	LastUsedAt *time.Time `json:"last_used_at"`
	ExpiresAt  *time.Time `json:"expires_at"`
	RevokedAt  *time.Time `json:"revoked_at,omitempty"`
	ReplacedBy string     `json:"replaced_by,omitempty"`
}

func keyOf(k callwright.APIKey) keyJSON {
	out := keyJSON{
		ID: k.ID, Org: string(k.Org), Name: k.Name, Prefix: k.Prefix, Status: "active", CreatedAt: k.CreatedAt,
		LastUsedAt: k.LastUsedAt, ExpiresAt: k.ExpiresAt, RevokedAt: k.RevokedAt, ReplacedBy: k.ReplacedBy,
	}
	switch {
	case k.RevokedAt != nil:
		out.Status = "revoked"
	case !k.InForce(time.Now()):
		out.Status = "expired"
	case k.ReplacedBy != "":
		out.Status = "rotated" // still valid until it expires
	}
	return out
}

// print writes a key's record as text.
func (k keyJSON) print(w *tabwriter.Writer) {
	printf(w, "Key\t%s\nOrganization\t%s\nName\t%s\nBegins with\t%s\nStatus\t%s\nCreated\t%s\n", k.ID, k.Org, k.Name, k.Prefix, k.Status, stamp(k.CreatedAt))
	expires := "never"
	if k.ExpiresAt != nil {
		expires = stamp(*k.ExpiresAt)
	}
	printf(w, "Expires\t%s\nLast used\t%s\n", expires, stampIf(k.LastUsedAt))
	if k.RevokedAt != nil {
		printf(w, "Revoked\t%s\n", stamp(*k.RevokedAt))
	}
	if k.ReplacedBy != "" {
		printf(w, "Replaced by\t%s\n", k.ReplacedBy)
	}
}

// orgFlag adds the flag --org, which withOrg requires.
func orgFlag(cmd *cobra.Command, org *string) {
	cmd.Flags().StringVar(org, "org", "", "the `id` of the organization (required)")
}

// withOrg runs a command that concerns one organization. It returns a usage error if org is empty.
func (a *adminCommands) withOrg(cmd *cobra.Command, org string, do func(*access.Service, callwright.OrgID) error) error {
	if org == "" {
		return usage(errors.New("--org is required: callwright admin orgs list shows the organizations"))
	}
	return a.with(cmd.Context(), func(s *access.Service) error { return do(s, callwright.OrgID(org)) })
}

func (a *adminCommands) keysListCommand() *cobra.Command {
	var page pageFlags
	var org string
	cmd := &cobra.Command{
		Use: "list", Short: "List the keys of an organization, the newest first", Args: exactly(0, "no arguments"),
		Long: "Lists the keys of an organization, the newest first, also those that were revoked or have expired. The last use is about a minute\n" +
			"precise. The keys themselves are not stored; the prefix is what each begins with.",
		RunE: func(cmd *cobra.Command, _ []string) error {
			after, err := page.after()
			if err != nil {
				return err
			}
			return a.withOrg(cmd, org, func(s *access.Service, org callwright.OrgID) error {
				found, err := s.Keys(cmd.Context(), org, after, page.limit)
				if err != nil {
					return err
				}
				return showKeys(cmd, found)
			})
		},
	}
	page.add(cmd)
	orgFlag(cmd, &org)
	return cmd
}

func showKeys(cmd *cobra.Command, found callwright.Page[callwright.APIKey]) error {
	out := struct {
		Keys []keyJSON `json:"keys"`
		Next string    `json:"next_cursor,omitempty"`
	}{[]keyJSON{}, found.Next.Cursor()}
	for _, k := range found.Items {
		out.Keys = append(out.Keys, keyOf(k))
	}
	noticeNext(cmd, found.Next)
	return show(cmd, out, func(w *tabwriter.Writer) {
		printf(w, "KEY\tNAME\tPREFIX\tSTATUS\tLAST USED\tEXPIRES\tREPLACED BY\n")
		for _, k := range out.Keys {
			printf(w, "%s\t%s\t%s\t%s\t%s\t%s\t%s\n", k.ID, k.Name, k.Prefix, k.Status, stampIf(k.LastUsedAt), stampIf(k.ExpiresAt), cmp.Or(k.ReplacedBy, "-"))
		}
	})
}

// newKeyJSON is the form in which the commands print a new key, which cannot be shown again.
type newKeyJSON struct {
	Record   keyJSON  `json:"key"`
	Key      string   `json:"api_key,omitempty"` // empty if the key is written to File
	File     string   `json:"file,omitempty"`
	Replaces *keyJSON `json:"replaces,omitempty"` // the previous key, which expires at the end of the overlap
}

// showKey prints a new key with its record, or only the key, or writes the key to a file and prints its record.
func showKey(cmd *cobra.Command, k access.NewKey, replaces *keyJSON, to *secretFile) error {
	key, err := to.store(k.Key.Reveal())
	if err != nil {
		return printOnce(err, "the key "+k.Record.ID, "revoke it and create another")
	}
	if to.alone() {
		_, err := fmt.Fprintln(cmd.OutOrStdout(), key)
		return printOnce(err, "the key "+k.Record.ID, "revoke it and create another")
	}
	out := newKeyJSON{keyOf(k.Record), key, to.name, replaces}
	err = show(cmd, out, func(w *tabwriter.Writer) {
		out.Record.print(w)
		if replaces != nil {
			printf(w, "Replaces\t%s, which works until %s\n", replaces.ID, stampIf(replaces.ExpiresAt))
		}
		if to.name != "" {
			printf(w, "API key\tin %s\n", to.name)
			return
		}
		printf(w, "API key\t%s (shown this once)\n", out.Key)
	})
	return printOnce(err, "the key "+k.Record.ID, "revoke it and create another")
}

func (a *adminCommands) keysCreateCommand() *cobra.Command {
	var org string
	var lifetime span
	var to secretFile
	cmd := &cobra.Command{
		Use: "create NAME", Short: "Create a key for an organization, and print it", Args: exactly(1, "the name of the key"),
		RunE: func(cmd *cobra.Command, args []string) error {
			if time.Duration(lifetime) > access.MaxLifetime {
				return usage(errors.New("--expires-in must be at most 3650d"))
			}
			if err := to.open(cmd); err != nil {
				return err
			}
			defer to.discard()
			return a.withOrg(cmd, org, func(s *access.Service, org callwright.OrgID) error {
				k, err := s.CreateKey(cmd.Context(), org, args[0], time.Duration(lifetime))
				if err != nil {
					return err
				}
				return showKey(cmd, k, nil, &to)
			})
		},
	}
	orgFlag(cmd, &org)
	to.add(cmd, "the key alone, for --"+keyFileFlag+",")
	cmd.Flags().Var(&lifetime, "expires-in", "how long the key works, such as 90d or 12h, at most 3650d; 0: it does not expire")
	return cmd
}

func (a *adminCommands) keysRotateCommand() *cobra.Command {
	var org string
	overlap := defaultOverlap
	var to secretFile
	cmd := &cobra.Command{
		Use: "rotate KEY", Short: "Create a key in the place of another, and print it",
		Long: "Creates a key with the name and the lifetime of another, and prints it. The old key works until the overlap has passed; with\n" +
			"--overlap 0 it ends at once. A key is rotated once: after that, rotate its successor.",
		Args: exactly(1, "the id of a key"),
		RunE: func(cmd *cobra.Command, args []string) error {
			if err := checkKeyID(args[0]); err != nil {
				return err
			}
			if err := checkOverlap(overlap); err != nil {
				return err
			}
			if err := to.open(cmd); err != nil {
				return err
			}
			defer to.discard()
			return a.withOrg(cmd, org, func(s *access.Service, org callwright.OrgID) error {
				k, err := s.RotateKey(cmd.Context(), org, args[0], time.Duration(overlap))
				if err != nil {
					return err
				}
				var replaces *keyJSON
				if old, err := s.Key(cmd.Context(), org, args[0]); err == nil { // if this fails, the new key is shown nevertheless
					record := keyOf(old)
					replaces = &record
				}
				return showKey(cmd, k, replaces, &to)
			})
		},
	}
	orgFlag(cmd, &org)
	to.add(cmd, "the key alone, for --"+keyFileFlag+",")
	cmd.Flags().Var(&overlap, "overlap", "how long the old key goes on, such as 24h, 7d or 0, at most 30d")
	return cmd
}

func (a *adminCommands) keysRevokeCommand() *cobra.Command {
	var org string
	cmd := &cobra.Command{
		Use: "revoke KEY", Short: "Revoke a key at once", Args: exactly(1, "the id of a key"),
		RunE: func(cmd *cobra.Command, args []string) error {
			if err := checkKeyID(args[0]); err != nil {
				return err
			}
			return a.withOrg(cmd, org, func(s *access.Service, org callwright.OrgID) error {
				if err := s.RevokeKey(cmd.Context(), org, args[0]); err != nil {
					return err
				}
				k, err := s.Key(cmd.Context(), org, args[0])
				if err != nil {
					return err
				}
				out := keyOf(k)
				return show(cmd, out, out.print)
			})
		},
	}
	orgFlag(cmd, &org)
	return cmd
}
