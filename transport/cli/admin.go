package cli

import (
	"context"
	"errors"
	"fmt"
	"math"
	"strconv"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"github.com/callwright/callwright"
	"github.com/callwright/callwright/access"
	"github.com/callwright/callwright/node"
	"github.com/callwright/callwright/porting"
)

// Admin provides the data of a deployment for the admin commands. The server of the deployment may be running.
type Admin struct {
	Access *access.Service
	Leases node.Leases // contains the bans of SIP sources
	Close  func() error

	// Trunks, Ports and Requests find and release numbers, in transactions of Atomic.
	Trunks   AdminTrunks
	Ports    AdminPorts
	Requests porting.Store
	Atomic   callwright.Atomic
}

// adminCommands creates the admin commands.
type adminCommands struct {
	deploymentFlags

	open    func(context.Context, Deployment) (*Admin, error)
	confirm func(cmd *cobra.Command, question string) error
}

func adminCommand(c Config, env func(string) string) *cobra.Command {
	a := &adminCommands{open: c.Admin, confirm: c.confirm, deploymentFlags: deploymentFlags{env: env}}
	cmd := group(&cobra.Command{
		Use:   "admin",
		Short: "Make organizations, API keys and webhook secrets; find and free numbers; lift bans of SIP sources",
		Long: "Makes organizations, creates, rotates and revokes their API keys, and rotates the secrets that sign their webhooks;\nfinds and frees numbers; lists and lifts the bans of SIP sources. The commands\n" +
			"work on the database of a deployment, also while its server runs; what they change is in force at once.\n\n" +
			"A new key or secret is printed once, to stdout, and nothing can show it again.\n\n" + howDeployed +
			"Exit codes: 0 done; 1 refused, because the named object is absent or its state does not allow the change; 2 nothing was done.",
		Example: "  callwright admin orgs create Acme --grant SIP\n" +
			"  callwright admin keys create ci --org acme --expires-in 90d\n" +
			"  callwright admin keys list --org acme\n" +
			"  callwright admin keys rotate 0199c0de-0000-7000-8000-000000000001 --org acme --overlap 24h\n" +
			"  callwright admin webhook-secret rotate acme --overlap 7d\n" +
			"  callwright admin numbers find +14155550100\n" +
			"  callwright admin sip-bans lift 192.0.2.1",
	})
	a.add(cmd)
	orgs := group(&cobra.Command{Use: "orgs", Short: "List, create and change organizations"})
	orgs.AddCommand(a.orgsListCommand(), a.orgsCreateCommand(), a.orgsShowCommand(), a.orgsSetCommand())
	keys := group(&cobra.Command{Use: "keys", Short: "List, create, rotate and revoke API keys"})
	keys.AddCommand(a.keysListCommand(), a.keysCreateCommand(), a.keysRotateCommand(), a.keysRevokeCommand())
	secret := group(&cobra.Command{Use: "webhook-secret", Short: "Rotate the secrets that sign webhooks"})
	secret.AddCommand(a.secretRotateCommand())
	cmd.AddCommand(orgs, keys, secret, a.numbersCommand(), a.bansCommand())
	return cmd
}

// with opens the deployment that the flags and the environment name, and runs a command on its organizations and keys.
func (a *adminCommands) with(ctx context.Context, do func(*access.Service) error) error {
	return a.withAdmin(ctx, func(admin *Admin) error { return do(admin.Access) })
}

// withAdmin is like the method with, for commands that need more than organizations and keys.
func (a *adminCommands) withAdmin(ctx context.Context, do func(*Admin) error) error {
	if a.open == nil {
		return usage(errors.New("this program was built without access to databases (cli.Config.Admin): use the program callwright"))
	}
	admin, err := a.open(ctx, a.deployment())
	if errors.Is(err, callwright.ErrWrongKey) {
		return refusal(err)
	}
	if err != nil {
		return usage(err)
	}
	return refusal(errors.Join(do(admin), admin.Close()))
}

// defaultOverlap is how long a rotated key or secret remains valid by default.
const defaultOverlap = span(24 * time.Hour)

// checkOverlap returns an error if an overlap exceeds access.MaxOverlap.
func checkOverlap(overlap span) error {
	if time.Duration(overlap) > access.MaxOverlap {
		return usage(errors.New("--overlap must be at most 30d"))
	}
	return nil
}

// span is a flag whose value is a duration such as 90d, 24h or 0.
type span time.Duration

// String returns the duration in a form that Set accepts.
func (s *span) String() string {
	d := time.Duration(*s)
	if d == 0 {
		return "0"
	}
	text := d.String()
	for _, unit := range []string{"m0s", "h0m"} {
		if rest, ok := strings.CutSuffix(text, unit); ok {
			text = rest + unit[:1]
		}
	}
	return text
}

// Set parses a duration that is not negative.
func (s *span) Set(text string) error {
	if days, ok := strings.CutSuffix(text, "d"); ok {
		n, err := strconv.ParseUint(days, 10, 32)
		if err != nil || n > math.MaxInt64/uint64(24*time.Hour) {
			return errors.New("must be a duration such as 90d, 24h or 0")
		}
		*s = span(n) * span(24*time.Hour)
		return nil
	}
	d, err := time.ParseDuration(text)
	if err != nil || d < 0 {
		return errors.New("must be a duration such as 90d, 24h or 0")
	}
	*s = span(d)
	return nil
}

// Type returns the name of the flag's type, for the help.
func (s *span) Type() string { return "time" }

// pageFlags contains the flags that select a page of a list.
type pageFlags struct {
	limit  int
	cursor string
}

func (p *pageFlags) add(cmd *cobra.Command) {
	cmd.Flags().IntVar(&p.limit, "limit", 100, "list at most this many, up to "+strconv.Itoa(access.MaxPage))
	cmd.Flags().StringVar(&p.cursor, "cursor", "", "continue after this `cursor`, which the previous page printed")
}

// after validates the flags and returns the position after which the page begins.
func (p *pageFlags) after() (callwright.Keyset, error) {
	if p.limit < 1 || p.limit > access.MaxPage {
		return callwright.Keyset{}, usage(callwright.Invalid("limit", "must be from 1 to %d", access.MaxPage))
	}
	after, err := callwright.ParseCursor(p.cursor)
	if err != nil {
		return callwright.Keyset{}, usage(err)
	}
	return after, nil
}

// noticeNext prints the cursor of the next page as a notice. It prints nothing if the output is JSON, which contains the cursor.
func noticeNext(cmd *cobra.Command, next callwright.Keyset) {
	if !next.IsZero() && !asJSON(cmd) {
		notice(cmd, "there are more: --cursor %s", next.Cursor())
	}
}

// printOnce returns the error for a secret that could not be printed, or nil if printed is nil. The secret is valid already and cannot be
// shown again, so the error names the secret and the next step.
func printOnce(printed error, what, next string) error {
	if printed == nil {
		return nil
	}
	return refused(fmt.Errorf("%s was created but could not be printed (%w): %s", what, printed, next))
}

// checkKeyID returns an error if the argument is an API key instead of the id of a key.
func checkKeyID(id string) error {
	if strings.HasPrefix(id, "cwk_") {
		return usage(callwright.Invalid("key", "must be the id of a key, which callwright admin keys list shows, not the key itself: other users can read command lines"))
	}
	return nil
}

// stampIf returns a time in the format of the commands, or a dash for nil.
func stampIf(t *time.Time) string {
	if t == nil {
		return "-"
	}
	return stamp(*t)
}
