package sipua_test

import (
	"net/netip"
	"testing"
)

// A connection stays for a message of any kind, also for one that is refused.
func TestConnectionsAreKnownByTheirMessages(t *testing.T) {
	t.Parallel()
	a := newAgent(t, nil)
	for method, status := range map[string]int{"OPTIONS": 200, "BYE": 481, "FOO": 501} {
		c := newCaller(t, a)
		us := netip.MustParseAddrPort(c.conn.LocalAddr().String())
		c.raw("\r\n\r\n")
		if a.Known(us) {
			t.Error("a keep-alive is taken for a message")
		}
		c.ask(method, "")
		if c.response(status); !a.Known(us) {
			t.Errorf("%s is not noticed", method)
		}
	}
}
