package sipua_test

import (
	"net/netip"
	"testing"
)

// TestConnectionsAreKnownByTheirMessages checks that any SIP message, even one that is refused, marks its connection as known, and that a
// keep-alive does not.
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

// TestOptionsFollowsReadiness checks that OPTIONS receives 503 with Retry-After while the server is not ready, and permanently after Leave.
func TestOptionsFollowsReadiness(t *testing.T) {
	t.Parallel()
	a := newAgent(t, nil)
	c := newCaller(t, a)
	for i, tt := range []struct {
		change func()
		status int
	}{
		{func() {}, 200},
		{func() { a.Ready(false) }, 503},
		{func() { a.Ready(true) }, 200},
		{a.Leave, 503},
		{func() { a.Ready(true) }, 503},
	} {
		tt.change()
		c.ask("OPTIONS", "")
		if r := c.response(tt.status); tt.status == 503 && r.get("Retry-After") == "" {
			t.Errorf("%d: no Retry-After", i)
		}
	}
}
