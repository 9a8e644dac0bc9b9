package sipua_test

import (
	"errors"
	"net"
	"strings"
	"testing"

	"github.com/callwright/callwright/adapters/sipua"
	"github.com/callwright/callwright/agents/call"
	"github.com/callwright/callwright/internal/testdns"
	"github.com/callwright/callwright/sip/resolve"
	"github.com/callwright/callwright/sip/self"
)

// TestCallsNotItself checks that a trunk whose server is the user agent itself, by any address or name, is not called, and that the hangup
// reason says so.
func TestCallsNotItself(t *testing.T) {
	t.Parallel()
	own := new(self.Server)
	dns := testdns.Start(t, "other.test. A 127.0.0.1", "sip.test. A 127.0.0.9")
	resolver, err := resolve.New(resolve.Config{DNS: dns.Resolver(), Self: own})
	if err != nil {
		t.Fatal(err)
	}
	for _, listen := range []string{"127.0.0.1:0", "0.0.0.0:0"} {
		a := newAgent(t, func(c *sipua.Config) {
			c.Self, c.Resolver, c.PublicHost, c.Listen = own, resolver, "sip.test", listen
		})
		_, port, err := net.SplitHostPort(a.Addr().String())
		if err != nil {
			t.Fatal(err)
		}
		for _, host := range []string{"127.0.0.1", "0.0.0.0", "[::ffff:127.0.0.1]", "other.test", "sip.test", "SIP.test."} {
			a.callsTo(t, host+":"+port)
			_, err := a.Dial(within(t), call.DialRequest{Org: org, From: alice, To: bob}, nil)
			reason, ok := errors.AsType[*call.HangupReason](err)
			if !ok || reason.Cause != call.CauseUnreachable || !strings.HasSuffix(reason.Reason, "this server itself listens there") {
				t.Errorf("listening at %s, a call to %s ended as %v", listen, host, err)
			}
		}
	}
}
