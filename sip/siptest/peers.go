package siptest

import (
	"net/netip"
	"reflect"
	"slices"
	"testing"

	"github.com/callwright/callwright/sip"
	"github.com/callwright/callwright/sip/failover"
)

// tellsPeers checks that Peers pages through the peers of all organizations' trunks and returns no secrets.
func tellsPeers(t *testing.T, s sip.Store) {
	listed, out := trunk("a", "one", "+15550000001", sip.Inbound), trunk("b", "two", "+15550000002", sip.Outbound)
	listed.Options.AllowedIPs = []netip.Prefix{netip.MustParsePrefix("192.0.2.0/24")}
	listed.Options.Call = sip.Credentials{Username: "user", Password: "password"}
	registered := trunk("c", "two", "+15550000002", sip.Inbound)
	registered.Endpoint, registered.Options.AuthMode = "sip:registrar.example", sip.AuthRegister
	registered.Options.Register = sip.Credentials{Username: "user", Password: "password"}
	out.Endpoint, out.Options.Port = "sip:pbx.example", 5071
	out.Failover = &failover.Config{Enabled: true, Servers: []failover.Server{{Host: "one.example"}, {Host: "two.example", Port: 5062}}}
	insert(t, s, listed, out, registered)
	found, err := s.Peers(t.Context(), "", 2)
	if err != nil || len(found) != 2 || found[0].ID != "a" || found[1].ID != "b" {
		t.Fatalf("the first page is %+v, %v", found, err)
	}
	rest, err := s.Peers(t.Context(), "b", 2)
	if err != nil || len(rest) != 1 || rest[0].ID != "c" {
		t.Fatalf("the last page is %+v, %v", rest, err)
	}
	found = append(found, rest...)
	for _, want := range []sip.Trunk{listed, out, registered} {
		same := func(got sip.Trunk) bool {
			g, w := got.Options, want.Options
			return got.ID == want.ID && got.Number == want.Number && got.Direction == want.Direction && got.Endpoint == want.Endpoint && reflect.DeepEqual(got.Failover, want.Failover) &&
				g.Port == w.Port && g.AuthMode == w.AuthMode && slices.Equal(g.AllowedIPs, w.AllowedIPs)
		}
		if !slices.ContainsFunc(found, same) {
			t.Errorf("%s is not among %+v", want.ID, found)
		}
	}
	for _, got := range found {
		if got.Options.Call.Password != "" || got.Options.Register.Password != "" {
			t.Error("a secret is told")
		}
	}
}
