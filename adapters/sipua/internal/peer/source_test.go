package peer_test

import (
	"net/netip"
	"testing"

	"github.com/callwright/callwright/adapters/sipua/internal/peer"
)

func TestSource(t *testing.T) {
	t.Parallel()
	for _, c := range []struct{ local, to, want string }{
		{"192.0.2.1", "198.51.100.7", "192.0.2.1"}, {"::ffff:192.0.2.1", "198.51.100.7", "192.0.2.1"}, {"2001:db8::1", "2001:db8::2", "2001:db8::1"},
		{"127.0.0.2", "127.0.0.1", "127.0.0.2"}, {"127.0.0.1", "198.51.100.7", ""}, {"0.0.0.0", "198.51.100.7", ""}, {"::", "2001:db8::2", ""},
		{"192.0.2.1", "2001:db8::2", ""}, {"", "198.51.100.7", ""},
	} {
		local, _ := netip.ParseAddr(c.local)
		want, _ := netip.ParseAddr(c.want)
		if got := peer.Source(local, netip.MustParseAddr(c.to)); got != want {
			t.Errorf("from %s to %s: %s, want %s", c.local, c.to, got, c.want)
		}
	}
}
