package sipua_test

import (
	"strings"
	"testing"

	"github.com/callwright/callwright/adapters/sipua"
	"github.com/callwright/callwright/agents/call"
)

// Where private addresses are forbidden, no description leads media to one: neither an offer, nor an answer, nor a later
// offer of the same call.
func TestPrivateMediaAddressIsRefused(t *testing.T) {
	t.Parallel()
	public := strings.ReplaceAll(offerSDP("RTP/SAVP"), "127.0.0.1", "203.0.113.9")
	publicOnly := func(c *sipua.Config) { c.AllowPrivate = false }
	t.Run("offer", func(t *testing.T) {
		t.Parallel()
		a, j := watched(t, publicOnly)
		c := newCaller(t, a)
		c.ask("INVITE", offerSDP("RTP/SAVP"))
		if r := c.response(488); !strings.Contains(r.get("Warning"), "399") || !strings.Contains(r.get("Warning"), "public") {
			t.Errorf("%v", r.header)
		}
		if e := j.all(t, 1)[0].ended; !strings.Contains(e.Reason, "public") || e.SIPCode != 488 {
			t.Errorf("%+v", e)
		}
		if len(a.media.sessions) != 0 {
			t.Error("media was opened")
		}
	})
	t.Run("answer", func(t *testing.T) {
		t.Parallel()
		a, j := watched(t, publicOnly)
		go func() {
			if p, err := a.Accept(t.Context()); err == nil {
				_, _ = p.Answer(t.Context())
			}
		}()
		c := newCaller(t, a)
		c.ask("INVITE", "")
		c.response(180)
		c.taken()
		c.ask("ACK", answerSDP())
		c.reply(c.request("BYE"), 200, "", "")
		if e := j.all(t, 1)[0].ended; e.Cause != string(call.CauseNotAcceptable) || !strings.Contains(e.Reason, "public") {
			t.Errorf("%+v", e)
		}
		if n := len(a.media.last(t).negotiated()); n != 0 {
			t.Errorf("%d negotiations were applied", n)
		}
	})
	t.Run("later offer", func(t *testing.T) {
		t.Parallel()
		a := newAgent(t, publicOnly)
		legs := answer(t, a)
		c := newCaller(t, a)
		c.ask("INVITE", public)
		c.response(180)
		c.taken()
		c.ask("ACK", "")
		l := <-legs
		c.ask("INVITE", offerSDP("RTP/SAVP"))
		c.response(488)
		c.ask("ACK", "")
		c.ask("OPTIONS", "")
		c.response(200) // the call goes on
		if n := a.media.last(t).negotiated(); len(n) != 1 || !n[0].PublicOnly {
			t.Errorf("%+v", n)
		}
		c.ask("BYE", "")
		c.response(200)
		ends(t, l)
	})
}
