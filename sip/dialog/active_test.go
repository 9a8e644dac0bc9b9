package dialog_test

import (
	"testing"
	"time"

	"github.com/callwright/callwright/sip/dialog"
)

func confirmedInbound(t *testing.T) *run {
	t.Helper()
	return inPhase(t, dialog.Answered).do(request(dialog.ACK, 7)).phase(dialog.Active)
}

func TestPeerHoldsAndResumes(t *testing.T) {
	t.Parallel()
	r := confirmedInbound(t)
	for cseq := uint32(8); cseq < 10; cseq++ {
		moved := invite(cseq)
		moved.Contact = "sip:moved@192.0.2.9"
		one[dialog.Negotiate](r.do(moved).responded())
		r.do(dialog.Decide{Status: 200}).responded(200)
		if a := one[dialog.Respond](r); a.CSeq != cseq || a.Body != dialog.Reply {
			t.Errorf("%+v", a)
		}
		r.do(request(dialog.ACK, cseq))
		if got := all[dialog.Disarm](r.effects); len(got) == 0 {
			t.Error("the answer is still repeated")
		}
	}
	// The re-INVITE has changed the remote target.
	if bye := one[dialog.Send](r.do(dialog.Hangup{})); bye.Via.RequestURI != "sip:moved@192.0.2.9" {
		t.Errorf("BYE to %s", bye.Via.RequestURI)
	}
}

func TestReinviteRefused(t *testing.T) {
	t.Parallel()
	r := confirmedInbound(t).do(invite(8), dialog.Decide{Status: 488, Warning: "w"}).responded(488).phase(dialog.Active)
	none[dialog.Arm](r)
	r.do(dialog.Decide{Status: 200}).responded() // without a waiting offer, Decide has no effect
}

func TestOfferlessReinvite(t *testing.T) {
	t.Parallel()
	again := invite(8)
	again.Body = false
	r := confirmedInbound(t).do(again).responded(200)
	if b := one[dialog.Respond](r).Body; b != dialog.Offer {
		t.Errorf("body %d", b)
	}
	ack := request(dialog.ACK, 8)
	ack.Body = true
	one[dialog.Renegotiated](r.do(ack))
}

func TestReinviteIsNotAcknowledged(t *testing.T) {
	t.Parallel()
	r := confirmedInbound(t).do(invite(8), dialog.Decide{Status: 200})
	r.do(dialog.Fired{Timer: dialog.TimerRetransmit}).responded(200)
	r.do(dialog.Fired{Timer: dialog.TimerACK}).phase(dialog.Leaving).sent(dialog.BYE)
}

func TestReinviteIsCancelled(t *testing.T) {
	t.Parallel()
	r := confirmedInbound(t).do(invite(8), dialog.Decide{Status: 200}, dialog.Undelivered{Cancelled: true}).phase(dialog.Active)
	r.do(dialog.Fired{Timer: dialog.TimerACK}).phase(dialog.Active).sent()
}

func TestOverlappingReinvites(t *testing.T) {
	t.Parallel()
	r := confirmedInbound(t).do(invite(8), invite(9)).responded(500)
	later(r)
	r.do(request(dialog.BYE, 10)).responded(200, 487).ended(dialog.RemoteHangup, 200, true)
	hung := confirmedInbound(t).do(invite(8), dialog.Hangup{Cause: dialog.LocalHangup})
	hung.responded(487).sent(dialog.BYE)
}

// later checks that a 500 response has a Retry-After of at most 10 seconds (RFC 3261, section 14.2).
func later(r *run) {
	r.t.Helper()
	if d := one[dialog.Respond](r).RetryAfter; d < time.Second || d > 10*time.Second {
		r.t.Errorf("try again in %s", d)
	}
}

func TestOldRequestIsRefused(t *testing.T) {
	t.Parallel()
	r := confirmedInbound(t).do(request(dialog.OPTIONS, 20)).responded(200)
	r.do(request(dialog.OPTIONS, 19)).responded(500)
	r.do(request(dialog.BYE, 20)).responded(500).phase(dialog.Active)
	r.do(request(dialog.BYE, 21)).responded(200).phase(dialog.Over)
}

func TestByesCross(t *testing.T) {
	t.Parallel()
	inPhase(t, dialog.Leaving).do(request(dialog.BYE, 1)).responded(200).ended(dialog.LocalHangup, 200, false)
}

