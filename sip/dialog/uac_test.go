package dialog_test

import (
	"testing"
	"time"

	"github.com/callwright/callwright/sip/dialog"
)

func TestOutboundCall(t *testing.T) {
	t.Parallel()
	r := newRun(t, dialog.Config{Session: 30 * time.Minute}).do(dialog.Dial{Target: peerURI, Ring: time.Minute})
	first := one[dialog.Send](r)
	if first.Method != dialog.INVITE || first.CSeq != 1 || first.Body != dialog.Offer || first.Via.RequestURI != peerURI ||
		first.Session.Expires != 30*time.Minute || first.Session.MinSE != dialog.MinSE {
		t.Fatalf("INVITE: %+v", first)
	}
	if d, ok := armed(r, dialog.TimerRing); !ok || d != time.Minute {
		t.Errorf("ring timer: %v %v", d, ok)
	}

	none[dialog.Ringing](r.do(response(100)).phase(dialog.Proceeding))
	one[dialog.Ringing](r.do(response(180)))
	none[dialog.Ringing](r.do(response(180)))
	none[dialog.EarlyMedia](r.do(withBody(response(183))))

	r.do(response(200)).phase(dialog.Active).sent(dialog.ACK)
	one[dialog.Established](r)
	if ack := one[dialog.Send](r); ack.CSeq != 1 || ack.Via.RequestURI != contact || ack.RemoteTag != "theirs" {
		t.Errorf("ACK: %+v", ack)
	}
	r.do(response(200)).sent(dialog.ACK) // a retransmission is acknowledged again
	none[dialog.Established](r)

	r.do(dialog.Hangup{Cause: dialog.LocalHangup}).phase(dialog.Leaving).sent(dialog.BYE)
	one[dialog.StopMedia](r)
	if bye := one[dialog.Send](r); bye.CSeq != 2 {
		t.Errorf("BYE: %+v", bye)
	}
	r.do(dialog.Response{Method: dialog.BYE, CSeq: 2, Status: 200}).ended(dialog.LocalHangup, 200, false)
}

func TestRefusals(t *testing.T) {
	t.Parallel()
	for _, tt := range []struct {
		response dialog.Response
		cause    dialog.Cause
	}{
		{response(486), dialog.Busy},
		{response(600), dialog.Busy},
		{response(603), dialog.Rejected},
		{response(404), dialog.Rejected},
		{response(302), dialog.Redirected},
		{response(480), dialog.NoAnswer},
		{response(408), dialog.NoAnswer},
		{response(487), dialog.Cancelled},
		{response(488), dialog.NotAcceptable},
		{response(401), dialog.AuthFailed},
		{response(503), dialog.Overload},
		{response(504), dialog.Unreachable},
	} {
		r := newRun(t, dialog.Config{}).do(dialog.Dial{Target: peerURI}, response(100), tt.response)
		r.ended(tt.cause, tt.response.Status, true).sent()
	}
	lost := response(503)
	lost.Local = true
	newRun(t, dialog.Config{}).do(dialog.Dial{Target: peerURI}, lost).ended(dialog.Unreachable, 503, false)
}

func TestChallenge(t *testing.T) {
	t.Parallel()
	challenge := response(407)
	challenge.Challenge = true
	r := newRun(t, dialog.Config{}).do(dialog.Dial{Target: peerURI}, challenge).phase(dialog.Calling).sent(dialog.INVITE)
	if s := one[dialog.Send](r); !s.Authorize || s.CSeq != 2 {
		t.Fatalf("second INVITE: %+v", s)
	}
	again := challenge
	again.CSeq, again.Challenge = 2, false
	refused := *r
	refused.do(again).ended(dialog.AuthFailed, 407, true)

	again.Challenge = true
	r.do(again).phase(dialog.Calling).sent(dialog.INVITE)
	forbidden := response(403) // means that the callee declines
	forbidden.CSeq = 3
	r.do(forbidden).ended(dialog.Rejected, 403, true)
}

