package discovery_test

import (
	"net/netip"
	"testing"
	"time"

	"github.com/callwright/callwright/sip/siptest"
	"github.com/callwright/callwright/sip/uri"
)

// TestProberConforms runs the conformance suite of Prober on the fake prober.
func TestProberConforms(t *testing.T) {
	t.Parallel()
	siptest.RunDiscoveryProber(t, func(*testing.T) siptest.DiscoveryProberHarness {
		p, last := &prober{peers: map[string]peer{}}, netip.MustParseAddr("192.0.2.0")
		return siptest.DiscoveryProberHarness{
			Prober: p, Host: "pbx.test",
			Server: func(_ *testing.T, transport uri.Transport, code int) netip.AddrPort {
				last = last.Next()
				at := netip.AddrPortFrom(last, 5061)
				there := answering(10 * time.Millisecond)
				if transport == uri.TLS {
					there = secured(10*time.Millisecond, true, true)
				}
				if there.answer.Code = code; code != 0 {
					p.mu.Lock()
					p.peers[at.String()+"/"+string(transport)] = there
					p.mu.Unlock()
				}
				return at
			},
			Down: func(*testing.T, uri.Transport) netip.AddrPort { return netip.AddrPortFrom(last.Next(), 1) },
		}
	})
}
