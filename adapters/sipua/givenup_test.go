package sipua_test

import (
	"context"
	"testing"

	"github.com/callwright/callwright/agents/call"
)

// TestGivenUpAndNeverConfirmed checks that a canceled call ends even if the peer never sends a final response to the INVITE, and that the
// record contains the peer's last response.
func TestGivenUpAndNeverConfirmed(t *testing.T) {
	t.Parallel()
	a, records := watched(t, nil)
	address, accept := listenWire(t, "127.0.0.1")
	a.callsTo(t, address)
	p := dial(t, a, toBob)
	w := accept()
	w.reply(w.request("INVITE"), 180, "x", "")
	<-p.rang
	p.giveUp()
	w.request("CANCEL")
	if e := p.fails(); e.Cause != call.CauseCancelled || e.SIPCode != 180 {
		t.Errorf("%+v", e)
	}
	if r := records.all(t, 1)[0].ended; r.SIPCode != 180 || r.Status != "180 Ringing" {
		t.Errorf("%+v", r)
	}
}

// TestGivenUpBeforeOurAnswer checks that Answer refuses the call if its context has already ended.
func TestGivenUpBeforeOurAnswer(t *testing.T) {
	t.Parallel()
	a := newAgent(t, nil)
	c := newCaller(t, a)
	c.ask("INVITE", offerSDP("RTP/SAVP"))
	in, err := a.Accept(within(t))
	if err != nil {
		t.Fatal(err)
	}
	c.response(180)
	ctx, giveUp := context.WithCancel(within(t))
	giveUp()
	_, err = in.Answer(ctx)
	if e := endingOf(t, err); e.Cause != call.CauseCancelled || e.SIPCode != 480 {
		t.Errorf("%+v", e)
	}
	c.response(480)
}