// TestChallengesEndSomewhere checks that each request answers a limited number of challenges, but enough for all servers of a long path.
func TestChallengesEndSomewhere(t *testing.T) {
	t.Parallel()
	for m, r := range map[dialog.Method]*run{
		dialog.INVITE: newRun(t, dialog.Config{}).do(dialog.Dial{Target: peerURI}),
		dialog.BYE:    inPhase(t, dialog.Leaving),
		dialog.REFER:  inPhase(t, dialog.Active).do(dialog.Transfer{To: "tel:+15550009", Wait: time.Minute}),
	} {
		for tries := range 6 {
			s := one[dialog.Send](r)
			if s.Method != m || s.Authorize != (tries > 0) {
				t.Fatalf("%s after %d challenges: %+v", m, tries, s)
			}
			r.do(dialog.Response{Method: m, CSeq: s.CSeq, Status: 401, Challenge: true})
		}
		r.sent()
	}
}

func TestSessionTooShortForThePeer(t *testing.T) {
	t.Parallel()
	short := response(422)
	short.Session.MinSE = time.Hour
	r := newRun(t, dialog.Config{Session: 30 * time.Minute}).do(dialog.Dial{Target: peerURI}, short).phase(dialog.Calling)
	if s := one[dialog.Send](r); s.Session.Expires != time.Hour || s.Session.MinSE != time.Hour {
		t.Errorf("second INVITE: %+v", s.Session)
	}
	short.CSeq = 2 // a 422 with the same Min-SE is not retried, because it would recur endlessly
	r.do(short).ended(dialog.Rejected, 422, true)
}

func TestCancelWaitsForProvisional(t *testing.T) {
	t.Parallel()
	r := newRun(t, dialog.Config{}).do(dialog.Dial{Target: peerURI}, dialog.Hangup{Cause: dialog.Cancelled})
	r.phase(dialog.Canceling).sent()
	one[dialog.StopMedia](r)
	r.do(response(100)).sent(dialog.CANCEL)
	if s := one[dialog.Send](r); s.CSeq != 1 || s.Via.RequestURI != peerURI {
		t.Errorf("CANCEL: %+v", s)
	}
	r.do(response(180)).sent()
	r.do(response(487)).ended(dialog.Cancelled, 487, false)
}

// withBody returns a response with a session description.
func withBody(r dialog.Response) dialog.Response {
	r.Body = true
	return r
}

func TestEarlyMedia(t *testing.T) {
	t.Parallel()
	r := newRun(t, dialog.Config{}).do(dialog.Dial{Target: peerURI, Ring: time.Minute})
	one[dialog.EarlyMedia](r.do(withBody(response(183))))
	none[dialog.Ringing](r)
	none[dialog.EarlyMedia](r.do(withBody(response(183))))
	none[dialog.Ringing](r.do(response(180)))
}

func TestCancelAtOnceAfterRinging(t *testing.T) {
	t.Parallel()
	inPhase(t, dialog.Proceeding).do(dialog.Hangup{Cause: dialog.Cancelled}).sent(dialog.CANCEL)
}

func TestRingTimeoutCancels(t *testing.T) {
	t.Parallel()
	r := inPhase(t, dialog.Proceeding).do(dialog.Fired{Timer: dialog.TimerRing}).phase(dialog.Canceling).sent(dialog.CANCEL)
	r.do(response(487)).ended(dialog.NoAnswer, 487, false)
	if !one[dialog.Ended](r).Rang {
		t.Error("it rang")
	}
}

func TestCancelCrossesAnswer(t *testing.T) {
	t.Parallel()
	r := inPhase(t, dialog.Canceling).do(response(200)).phase(dialog.Leaving).sent(dialog.ACK, dialog.BYE)
	none[dialog.Established](r)
	r.do(dialog.Response{Method: dialog.BYE, CSeq: 2, Status: 200}).ended(dialog.LocalHangup, 200, false)
}

func TestAnswerAfterTheEnd(t *testing.T) {
	t.Parallel()
	r := inPhase(t, dialog.Canceling).do(dialog.Fired{Timer: dialog.TimerCancel}).ended(dialog.LocalHangup, 180, false)
	r.do(response(200)).sent(dialog.ACK, dialog.BYE)
	for _, s := range all[dialog.Send](r.effects) {
		if !s.Stray || s.RemoteTag != "theirs" || s.Via.RequestURI != contact {
			t.Errorf("%+v", s)
		}
	}
	r.do(response(200)).sent(dialog.ACK) // a retransmission is acknowledged, without another BYE
	none[dialog.Ended](r)
}

