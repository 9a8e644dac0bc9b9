package dialog_test

import (
	"testing"
	"time"

	"github.com/callwright/callwright/sip/dialog"
)

// referred returns an inbound call whose peer's REFER, with CSeq 8, waits for a decision.
func referred(t *testing.T) *run {
	t.Helper()
	r := confirmedInbound(t).do(request(dialog.REFER, 8)).responded()
	if e := one[dialog.Referred](r); e.CSeq != 8 {
		t.Fatalf("%+v", e)
	}
	return r
}

// notified checks that the last event has sent a NOTIFY with the given status. The NOTIFY must end the subscription if final is set, and
// only then.
func notified(t *testing.T, r *run, status int, final bool) *run {
	t.Helper()
	for _, s := range all[dialog.Send](r.effects) {
		if s.Method == dialog.NOTIFY && s.Notify.Status == status && s.Notify.Final == final && s.Notify.Expires > 0 {
			return r
		}
	}
	t.Fatalf("no NOTIFY of %d in %+v", status, r.effects)
	return nil
}

func TestTransferByPeer(t *testing.T) {
	t.Parallel()
	accepted := func() *run {
		return notified(t, referred(t).do(dialog.Referral{Status: 202}).responded(202).sent(dialog.NOTIFY), 100, false)
	}
	done := func() *run {
		r := notified(t, accepted().do(dialog.Referral{Status: 200}).sent(dialog.NOTIFY), 200, true).phase(dialog.Active)
		if d, ok := armed(r, dialog.TimerGrace); !ok || d != time.Second {
			t.Errorf("grace %v", d)
		}
		return r
	}
	t.Run("refused", func(t *testing.T) {
		t.Parallel()
		r := referred(t).do(dialog.Referral{Status: 603, Warning: "w"}).responded(603).sent().phase(dialog.Active)
		one[dialog.Referred](r.do(request(dialog.REFER, 9)))
	})
	t.Run("succeeds, and we end it", func(t *testing.T) {
		t.Parallel()
		done().do(dialog.Fired{Timer: dialog.TimerGrace}).sent(dialog.BYE).
			do(dialog.Response{Method: dialog.BYE, CSeq: 3, Status: 200}).ended(dialog.TransferDone, 200, false)
	})
	t.Run("succeeds, and the peer ends it", func(t *testing.T) {
		t.Parallel()
		done().do(request(dialog.BYE, 9)).responded(200).ended(dialog.TransferDone, 200, true)
	})
	t.Run("rings", func(t *testing.T) {
		t.Parallel()
		r := notified(t, accepted().do(dialog.Referral{Status: 180}), 180, false)
		notified(t, r.do(dialog.Referral{Status: 200}), 200, true)
	})
	t.Run("fails, and may be tried again", func(t *testing.T) {
		t.Parallel()
		r := notified(t, accepted().do(dialog.Referral{Status: 486}).sent(dialog.NOTIFY), 486, true).phase(dialog.Active)
		none[dialog.Arm](r)
		r.do(request(dialog.REFER, 9), dialog.Referral{Status: 202})
		if s := one[dialog.Send](r); s.Notify.ID != 9 { // RFC 3515, section 2.4.6
			t.Errorf("%+v", s)
		}
		r.do(request(dialog.OPTIONS, 10)).responded(200)
	})
	t.Run("one at a time", func(t *testing.T) {
		t.Parallel()
		referred(t).do(request(dialog.REFER, 9)).responded(491)
		accepted().do(request(dialog.REFER, 9)).responded(491)
		done().do(request(dialog.REFER, 9)).responded(491)
		if got := one[dialog.Transferred](accepted().do(dialog.Transfer{To: "tel:+1"})); got.OK || got.Status != 491 {
			t.Errorf("%+v", got)
		}
		ours := inPhase(t, dialog.Active).do(dialog.Transfer{To: "tel:+1", Wait: time.Minute})
		ours.do(request(dialog.REFER, 9)).responded(491)
	})
	t.Run("the peer hangs up first", func(t *testing.T) {
		t.Parallel()
		accepted().do(request(dialog.BYE, 9)).responded(200).ended(dialog.RemoteHangup, 200, true).
			do(dialog.Referral{Status: 200}).sent()
		referred(t).do(request(dialog.BYE, 9)).responded(200, 487).ended(dialog.RemoteHangup, 200, true)
	})
	t.Run("we hang up first", func(t *testing.T) {
		t.Parallel()
		hangup := dialog.Hangup{Cause: dialog.LocalHangup}
		notified(t, accepted().do(hangup).sent(dialog.NOTIFY, dialog.BYE), 487, true)
		referred(t).do(hangup).responded(487).sent(dialog.BYE)
	})
	t.Run("the NOTIFY is challenged", func(t *testing.T) {
		t.Parallel()
		challenge := dialog.Response{Method: dialog.NOTIFY, CSeq: 1, Status: 401, Challenge: true}
		r := accepted().do(challenge)
		if s := one[dialog.Send](notified(t, r, 100, false)); !s.Authorize || s.CSeq != 2 {
			t.Errorf("%+v", s)
		}
		challenge.CSeq, challenge.Challenge = 2, false
		r.do(challenge).sent()
	})
	t.Run("a decision without a question", func(t *testing.T) {
		t.Parallel()
		confirmedInbound(t).do(dialog.Referral{Status: 202}).responded().sent()
	})
}
