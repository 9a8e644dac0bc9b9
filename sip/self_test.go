package sip_test

import (
	"errors"
	"net/netip"
	"testing"

	"github.com/callwright/callwright"
	"github.com/callwright/callwright/sip"
	"github.com/callwright/callwright/sip/failover"
	"github.com/callwright/callwright/sip/self"
)

// TestNoTrunkToItself checks that trunks and failover servers that lead to this server itself are refused.
func TestNoTrunkToItself(t *testing.T) {
	t.Parallel()
	own := new(self.Server)
	own.Listen(netip.MustParseAddrPort("127.0.0.1:5061"))
	own.Name("sip.example.com", 5061)
	h := open(t, private, func(c *sip.Config) { c.Self = own })
	refused := func(err error) bool {
		e, ok := errors.AsType[*callwright.Error](err)
		return ok && e.Code == callwright.CodeBadRequest && e.Message == "must not be this server itself, which listens there"
	}
	const number = "+14155550100"
	attach := func(endpoint string, port int) error {
		in := sip.DirectionInput{Type: sip.Outbound, Endpoint: &endpoint}
		if port != 0 {
			in.Port = &port
		}
		done, err := h.Attach(t.Context(), "a", sip.Attachment{Numbers: []string{number}, Directions: []sip.DirectionInput{in}})
		if err == nil && len(done.Failed) > 0 {
			err = done.Failed[0].Err
		}
		return err
	}
	for _, c := range []struct {
		endpoint string
		port     int
		alone    bool // CheckEndpoint, which does not know the trunk's port, already refuses the endpoint, because the endpoint contains a port
		trunk    bool
	}{
		{"sip:localhost:5061;transport=tls", 0, true, true},
		{"sip:127.0.0.1:5061", 0, true, true},
		{"sip:0.0.0.0:5061", 0, true, true},
		{"sip:SIP.example.com:5061;transport=tls", 0, true, true},
		{"sip:localhost;transport=tls", 0, false, true},
		{"sip:sip.example.com", 0, false, true},
		{"sip:localhost", 5061, false, true},
		{"sip:localhost", 5071, false, false},
		{"sip:localhost:5071;transport=tls", 0, false, false},
		{"sip:sip.example.com:5071", 0, false, false},
	} {
		if err := h.CheckEndpoint(c.endpoint); refused(err) != c.alone || err != nil && !c.alone {
			t.Errorf("%s: checked, %v", c.endpoint, err)
		}
		if err := attach(c.endpoint, c.port); refused(err) != c.trunk || err != nil && !c.trunk {
			t.Errorf("%s, port %d: attached, %v", c.endpoint, c.port, err)
		}
	}
	for server, want := range map[failover.Server]bool{
		{Host: "localhost", Port: 5061}: true, {Host: "127.0.0.1"}: true, {Host: "sip.example.com"}: true, {Host: "localhost", Port: 5071}: false,
	} {
		config := failover.Config{Enabled: true, Servers: []failover.Server{server}}
		_, err := h.Configure(t.Context(), "a", sip.ConfigChange{
			Number: number, Direction: sip.Outbound, Failover: callwright.Optional[failover.Config]{Set: true, Value: &config},
		})
		if refused(err) != want || err != nil && !want {
			t.Errorf("%+v: %v", server, err)
		}
	}
}
