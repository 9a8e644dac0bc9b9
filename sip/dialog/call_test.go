package dialog_test

import (
	"errors"
	"slices"
	"testing"
	"time"

	"github.com/callwright/callwright/sip/dialog"
)

// run applies events to a call, and stores the effects of the last event.
type run struct {
	t       *testing.T
	call    dialog.Call
	effects []dialog.Effect
}

func newRun(t *testing.T, cfg dialog.Config) *run {
	t.Helper()
	cfg.LocalTag = "ours"
	return &run{t: t, call: dialog.NewCall(cfg)}
}

func (r *run) do(events ...dialog.Event) *run {
	r.t.Helper()
	for _, ev := range events {
		var err error
		if r.call, r.effects, err = r.call.Next(ev); err != nil {
			r.t.Fatalf("%#v: %v", ev, err)
		}
	}
	return r
}

func (r *run) phase(want dialog.Phase) *run {
	r.t.Helper()
	if r.call.Phase() != want {
		r.t.Fatalf("phase is %s, not %s", r.call.Phase(), want)
	}
	return r
}

// sent checks the methods of the requests that the last event has sent.
func (r *run) sent(want ...dialog.Method) *run {
	r.t.Helper()
	var got []dialog.Method
	for _, s := range all[dialog.Send](r.effects) {
		got = append(got, s.Method)
	}
	if !slices.Equal(got, want) {
		r.t.Fatalf("sent %v, not %v", got, want)
	}
	return r
}

// responded checks the statuses of the responses that the last event has sent.
func (r *run) responded(want ...int) *run {
	r.t.Helper()
	var got []int
	for _, s := range all[dialog.Respond](r.effects) {
		got = append(got, s.Status)
	}
	if !slices.Equal(got, want) {
		r.t.Fatalf("responded %v, not %v", got, want)
	}
	return r
}

// ended checks that the call is over, with the ending that the last event has caused.
func (r *run) ended(cause dialog.Cause, status int, byPeer bool) *run {
	r.t.Helper()
	r.phase(dialog.Over)
	got := one[dialog.Ended](r)
	if got.Cause != cause || got.Status != status || got.ByPeer != byPeer {
		r.t.Fatalf("ended with %+v, not %s %d by peer %t", got, cause, status, byPeer)
	}
	return r
}

func all[E dialog.Effect](effects []dialog.Effect) []E {
	var found []E
	for _, e := range effects {
		if e, ok := e.(E); ok {
			found = append(found, e)
		}
	}
	return found
}

func one[E dialog.Effect](r *run) E {
	r.t.Helper()
	found := all[E](r.effects)
	if len(found) != 1 {
		r.t.Fatalf("%d effects of type %T in %+v", len(found), *new(E), r.effects)
	}
	return found[0]
}

func none[E dialog.Effect](r *run) {
	r.t.Helper()
	if found := all[E](r.effects); len(found) > 0 {
		r.t.Fatalf("unexpected %+v", found)
	}
}

func armed(r *run, timer dialog.Timer) (time.Duration, bool) {
	for _, a := range all[dialog.Arm](r.effects) {
		if a.Timer == timer {
			return a.After, true
		}
	}
	return 0, false
}

const (
	peerURI = "sip:+15550001@peer.example:5061;transport=tls"
	contact = "sip:agent@192.0.2.7:5061;transport=tls"
)

func response(status int) dialog.Response {
	r := dialog.Response{Method: dialog.INVITE, CSeq: 1, Status: status, RemoteTag: "theirs"}
	if status >= 200 && status < 300 {
		r.Body, r.Contact = true, contact
	}
	return r
}

func request(m dialog.Method, cseq uint32) dialog.Request {
	return dialog.Request{Method: m, CSeq: cseq, RemoteTag: "theirs"}
}

func invite(cseq uint32) dialog.Request {
	return dialog.Request{Method: dialog.INVITE, CSeq: cseq, RemoteTag: "theirs", Contact: contact, Body: true}
}

// inPhase returns a run whose call has been brought to a phase.
func inPhase(t *testing.T, p dialog.Phase) *run {
	t.Helper()
	r := newRun(t, dialog.Config{})
	hangup := dialog.Hangup{Cause: dialog.LocalHangup}
	switch p {
	case dialog.New:
	case dialog.Calling:
		r.do(dialog.Dial{Target: peerURI, Ring: time.Minute})
	case dialog.Proceeding:
		r.do(dialog.Dial{Target: peerURI, Ring: time.Minute}, response(180))
	case dialog.Canceling:
		r.do(dialog.Dial{Target: peerURI, Ring: time.Minute}, response(180), hangup)
	case dialog.Offered:
		r.do(dialog.Incoming{Request: invite(7), Ring: time.Minute})
	case dialog.Answered:
		r.do(dialog.Incoming{Request: invite(7)}, dialog.Ring{}, dialog.Answer{})
	case dialog.Active:
		r.do(dialog.Dial{Target: peerURI}, response(180), response(200))
	case dialog.Leaving:
		r.do(dialog.Dial{Target: peerURI}, response(200), hangup)
	case dialog.Over:
		r.do(dialog.Dial{Target: peerURI}, response(486))
	}
	return r.phase(p)
}

