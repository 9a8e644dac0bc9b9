package cli_test

import (
	"bytes"
	"context"
	"strings"
	"testing"
	"time"

	"github.com/callwright/callwright/adapters/memstore"
	"github.com/callwright/callwright/transport/cli"
)

// TestSIPBans checks that a lifted ban is no longer listed, and that absent bans and invalid addresses are refused.
func TestSIPBans(t *testing.T) {
	t.Parallel()
	leases := memstore.Leases{Store: memstore.New()}
	now := time.Now()
	if _, err := leases.Claim(t.Context(), "sip-ban", "node", []string{"192.0.2.1"}, now, now.Add(10*time.Minute)); err != nil {
		t.Fatal(err)
	}
	c := cli.Config{Admin: func(context.Context, cli.Deployment) (*cli.Admin, error) {
		return &cli.Admin{Leases: leases, Close: func() error { return nil }}, nil
	}}
	run := func(want int, args ...string) string {
		t.Helper()
		var out bytes.Buffer
		if code := cli.Run(t.Context(), c, append([]string{"admin", "sip-bans"}, args...), func(string) string { return "" }, &out, &out); code != want {
			t.Errorf("%v: exit code %d: %s", args, code, out.String())
		}
		return out.String()
	}
	if out := run(0, "list"); !strings.Contains(out, "192.0.2.1") || !strings.Contains(out, "node") {
		t.Errorf("the list is %s", out)
	}
	run(cli.ExitRefused, "lift", "192.0.2.2")
	run(2, "lift", "pbx.example")
	if out := run(0, "lift", "192.0.2.1"); !strings.Contains(out, "192.0.2.1") {
		t.Errorf("lifting gave %s", out)
	}
	if out := run(0, "list"); strings.Contains(out, "192.0.2.1") {
		t.Errorf("after that the list is %s", out)
	}
}
