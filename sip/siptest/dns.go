package siptest

import (
	"context"
	"errors"
	"fmt"
	"net"
	"net/netip"
	"slices"
	"testing"

	"github.com/callwright/callwright/sip/resolve"
)

// Zone lists the records, in the syntax of a zone file, that the server of a resolve.DNS under test serves.
var Zone = []string{
	"pbx.callwright.test. 60 IN A 192.0.2.7",
	"pbx.callwright.test. 60 IN A 192.0.2.8",
	"pbx.callwright.test. 60 IN AAAA 2001:db8::7",
	"_sips._tcp.callwright.test. 60 IN SRV 10 60 5061 pbx.callwright.test.",
	"_sips._tcp.callwright.test. 60 IN SRV 20 0 5071 backup.callwright.test.",
}

// RunDNS tests a resolve.DNS whose server serves the records of Zone.
func RunDNS(t *testing.T, newDNS func(t *testing.T) resolve.DNS) {
	t.Helper()
	t.Run("finds addresses", func(t *testing.T) {
		t.Parallel()
		dns := newDNS(t)
		for network, want := range map[string]string{"ip4": "[192.0.2.7 192.0.2.8]", "ip6": "[2001:db8::7]"} {
			got, err := dns.LookupNetIP(t.Context(), network, "pbx.callwright.test.")
			for i := range got {
				got[i] = got[i].Unmap()
			}
			slices.SortFunc(got, netip.Addr.Compare)
			if fmt.Sprint(got) != want || err != nil {
				t.Errorf("%s: %v, %v; want %s", network, got, err, want)
			}
		}
	})
	t.Run("finds SRV records", func(t *testing.T) {
		t.Parallel()
		_, got, err := newDNS(t).LookupSRV(t.Context(), "sips", "tcp", "callwright.test.")
		if err != nil || len(got) != 2 {
			t.Fatalf("got %v, %v", got, err)
		}
		if r := *got[0]; r != (net.SRV{Target: "pbx.callwright.test.", Port: 5061, Priority: 10, Weight: 60}) {
			t.Errorf("the first is %+v", r)
		}
		if r := *got[1]; r != (net.SRV{Target: "backup.callwright.test.", Port: 5071, Priority: 20}) {
			t.Errorf("the second is %+v", r)
		}
	})
	t.Run("tells absent names", func(t *testing.T) {
		t.Parallel()
		dns := newDNS(t)
		_, addressErr := dns.LookupNetIP(t.Context(), "ip4", "none.callwright.test.")
		_, _, srvErr := dns.LookupSRV(t.Context(), "sips", "tcp", "none.callwright.test.")
		for what, err := range map[string]error{"addresses": addressErr, "SRV records": srvErr} {
			if e, ok := errors.AsType[*net.DNSError](err); !ok || !e.IsNotFound {
				t.Errorf("%s of an absent name: %v", what, err)
			}
		}
	})
	t.Run("stops with its context", func(t *testing.T) {
		t.Parallel()
		ctx, cancel := context.WithCancel(t.Context())
		cancel()
		if got, err := newDNS(t).LookupNetIP(ctx, "ip4", "pbx.callwright.test."); err == nil {
			t.Errorf("got %v", got)
		}
	})
}
