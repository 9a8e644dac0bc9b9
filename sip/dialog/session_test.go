package dialog_test

import (
	"testing"
	"time"

	"github.com/callwright/callwright/sip/dialog"
)

func calledWith(t *testing.T, s dialog.Session) *run {
	t.Helper()
	answer := response(200)
	answer.Session = s
	return newRun(t, dialog.Config{Session: 30 * time.Minute}).do(dialog.Dial{Target: peerURI}, answer)
}

func TestWeRefreshTheSession(t *testing.T) {
	t.Parallel()
	r := calledWith(t, dialog.Session{Expires: 10 * time.Minute, Refresher: dialog.UAC})
	if d, _ := armed(r, dialog.TimerRefresh); d != 5*time.Minute {
		t.Errorf("refresh after %v", d)
	}
	if d, _ := armed(r, dialog.TimerExpire); d != 10*time.Minute-32*time.Second {
		t.Errorf("expires after %v", d)
	}
	r.do(dialog.Fired{Timer: dialog.TimerRefresh}).sent(dialog.INVITE)
	if s := one[dialog.Send](r); s.CSeq != 2 || s.Body != dialog.Offer || s.Session.Expires != 10*time.Minute ||
		s.Session.Refresher != dialog.UAC || s.RemoteTag != "theirs" || s.Via.RequestURI != contact {
		t.Errorf("%+v", s)
	}
	fine := response(200)
	fine.CSeq, fine.Contact, fine.Session = 2, "sip:moved@192.0.2.9", dialog.Session{Expires: 10 * time.Minute, Refresher: dialog.UAC}
	r.do(fine).sent(dialog.ACK)
	one[dialog.Renegotiated](r)
	if _, ok := armed(r, dialog.TimerRefresh); !ok {
		t.Error("no next refresh")
	}
	if bye := one[dialog.Send](r.do(dialog.Hangup{})); bye.Via.RequestURI != "sip:moved@192.0.2.9" {
		t.Errorf("BYE to %s", bye.Via.RequestURI)
	}
}

func TestPeerRefreshesTheSession(t *testing.T) {
	t.Parallel()
	r := calledWith(t, dialog.Session{Expires: 90 * time.Second, Refresher: dialog.UAS})
	if _, ok := armed(r, dialog.TimerRefresh); ok {
		t.Error("it is not up to us")
	}
	if d, _ := armed(r, dialog.TimerExpire); d != time.Minute {
		t.Errorf("expires after %v", d)
	}
	again := invite(3)
	again.Session = dialog.Session{Expires: 90 * time.Second, Refresher: dialog.UAC, Supported: true}
	r.do(again, dialog.Decide{Status: 200}).responded(200)
	if s := one[dialog.Respond](r).Session; s.Expires != 90*time.Second || s.Refresher != dialog.UAC {
		t.Errorf("%+v", s)
	}
	r.do(request(dialog.ACK, 3))
	if _, ok := armed(r, dialog.TimerExpire); !ok {
		t.Error("the session is not extended")
	}
	r.do(dialog.Fired{Timer: dialog.TimerExpire}).phase(dialog.Leaving).sent(dialog.BYE)
}

func TestWithoutSessionTimer(t *testing.T) {
	t.Parallel()
	none[dialog.Arm](calledWith(t, dialog.Session{}))
}

func TestCallerWishesASession(t *testing.T) {
	t.Parallel()
	for _, tt := range []struct{ wish, granted dialog.Session }{
		{dialog.Session{}, dialog.Session{}},
		{dialog.Session{Expires: time.Hour, Supported: true}, dialog.Session{Expires: time.Hour, Refresher: dialog.UAC, Supported: true}},
		{dialog.Session{Expires: time.Hour, Refresher: dialog.UAS, Supported: true}, dialog.Session{Expires: time.Hour, Refresher: dialog.UAS, Supported: true}},
		{dialog.Session{Expires: time.Hour}, dialog.Session{Expires: time.Hour, Refresher: dialog.UAS}}, // requested by a proxy
	} {
		in := invite(7)
		in.Session = tt.wish
		r := newRun(t, dialog.Config{}).do(dialog.Incoming{Request: in}, dialog.Answer{})
		if got := one[dialog.Respond](r).Session; got != tt.granted {
			t.Errorf("%+v grants %+v", tt.wish, got)
		}
		r.do(request(dialog.ACK, 7))
		if _, ours := armed(r, dialog.TimerRefresh); ours != (tt.granted.Refresher == dialog.UAS) {
			t.Errorf("%+v: we refresh: %t", tt.wish, ours)
		}
	}
}