func TestForkedAnswer(t *testing.T) {
	t.Parallel()
	r := inPhase(t, dialog.Active)
	other := response(200)
	other.RemoteTag, other.Contact = "other", "sip:other@192.0.2.8"
	r.do(other).phase(dialog.Active).sent(dialog.ACK, dialog.BYE)
	for _, s := range all[dialog.Send](r.effects) {
		if !s.Stray || s.RemoteTag != "other" || s.Via.RequestURI != other.Contact {
			t.Errorf("%+v", s)
		}
	}
	r.do(other).sent(dialog.ACK)
	r.do(dialog.Hangup{Cause: dialog.LocalHangup}).sent(dialog.BYE)
	if bye := one[dialog.Send](r); bye.RemoteTag != "theirs" || bye.Stray {
		t.Errorf("BYE: %+v", bye)
	}
}

func TestAnswerWithoutDescription(t *testing.T) {
	t.Parallel()
	bare := response(200)
	bare.Body = false
	inPhase(t, dialog.Proceeding).do(bare).phase(dialog.Leaving).sent(dialog.ACK, dialog.BYE).
		do(dialog.Response{Method: dialog.BYE, CSeq: 2, Status: 200}).ended(dialog.NotAcceptable, 200, false)
}

func TestRouteSets(t *testing.T) {
	t.Parallel()
	lr := func(uri string) dialog.Route { return dialog.Route{URI: uri, Loose: true} }
	strict := func(uri string) dialog.Route { return dialog.Route{URI: uri} }
	for _, tt := range []struct {
		name   string
		record []dialog.Route // top down, as in the INVITE or its 2xx
		uac    dialog.Path
		uas    dialog.Path
	}{
		{"none", nil,
			dialog.Path{RequestURI: contact, NextHop: contact}, dialog.Path{RequestURI: contact, NextHop: contact}},
		{"one loose", []dialog.Route{lr("sip:p1;lr")},
			dialog.Path{RequestURI: contact, Routes: []dialog.Route{lr("sip:p1;lr")}, NextHop: "sip:p1;lr"},
			dialog.Path{RequestURI: contact, Routes: []dialog.Route{lr("sip:p1;lr")}, NextHop: "sip:p1;lr"}},
		{"three loose", []dialog.Route{lr("sip:p3;lr"), lr("sip:p2;lr"), lr("sip:p1;lr")},
			dialog.Path{RequestURI: contact, Routes: []dialog.Route{lr("sip:p1;lr"), lr("sip:p2;lr"), lr("sip:p3;lr")}, NextHop: "sip:p1;lr"},
			dialog.Path{RequestURI: contact, Routes: []dialog.Route{lr("sip:p3;lr"), lr("sip:p2;lr"), lr("sip:p1;lr")}, NextHop: "sip:p3;lr"}},
		{"strict", []dialog.Route{strict("sip:p2"), strict("sip:p1")},
			dialog.Path{RequestURI: "sip:p1", Routes: []dialog.Route{strict("sip:p2"), {URI: contact}}, NextHop: "sip:p1"},
			dialog.Path{RequestURI: "sip:p2", Routes: []dialog.Route{strict("sip:p1"), {URI: contact}}, NextHop: "sip:p2"}},
	} {
		answer := response(200)
		answer.Routes = tt.record
		r := newRun(t, dialog.Config{}).do(dialog.Dial{Target: peerURI}, answer)
		samePath(t, tt.name+": ACK", one[dialog.Send](r).Via, tt.uac)
		samePath(t, tt.name+": BYE", one[dialog.Send](r.do(dialog.Hangup{})).Via, tt.uac)

		in := invite(7)
		in.Routes = tt.record
		r = newRun(t, dialog.Config{}).do(dialog.Incoming{Request: in}, dialog.Answer{}, request(dialog.ACK, 7), dialog.Hangup{})
		samePath(t, tt.name+": BYE of the called", one[dialog.Send](r).Via, tt.uas)
	}
}

func samePath(t *testing.T, what string, got, want dialog.Path) {
	t.Helper()
	same := got.RequestURI == want.RequestURI && got.NextHop == want.NextHop && len(got.Routes) == len(want.Routes)
	for i := range min(len(got.Routes), len(want.Routes)) {
		same = same && got.Routes[i] == want.Routes[i]
	}
	if !same {
		t.Errorf("%s: %+v, not %+v", what, got, want)
	}
}