var allPhases = []dialog.Phase{
	dialog.New, dialog.Calling, dialog.Proceeding, dialog.Canceling, dialog.Offered, dialog.Answered, dialog.Active,
	dialog.Leaving, dialog.Over,
}

// samples contains at least one event of every kind. Requests and responses have several methods and statuses.
var samples = []dialog.Event{
	dialog.Dial{Target: peerURI}, dialog.Incoming{Request: invite(7)}, dialog.Ring{}, dialog.Answer{},
	dialog.Reject{Status: 486, Cause: dialog.Busy}, dialog.Hangup{Cause: dialog.LocalHangup},
	dialog.Transfer{To: "tel:+15550009", Wait: time.Minute}, dialog.Decide{Status: 200}, dialog.Undelivered{},
	request(dialog.ACK, 7), request(dialog.BYE, 8), invite(8), request(dialog.CANCEL, 7), request(dialog.REFER, 8),
	request(dialog.NOTIFY, 8), request(dialog.OPTIONS, 8),
	response(180), response(200), response(486),
	dialog.Response{Method: dialog.BYE, CSeq: 2, Status: 200}, dialog.Response{Method: dialog.REFER, CSeq: 2, Status: 202},
	dialog.Response{Method: dialog.NOTIFY, CSeq: 2, Status: 200}, dialog.Fired{Timer: dialog.TimerRing}, dialog.Referral{Status: 202},
}

// legal is a table of the legal events, written from the RFC and independent of the code's table. Each column is an event of samples; "x"
// means that the phase handles it, "." that it is refused.
var legal = map[dialog.Phase]string{
	//                   DialIncoRingAnswRejeHangTranDeciUndeACKBYEINVCANREFNOTOPT1xx2xx4xxbyerefnotTimerReferral
	dialog.New:        "xx......................",
	dialog.Calling:    ".....x..........xxx...x.",
	dialog.Proceeding: ".....x..........xxx...x.",
	dialog.Canceling:  ".....x..........xxx...x.",
	dialog.Offered:    "..xxxx..xxxxxxxx......x.",
	dialog.Answered:   ".....x..xxxxxxxx......x.",
	dialog.Active:     ".....xxxxxxxxxxxxxxxxxxx",
	dialog.Leaving:    ".....x.xxxxxxxxxxxxxxxxx",
	dialog.Over:       ".....x.xxxxxxxxxxxxxxxxx",
}

func TestEveryPhaseKnowsOrRefusesEveryEvent(t *testing.T) {
	t.Parallel()
	for _, p := range allPhases {
		row := legal[p]
		if len(row) != len(samples) {
			t.Fatalf("%s: the row has %d columns, not %d", p, len(row), len(samples))
		}
		for i, ev := range samples {
			before := inPhase(t, p).call
			after, effects, err := before.Next(ev)
			switch {
			case row[i] == 'x' && err != nil:
				t.Errorf("%s: %T %+v: %v", p, ev, ev, err)
			case row[i] == '.' && !errors.Is(err, dialog.ErrRefused):
				t.Errorf("%s: %T %+v is not refused", p, ev, ev)
			case row[i] == '.' && (len(effects) > 0 || after.Phase() != p):
				t.Errorf("%s: refused %T, but %s with %v", p, ev, after.Phase(), effects)
			}
		}
	}
	unknown := dialog.Request{Method: "INFO", CSeq: 9}
	if _, _, err := inPhase(t, dialog.Active).call.Next(unknown); !errors.Is(err, dialog.ErrRefused) {
		t.Errorf("INFO: %v", err)
	}
}

// TestEveryRequestIsAnswered checks that in every phase after the answer, a BYE, CANCEL, REFER, NOTIFY or OPTIONS immediately receives
// exactly one response, except a REFER that awaits a decision.
func TestEveryRequestIsAnswered(t *testing.T) {
	t.Parallel()
	for _, p := range []dialog.Phase{dialog.Answered, dialog.Active, dialog.Leaving, dialog.Over} {
		for _, m := range []dialog.Method{dialog.BYE, dialog.CANCEL, dialog.REFER, dialog.NOTIFY, dialog.OPTIONS} {
			r := inPhase(t, p).do(request(m, 8))
			if asked := all[dialog.Referred](r.effects); len(asked) == 1 && asked[0].CSeq == 8 {
				continue
			}
			if got := all[dialog.Respond](r.effects); len(got) != 1 || got[0].Method != m || got[0].CSeq != 8 {
				t.Errorf("%s in %s: %+v", m, p, got)
			}
		}
	}
}

func TestNamesAreComplete(t *testing.T) {
	t.Parallel()
	for _, p := range allPhases {
		if p.String() == "unknown" || p.String() == "" {
			t.Errorf("phase %d has no name", p)
		}
	}
	if dialog.Phase(99).String() != "unknown" || dialog.Kind(99).String() != "unknown" || dialog.KindFired.String() != "timer" {
		t.Error("names are off")
	}
}