func TestByeIsChallenged(t *testing.T) {
	t.Parallel()
	challenge := dialog.Response{Method: dialog.BYE, CSeq: 2, Status: 407, Challenge: true}
	r := inPhase(t, dialog.Leaving).do(challenge).sent(dialog.BYE)
	if s := one[dialog.Send](r); !s.Authorize || s.CSeq != 3 {
		t.Errorf("%+v", s)
	}
	challenge.CSeq = 3 // as if from another server on the path
	r.do(challenge).sent(dialog.BYE)
	refused := dialog.Response{Method: dialog.BYE, CSeq: 4, Status: 407}
	r.do(refused).ended(dialog.LocalHangup, 200, false)
}

func TestTransfer(t *testing.T) {
	t.Parallel()
	start := func() *run {
		r := inPhase(t, dialog.Active).do(dialog.Transfer{To: "tel:+15550009", Wait: time.Minute}).sent(dialog.REFER)
		if s := one[dialog.Send](r); s.ReferTo != "tel:+15550009" {
			t.Errorf("%+v", s)
		}
		return r
	}
	accepted := dialog.Response{Method: dialog.REFER, CSeq: 2, Status: 202}
	notify := func(cseq uint32, progress int, final bool) dialog.Request {
		n := request(dialog.NOTIFY, cseq)
		n.Progress, n.Final = progress, final
		return n
	}
	result := func(r *run, want dialog.Transferred) *run {
		t.Helper()
		if got := one[dialog.Transferred](r); got != want {
			t.Errorf("%+v, not %+v", got, want)
		}
		return r
	}

	t.Run("succeeds", func(t *testing.T) {
		t.Parallel()
		r := start()
		none[dialog.Transferred](r.do(accepted))
		none[dialog.Transferred](r.do(notify(1, 100, false)).responded(200))
		result(r.do(notify(2, 200, true)).responded(200), dialog.Transferred{OK: true, Status: 200}).phase(dialog.Active)
		if d, ok := armed(r, dialog.TimerGrace); !ok || d != time.Second {
			t.Errorf("grace %v", d)
		}
		r.do(dialog.Fired{Timer: dialog.TimerGrace}).sent(dialog.BYE)
		r.do(dialog.Response{Method: dialog.BYE, CSeq: 3, Status: 200}).ended(dialog.TransferDone, 200, false)
	})
	t.Run("peer ends it", func(t *testing.T) {
		t.Parallel()
		start().do(accepted, notify(1, 200, true), request(dialog.BYE, 2)).ended(dialog.TransferDone, 200, true)
	})
	t.Run("notified before it is accepted", func(t *testing.T) {
		t.Parallel()
		result(start().do(notify(1, 100, false), accepted, notify(2, 200, false)), dialog.Transferred{OK: true, Status: 200})
	})
	t.Run("refused", func(t *testing.T) {
		t.Parallel()
		refused := accepted
		refused.Status = 603
		result(start().do(refused), dialog.Transferred{Status: 603}).phase(dialog.Active)
	})
	t.Run("challenged", func(t *testing.T) {
		t.Parallel()
		challenge := accepted
		challenge.Status, challenge.Challenge = 401, true
		r := start().do(challenge).sent(dialog.REFER)
		if s := one[dialog.Send](r); !s.Authorize || s.ReferTo != "tel:+15550009" {
			t.Errorf("%+v", s)
		}
		challenge.Challenge = false
		result(r.do(challenge), dialog.Transferred{Status: 401})
	})
	t.Run("target is busy", func(t *testing.T) {
		t.Parallel()
		r := result(start().do(accepted, notify(1, 486, true)), dialog.Transferred{Status: 486}).phase(dialog.Active)
		r.do(dialog.Transfer{To: "tel:+15550008", Wait: time.Minute}).sent(dialog.REFER)
	})
	t.Run("subscription ends without a word", func(t *testing.T) {
		t.Parallel()
		result(start().do(accepted, notify(1, 0, true)), dialog.Transferred{Accepted: true})
	})
	t.Run("silence", func(t *testing.T) {
		t.Parallel()
		result(start().do(accepted, dialog.Fired{Timer: dialog.TimerTransfer}), dialog.Transferred{Accepted: true}).phase(dialog.Active)
	})
	t.Run("call ends under it", func(t *testing.T) {
		t.Parallel()
		result(start().do(accepted, request(dialog.BYE, 1)), dialog.Transferred{Accepted: true}).ended(dialog.RemoteHangup, 200, true)
	})
	t.Run("one at a time", func(t *testing.T) {
		t.Parallel()
		result(start().do(dialog.Transfer{To: "tel:+1"}).sent(), dialog.Transferred{Status: 491})
	})
}

func TestUnexpectedNotify(t *testing.T) {
	t.Parallel()
	confirmedInbound(t).do(request(dialog.NOTIFY, 8)).responded(481).phase(dialog.Active)
}
