package sipua_test

import (
	"strings"
	"testing"

	"github.com/callwright/callwright/agents/call"
)

// TestCausesBothWays checks that our BYE and CANCEL contain a Reason header, and that the records contain the Reason of the peer's BYE,
// CANCEL or refusal.
func TestCausesBothWays(t *testing.T) {
	t.Parallel()
	t.Run("our BYE", func(t *testing.T) {
		t.Parallel()
		_, c, legs := taking(t)
		c.connected()
		l := legOf(t, legs)
		go func() { _ = l.Hangup(t.Context()) }()
		bye := c.request("BYE")
		if got := bye.get("Reason"); got != `Q.850;cause=16;text="Normal call clearing"` {
			t.Errorf("Reason: %s", got)
		}
		c.reply(bye, 200, "", "")
		if e := ends(t, l); e.SIPCode != 200 || e.Release != "" {
			t.Errorf("%+v", e)
		}
	})
	t.Run("our CANCEL", func(t *testing.T) {
		t.Parallel()
		p := place(t, nil)
		p.peer.reply(p.invite, 180, "x", "")
		<-p.rang
		p.giveUp()
		cancel := p.peer.request("CANCEL")
		if got := cancel.get("Reason"); !strings.HasPrefix(got, "Q.850;cause=16;") {
			t.Errorf("Reason: %s", got)
		}
		p.peer.reply(cancel, 200, "x", "")
		p.peer.reply(p.invite, 487, "x", "")
		p.peer.request("ACK")
	})
	t.Run("the peer's BYE", func(t *testing.T) {
		t.Parallel()
		a, records := watched(t, nil)
		legs := answer(t, a)
		c := newCaller(t, a)
		c.connected()
		l := legOf(t, legs)
		c.ask("BYE", "", `Reason: Q.850;cause=38;text="Network out of order"`, `Reason: SIP;cause=503`)
		c.response(200)
		const want = `Q.850;cause=38;text="Network out of order", SIP;cause=503`
		if e := ends(t, l); e.Release != want || e.SIPCode != 200 || e.Cause != call.CauseRemoteHangup {
			t.Errorf("%+v", e)
		}
		got := records.all(t, 1)[0]
		last := got.steps[len(got.steps)-3] // the step before the response and the final note
		if !strings.Contains(got.ended.Reason, want) || last.Method != "BYE" || last.Detail != "Reason: "+want {
			t.Errorf("%+v, %+v", got.ended, last)
		}
	})
	t.Run("the caller's CANCEL", func(t *testing.T) {
		t.Parallel()
		a, records := watched(t, nil)
		c := newCaller(t, a)
		c.ask("INVITE", offerSDP("RTP/SAVP"))
		c.comesIn(a)
		c.ask("CANCEL", "", "Reason: SIP;cause=200;text=\"Call completed elsewhere\"")
		for m := c.next(); m.status() != 487; m = c.next() {
		}
		c.ask("ACK", "")
		if r := records.all(t, 1)[0].ended; r.SIPCode != 487 || !strings.Contains(r.Reason, "completed elsewhere") {
			t.Errorf("%+v", r)
		}
	})
	t.Run("a refusal", func(t *testing.T) {
		t.Parallel()
		a, records := watched(t, nil)
		address, accept := listenWire(t, "127.0.0.1")
		a.callsTo(t, address)
		p := dial(t, a, toBob)
		w := accept()
		w.reply(w.request("INVITE"), 404, "x", "", "Reason: Q.850;cause=1")
		w.request("ACK")
		if e := p.fails(); e.Release != "Q.850;cause=1" || e.SIPCode != 404 {
			t.Errorf("%+v", e)
		}
		if r := records.all(t, 1)[0].ended; !strings.Contains(r.Reason, "Q.850;cause=1") {
			t.Errorf("%+v", r)
		}
	})
}

// TestTransferWithoutAResult checks that Transfer returns an error if the peer hangs up without a final NOTIFY, as many systems do after
// they accept a REFER.
func TestTransferWithoutAResult(t *testing.T) {
	t.Parallel()
	for name, tt := range map[string]struct {
		accepts bool
		want    string
	}{
		"accepted": {true, "reported no result (NOTIFY)"}, "not even that": {false, "reported no result of the transfer"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			_, c, legs := taking(t)
			c.connected()
			l := legOf(t, legs)
			result := make(chan error, 1)
			ctx := within(t)
			go func() { result <- l.Transfer(ctx, "+15550100009") }()
			refer := c.request("REFER")
			if tt.accepts {
				c.reply(refer, 202, "", "")
				c.ask("NOTIFY", "SIP/2.0 100 Trying\r\n", "Event: refer", "Subscription-State: active;expires=60")
				c.response(200)
			}
			c.ask("BYE", "")
			c.response(200)
			if err := <-result; err == nil || !strings.Contains(err.Error(), tt.want) {
				t.Errorf("%v", err)
			}
			ends(t, l)
		})
	}
}
