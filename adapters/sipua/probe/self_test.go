package probe_test

import (
	"testing"

	"github.com/callwright/callwright/adapters/sipua/probe"
	trunk "github.com/callwright/callwright/sip"
	"github.com/callwright/callwright/sip/discovery"
	"github.com/callwright/callwright/sip/self"
	"github.com/callwright/callwright/sip/uri"
)

// TestAsksNotItself checks that a prober does not send a request to an address of its own server, which would answer.
func TestAsksNotItself(t *testing.T) {
	t.Parallel()
	cert, _ := issue(t, "127.0.0.1")
	peer := respond(t, uri.TLS, &cert, answers("200 OK", "", ""))
	own := new(self.Server)
	own.Listen(peer.address)
	p := newProber(t, nil, func(c *probe.Config) { c.Self = own })
	if e := p.Options(within(t, patience), serverAt("127.0.0.1", peer), trunk.VerifyFull); e.Alive || e.Reason != self.Reason {
		t.Errorf("the server is %+v", e)
	}
	a := p.Probe(within(t, patience), discovery.Probe{Address: peer.address, Transport: uri.TLS, Host: "127.0.0.1"})
	if a.Code != 0 || a.Error != self.Reason {
		t.Errorf("the attempt is %+v", a)
	}
}
