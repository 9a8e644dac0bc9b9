package cli_test

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"os"
	"strings"
	"testing"
	"time"

	cw "github.com/callwright/callwright"
	"github.com/callwright/callwright/access"
	"github.com/callwright/callwright/adapters/memstore"
	"github.com/callwright/callwright/adapters/memstore/orgstore"
	"github.com/callwright/callwright/transport/cli"
)

// administration returns a function that runs an admin command on a deployment in memory with the organization acme.
func administration(t *testing.T) func(to *bytes.Buffer, args ...string) (code int, stderr string) {
	t.Helper()
	store := memstore.New()
	s, err := access.New(access.Config{Store: orgstore.Tenants{Store: store}, Atomic: store, Secret: cw.Secret(make([]byte, 32))})
	if err != nil {
		t.Fatal(err)
	}
	if _, err := s.CreateOrganization(t.Context(), "acme", "Acme"); err != nil {
		t.Fatal(err)
	}
	open := func(context.Context, cli.Deployment) (*cli.Admin, error) {
		return &cli.Admin{Access: s, Close: func() error { return nil }}, nil
	}
	return func(to *bytes.Buffer, args ...string) (int, string) {
		var errs bytes.Buffer
		code := cli.Run(t.Context(), cli.Config{Admin: open}, append([]string{"admin"}, args...), func(string) string { return "" }, to, &errs)
		return code, errs.String()
	}
}

// FuzzExpiresIn checks that any --expires-in is refused, or makes a key that does not expire or has a valid lifetime.
func FuzzExpiresIn(f *testing.F) {
	for _, text := range []string{"90d", "0", "0d", "24h", "1h30m", "-1h", "d", "9999999999999d", "106751d", "4294967296d", "1e9h", " 1h", "2562047h48m"} {
		f.Add(text)
	}
	f.Fuzz(func(t *testing.T, text string) {
		var out bytes.Buffer
		code, errs := administration(t)(&out, "--json", "keys", "create", "ci", "--org", "acme", "--expires-in="+text)
		var made struct {
			Key struct {
				CreatedAt time.Time  `json:"created_at"`
				ExpiresAt *time.Time `json:"expires_at"`
			} `json:"key"`
		}
		switch {
		case code != 0:
			if out.Len() > 0 || errs == "" {
				t.Errorf("%q: exit code %d, %s%s", text, code, out.String(), errs)
			}
		case json.Unmarshal(out.Bytes(), &made) != nil:
			t.Errorf("%q printed %s", text, out.String())
		case made.Key.ExpiresAt != nil && (!made.Key.ExpiresAt.After(made.Key.CreatedAt) || made.Key.ExpiresAt.Sub(made.Key.CreatedAt) > access.MaxLifetime):
			t.Errorf("%q made a key that expires at %s", text, made.Key.ExpiresAt)
		}
	})
}

// full is a writer that always fails.
type full struct{}

func (full) Write([]byte) (int, error) { return 0, errors.New("no space left") }

// TestAKeyThatIsNotPrinted checks that the error names the new key if the key could not be printed, so that the user can revoke it.
func TestAKeyThatIsNotPrinted(t *testing.T) {
	t.Parallel()
	store := memstore.New()
	s, err := access.New(access.Config{Store: orgstore.Tenants{Store: store}, Atomic: store, Secret: cw.Secret(make([]byte, 32))})
	if err != nil {
		t.Fatal(err)
	}
	if _, err := s.CreateOrganization(t.Context(), "acme", "Acme"); err != nil {
		t.Fatal(err)
	}
	c := cli.Config{Admin: func(context.Context, cli.Deployment) (*cli.Admin, error) {
		return &cli.Admin{Access: s, Close: func() error { return nil }}, nil
	}}
	var errs bytes.Buffer
	code := cli.Run(t.Context(), c, []string{"admin", "keys", "create", "ci", "--org", "acme"}, func(string) string { return "" }, full{}, &errs)
	page, err := s.Keys(t.Context(), "acme", cw.Keyset{}, 10)
	if err != nil || len(page.Items) != 1 || code != cli.ExitRefused || !strings.Contains(errs.String(), page.Items[0].ID) || !strings.Contains(errs.String(), "revoke it") {
		t.Errorf("exit code %d, %s: %+v, %v", code, errs.String(), page, err)
	}
}

// TestSecretAlone checks that -o - prints only the secret, so that its output can be piped, creates no file named "-", and is refused
// together with --json.
func TestSecretAlone(t *testing.T) {
	t.Parallel()
	run := administration(t)
	for _, args := range [][]string{{"keys", "create", "ci", "--org", "acme"}, {"webhook-secret", "rotate", "acme"}} {
		var out bytes.Buffer
		code, errs := run(&out, append(args, "-o", "-")...)
		if secret := strings.TrimSuffix(out.String(), "\n"); code != 0 || len(secret) < 20 || strings.ContainsAny(secret, " \t\n") {
			t.Errorf("%s: exit code %d, %q, %s", args, code, out.String(), errs)
		}
		out.Reset()
		if code, errs := run(&out, append([]string{"--json"}, append(args, "-o", "-")...)...); code != cli.ExitUsage || !strings.Contains(errs, "-o -") {
			t.Errorf("%s with --json: exit code %d, %s, %s", args, code, out.String(), errs)
		}
	}
	if _, err := os.Lstat("-"); err == nil {
		t.Error("there is a file named -")
	}
}