func TestSessionTooShortForUs(t *testing.T) {
	t.Parallel()
	in := invite(7)
	in.Session = dialog.Session{Expires: 89 * time.Second, Supported: true}
	r := newRun(t, dialog.Config{}).do(dialog.Incoming{Request: in}).responded(422).ended(dialog.NotAcceptable, 422, false)
	if m := one[dialog.Respond](r).Session.MinSE; m != 90*time.Second {
		t.Errorf("Min-SE %v", m)
	}
	in.CSeq = 8
	confirmedInbound(t).do(in).responded(422).phase(dialog.Active)
}

func TestRefreshIsRefused(t *testing.T) {
	t.Parallel()
	refreshing := func(t *testing.T) *run {
		return calledWith(t, dialog.Session{Expires: 10 * time.Minute, Refresher: dialog.UAC}).
			do(dialog.Fired{Timer: dialog.TimerRefresh})
	}
	answer := func(status int) dialog.Response {
		r := response(status)
		r.CSeq = 2
		return r
	}
	t.Run("glare", func(t *testing.T) {
		t.Parallel()
		r := refreshing(t).do(answer(491))
		if d, ok := armed(r, dialog.TimerGlare); !ok || d < 2100*time.Millisecond || d > 4*time.Second {
			t.Errorf("waits %v", d)
		}
		r.do(dialog.Fired{Timer: dialog.TimerGlare}).sent(dialog.INVITE)
	})
	t.Run("glare of the called", func(t *testing.T) {
		t.Parallel()
		in := invite(7)
		in.Session = dialog.Session{Expires: time.Hour, Refresher: dialog.UAS, Supported: true}
		r := newRun(t, dialog.Config{}).do(dialog.Incoming{Request: in}, dialog.Answer{}, request(dialog.ACK, 7))
		r.do(dialog.Fired{Timer: dialog.TimerRefresh}).sent(dialog.INVITE)
		r.do(invite(8)).responded(491) // the peer's re-INVITE crosses ours
		pending := response(491)
		if d, ok := armed(r.do(pending), dialog.TimerGlare); !ok || d > 2*time.Second {
			t.Errorf("waits %v", d)
		}
	})
	t.Run("the peer has forgotten us", func(t *testing.T) {
		t.Parallel()
		refreshing(t).do(answer(481)).phase(dialog.Leaving).sent(dialog.BYE)
	})
	t.Run("another refusal", func(t *testing.T) {
		t.Parallel()
		refreshing(t).do(answer(488)).phase(dialog.Active).sent()
	})
	t.Run("too short", func(t *testing.T) {
		t.Parallel()
		short := answer(422)
		short.Session.MinSE = time.Hour
		r := refreshing(t).do(short).sent(dialog.INVITE)
		if s := one[dialog.Send](r); s.Session.Expires != time.Hour || s.CSeq != 3 {
			t.Errorf("%+v", s)
		}
	})
	t.Run("challenged", func(t *testing.T) {
		t.Parallel()
		challenge := answer(401)
		challenge.Challenge = true
		r := refreshing(t).do(challenge).sent(dialog.INVITE)
		if s := one[dialog.Send](r); !s.Authorize || s.CSeq != 3 {
			t.Errorf("%+v", s)
		}
		challenge.CSeq, challenge.Challenge = 3, false
		r.do(challenge).sent().phase(dialog.Active)
	})
	t.Run("while the peer asks", func(t *testing.T) {
		t.Parallel()
		r := calledWith(t, dialog.Session{Expires: 10 * time.Minute, Refresher: dialog.UAC}).do(invite(3))
		r.do(dialog.Fired{Timer: dialog.TimerRefresh}).sent()
		if _, ok := armed(r, dialog.TimerGlare); !ok {
			t.Error("the refresh is forgotten")
		}
	})
}
