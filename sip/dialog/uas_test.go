package dialog_test

import (
	"slices"
	"testing"
	"time"

	"github.com/callwright/callwright/sip/dialog"
)

func TestInboundCall(t *testing.T) {
	t.Parallel()
	r := newRun(t, dialog.Config{}).do(dialog.Incoming{Request: invite(7)}).phase(dialog.Offered).responded(100)
	r.do(dialog.Ring{}).responded(180)
	r.do(dialog.Ring{}).responded()
	r.do(dialog.Answer{}).phase(dialog.Answered).responded(200)
	if a := one[dialog.Respond](r); a.Body != dialog.Reply || a.CSeq != 7 || a.Method != dialog.INVITE {
		t.Fatalf("answer: %+v", a)
	}
	none[dialog.Established](r)
	none[dialog.Established](r.do(request(dialog.ACK, 6))) // the ACK of another INVITE
	one[dialog.Established](r.do(request(dialog.ACK, 7)).phase(dialog.Active))
	r.do(request(dialog.BYE, 8)).responded(200).ended(dialog.RemoteHangup, 200, true)
	one[dialog.StopMedia](r)
	r.do(request(dialog.BYE, 9)).responded(481)
}

func TestLostACK(t *testing.T) {
	t.Parallel()
	const t1 = 10 * time.Millisecond
	r := newRun(t, dialog.Config{T1: t1, T2: 4 * t1}).do(dialog.Incoming{Request: invite(7)}, dialog.Answer{})
	if d, _ := armed(r, dialog.TimerACK); d != 64*t1 {
		t.Errorf("gives up after %v", d)
	}
	var waits []time.Duration
	for range 4 {
		d, _ := armed(r, dialog.TimerRetransmit)
		waits = append(waits, d)
		r.do(dialog.Fired{Timer: dialog.TimerRetransmit}).responded(200)
		if !one[dialog.Respond](r).Again {
			t.Error("not marked as a repetition")
		}
	}
	if want := []time.Duration{t1, 2 * t1, 4 * t1, 4 * t1}; !slices.Equal(waits, want) {
		t.Errorf("waits %v, not %v", waits, want)
	}
	r.do(dialog.Fired{Timer: dialog.TimerACK}).phase(dialog.Leaving).sent(dialog.BYE)
	r.do(dialog.Fired{Timer: dialog.TimerBye}).ended(dialog.NoACK, 200, false)
}

func TestCallerGivesUp(t *testing.T) {
	t.Parallel()
	inPhase(t, dialog.Offered).do(request(dialog.CANCEL, 7)).responded(200, 487).ended(dialog.Cancelled, 487, true)
	inPhase(t, dialog.Offered).do(dialog.Undelivered{Cancelled: true}).ended(dialog.Cancelled, 487, true)
	inPhase(t, dialog.Offered).do(dialog.Undelivered{}).ended(dialog.Unreachable, 0, true)
	// A CANCEL after the 200 has no effect.
	inPhase(t, dialog.Answered).do(request(dialog.CANCEL, 7)).responded(200).phase(dialog.Answered)
}

func TestWeRefuse(t *testing.T) {
	t.Parallel()
	r := inPhase(t, dialog.Offered).do(dialog.Reject{Status: 488, Cause: dialog.NotAcceptable, Warning: `399 x "y"`})
	r.responded(488).ended(dialog.NotAcceptable, 488, false)
	if w := one[dialog.Respond](r).Warning; w != `399 x "y"` {
		t.Errorf("warning %q", w)
	}
	inPhase(t, dialog.Offered).do(dialog.Hangup{Cause: dialog.LocalHangup}).responded(480).ended(dialog.LocalHangup, 480, false)
	inPhase(t, dialog.Offered).do(dialog.Fired{Timer: dialog.TimerRing}).responded(480).ended(dialog.NoAnswer, 480, false)
}

func TestUnsupportedExtension(t *testing.T) {
	t.Parallel()
	in := invite(7)
	in.Require = []string{"timer", "100rel", "precondition"}
	r := newRun(t, dialog.Config{}).do(dialog.Incoming{Request: in}).responded(420).ended(dialog.NotAcceptable, 420, false)
	if tags := one[dialog.Respond](r).Unsupported; !slices.Equal(tags, []string{"100rel", "precondition"}) {
		t.Errorf("unsupported: %v", tags)
	}
	later := invite(8)
	later.Require = []string{"x"}
	confirmedInbound(t).do(later).responded(420).phase(dialog.Active)
}

func TestOfferlessInvite(t *testing.T) {
	t.Parallel()
	in := invite(7)
	in.Body = false
	answered := func() *run { return newRun(t, dialog.Config{}).do(dialog.Incoming{Request: in}, dialog.Answer{}) }
	if b := one[dialog.Respond](answered()).Body; b != dialog.Offer {
		t.Errorf("the 200 has body %d", b)
	}
	ack := request(dialog.ACK, 7)
	ack.Body = true
	one[dialog.Established](answered().do(ack).phase(dialog.Active))
	ack.Body = false
	answered().do(ack).phase(dialog.Leaving).sent(dialog.BYE).
		do(dialog.Fired{Timer: dialog.TimerBye}).ended(dialog.NotAcceptable, 200, false)
	// The ACK must contain the answer, so a re-INVITE cannot replace it.
	answered().do(invite(8)).responded(491).phase(dialog.Answered)
	answered().do(request(dialog.BYE, 8)).responded(200).ended(dialog.RemoteHangup, 200, true)
}

func TestRequestOvertakesACK(t *testing.T) {
	t.Parallel()
	r := inPhase(t, dialog.Answered).do(request(dialog.BYE, 8)).responded(200).ended(dialog.RemoteHangup, 200, true)
	one[dialog.Established](r)
	r.do(request(dialog.ACK, 7)).sent()

	r = inPhase(t, dialog.Answered).do(invite(8)).phase(dialog.Active)
	one[dialog.Established](r)
	one[dialog.Negotiate](r)
	r.do(request(dialog.ACK, 7)) // arrives late
	r.do(dialog.Decide{Status: 200}).responded(200)
}

func TestHangupBeforeACK(t *testing.T) {
	t.Parallel()
	r := inPhase(t, dialog.Answered).do(dialog.Hangup{Cause: dialog.LocalHangup}).phase(dialog.Answered).sent()
	one[dialog.StopMedia](r)
	r.do(request(dialog.ACK, 7)).phase(dialog.Leaving).sent(dialog.BYE)
	none[dialog.Established](r)
	none[dialog.StopMedia](r)
}

func TestSecondInviteWhileRinging(t *testing.T) {
	t.Parallel()
	r := inPhase(t, dialog.Offered).do(invite(8)).responded(500).phase(dialog.Offered)
	later(r)
	inPhase(t, dialog.Offered).do(invite(7)).responded(500).phase(dialog.Offered)
}
