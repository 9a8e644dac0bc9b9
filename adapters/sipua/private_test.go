package sipua_test

import (
	"strings"
	"testing"

	"github.com/callwright/callwright/adapters/sipua"
)

// TestPrivateMediaAddress checks that a call from a peer behind NAT, whose SDP contains a private address, is accepted. Its media must send
// only to public addresses, even after a re-INVITE.
func TestPrivateMediaAddress(t *testing.T) {
	t.Parallel()
	a := newAgent(t, func(c *sipua.Config) { c.AllowPrivate = false })
	legs := answer(t, a)
	c := newCaller(t, a)
	c.ask("INVITE", offerSDP("RTP/SAVP"))
	c.response(180)
	c.taken()
	c.ask("ACK", "")
	l := <-legs
	c.ask("INVITE", strings.ReplaceAll(offerSDP("RTP/SAVP"), "127.0.0.1", "10.0.0.7"))
	c.response(200)
	c.ask("ACK", "")
	c.ask("BYE", "")
	c.response(200)
	ends(t, l)
	got := a.media.last(t).negotiated()
	if len(got) != 2 || !got[0].PublicOnly || !got[1].PublicOnly || got[1].RemoteRTP.Addr().String() != "10.0.0.7" {
		t.Errorf("negotiated %+v", got)
	}
}
