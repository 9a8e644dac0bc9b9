package dialog_test

import (
	"errors"
	"slices"
	"testing"
	"time"

	"pgregory.net/rapid"

	"github.com/callwright/callwright/sip/dialog"
)

// model observes a call from outside, and checks the invariants after every event.
type model struct {
	t    *rapid.T
	call dialog.Call

	timers  map[dialog.Timer]bool
	seq     uint32 // highest CSeq that the call has used
	invites map[uint32]bool
	heard   map[uint32]bool // our INVITEs that received a 1xx
	cancels map[uint32]bool
	byes    int
	ended   int
	stopped int
	asked   map[dialog.Method]uint32 // last CSeq of the peer's requests, by method
	owed    map[uint32]bool          // INVITEs of the peer without a final response
	peerSeq uint32
	judged  map[uint32]bool // REFERs of the peer that wait for the owner's decision
	tells   bool            // a REFER of the peer was accepted, and its final NOTIFY was not sent yet
}

func newModel(t *rapid.T) *model {
	return &model{
		t: t, timers: map[dialog.Timer]bool{}, invites: map[uint32]bool{}, heard: map[uint32]bool{},
		cancels: map[uint32]bool{}, owed: map[uint32]bool{}, asked: map[dialog.Method]uint32{}, peerSeq: 6,
		judged: map[uint32]bool{},
		call: dialog.NewCall(dialog.Config{
			LocalTag: "ours", Seed: rapid.Uint64().Draw(t, "seed"),
			Session: rapid.SampledFrom([]time.Duration{0, 30 * time.Minute}).Draw(t, "session"),
		}),
	}
}

func (m *model) apply(ev dialog.Event) {
	was := m.call.Phase()
	next, effects, err := m.call.Next(ev)
	if errors.Is(err, dialog.ErrRefused) {
		return
	}
	if f, ok := ev.(dialog.Fired); ok {
		delete(m.timers, f.Timer)
	}
	m.call = next
	switch ev := ev.(type) {
	case dialog.Incoming:
		m.owed[ev.CSeq] = true
	case dialog.Request:
		if ev.Method == dialog.INVITE {
			m.owed[ev.CSeq] = true
		}
	case dialog.Undelivered:
		if was == dialog.Offered || was == dialog.Answered {
			clear(m.owed)
		}
	}
	for _, e := range effects {
		m.effect(e)
	}
	m.rules(ev, effects)
}

func (m *model) effect(e dialog.Effect) {
	if m.ended > 0 {
		switch e := e.(type) {
		case dialog.Send:
			if e.Method != dialog.ACK && !(e.Method == dialog.BYE && e.Stray) {
				m.t.Fatalf("%s after the end", e.Method)
			}
		case dialog.Respond:
		default:
			m.t.Fatalf("%T after the end", e)
		}
	}
	switch e := e.(type) {
	case dialog.Arm:
		m.timers[e.Timer] = true
	case dialog.Disarm:
		delete(m.timers, e.Timer)
	case dialog.StopMedia:
		m.stopped++
	case dialog.Ended:
		m.ended++
		if e.Cause == "" {
			m.t.Fatal("an end without a cause")
		}
	case dialog.Established, dialog.Negotiate, dialog.Renegotiated:
		if m.stopped > 0 {
			m.t.Fatalf("%T after the media stopped", e)
		}
	case dialog.Referred:
		if len(m.judged) > 0 || m.tells {
			m.t.Fatal("two transfers by the peer at once")
		}
		m.judged[e.CSeq] = true
	case dialog.Respond:
		if e.Method == dialog.REFER {
			delete(m.judged, e.CSeq)
			m.tells = m.tells || e.Status == 202
		}
		if e.Method == dialog.INVITE && e.Status >= 200 && !e.Again {
			if !m.owed[e.CSeq] {
				m.t.Fatalf("a second final answer to INVITE %d", e.CSeq)
			}
			delete(m.owed, e.CSeq)
		}
	case dialog.Send:
		m.send(e)
	}
}

func (m *model) send(s dialog.Send) {
	if s.Via.RequestURI == "" || s.Via.NextHop == "" {
		m.t.Fatalf("%s goes nowhere", s.Method)
	}
	if ends := s.Method == dialog.BYE || s.Method == dialog.CANCEL; ends != (s.Why != "") {
		m.t.Fatalf("%s with the cause %q", s.Method, s.Why)
	}
	switch {
	case s.Stray:
	case s.Method == dialog.CANCEL:
		if !m.invites[s.CSeq] || !m.heard[s.CSeq] || m.cancels[s.CSeq] {
			m.t.Fatalf("CANCEL of %d: sent %v, heard %v, cancelled %v", s.CSeq, m.invites, m.heard, m.cancels)
		}
		m.cancels[s.CSeq] = true
	case s.Method == dialog.ACK:
		if !m.invites[s.CSeq] {
			m.t.Fatalf("ACK of an INVITE %d that was never sent", s.CSeq)
		}
	default:
		if s.CSeq <= m.seq {
			m.t.Fatalf("%s goes back to CSeq %d", s.Method, s.CSeq)
		}
		m.seq = s.CSeq
		if s.Method == dialog.NOTIFY && !s.Authorize {
			if !m.tells || s.Notify.Final != (s.Notify.Status >= 200) {
				m.t.Fatalf("NOTIFY %+v without a subscription, or its end", s.Notify)
			}
			m.tells = !s.Notify.Final
		}
		if s.Method == dialog.INVITE {
			m.invites[s.CSeq] = true
		}
		if s.Method == dialog.BYE && !s.Authorize {
			if m.byes++; m.byes > 1 {
				m.t.Fatal("a second BYE")
			}
		}
	}
}

func (m *model) rules(ev dialog.Event, effects []dialog.Effect) {
	if m.ended > 1 || m.stopped > 1 {
		m.t.Fatalf("ended %d times, media stopped %d times", m.ended, m.stopped)
	}
	if m.ended == 1 {
		if m.call.Phase() != dialog.Over || m.stopped != 1 || len(m.timers) > 0 || len(m.owed)+len(m.judged) > 0 {
			m.t.Fatalf("ended in %s, media stopped %d times, timers %v, unanswered %v", m.call.Phase(), m.stopped, m.timers, m.owed)
		}
	}
	switch ev := ev.(type) {
	case dialog.Response:
		if ev.Method == dialog.INVITE && ev.Status/100 == 2 {
			acked := func(s dialog.Send) bool {
				return s.Method == dialog.ACK && s.CSeq == ev.CSeq && s.RemoteTag == ev.RemoteTag
			}
			if !slices.ContainsFunc(all[dialog.Send](effects), acked) {
				m.t.Fatalf("%+v is not acknowledged: %+v", ev, effects)
			}
		}
	case dialog.Request:
		finals := 0
		for _, r := range all[dialog.Respond](effects) {
			if r.Method == ev.Method && r.CSeq == ev.CSeq && r.Status >= 200 && !r.Again {
				finals++
			}
		}
		if waits := m.owed[ev.CSeq] && ev.Method == dialog.INVITE || m.judged[ev.CSeq]; ev.Method != dialog.ACK && finals != 1 && !waits {
			m.t.Fatalf("%s has %d final answers: %+v", ev.Method, finals, effects)
		}
	}
}

// request returns a random request of the peer, mostly in order, sometimes with an old CSeq or a gap.
func (m *model) request() dialog.Event {
	method := rapid.SampledFrom([]dialog.Method{
		dialog.ACK, dialog.ACK, dialog.BYE, dialog.INVITE, dialog.CANCEL, dialog.REFER, dialog.NOTIFY, dialog.OPTIONS,
	}).Draw(m.t, "method")
	r := dialog.Request{
		Method: method, RemoteTag: "theirs", Body: rapid.Bool().Draw(m.t, "body"),
		Progress: rapid.SampledFrom([]int{0, 100, 200, 486}).Draw(m.t, "progress"), Final: rapid.Bool().Draw(m.t, "final"),
		Session: m.session(),
	}
	switch {
	case method == dialog.ACK || method == dialog.CANCEL:
		r.CSeq = m.asked[dialog.INVITE]
	default:
		m.peerSeq += rapid.SampledFrom([]uint32{1, 1, 1, 2}).Draw(m.t, "gap")
		r.CSeq = m.peerSeq
		if rapid.IntRange(0, 9).Draw(m.t, "old") == 0 {
			r.CSeq -= 3
		}
	}
	if m.owed[r.CSeq] { // the transaction layer would absorb a repeated INVITE
		r.CSeq = m.peerSeq + 1
		m.peerSeq++
	}
	if method == dialog.INVITE {
		r.Contact = contact
		if rapid.IntRange(0, 7).Draw(m.t, "require") == 0 {
			r.Require = []string{"100rel"}
		}
	}
	m.asked[method] = r.CSeq
	return r
}

func (m *model) response() dialog.Event {
	cseq := uint32(rapid.IntRange(1, int(max(m.seq, 1))).Draw(m.t, "cseq"))
	method := dialog.INVITE
	if !m.invites[cseq] {
		method = rapid.SampledFrom([]dialog.Method{dialog.BYE, dialog.REFER, dialog.NOTIFY}).Draw(m.t, "method")
	}
	r := dialog.Response{
		Method: method, CSeq: cseq,
		Status:    rapid.SampledFrom([]int{100, 180, 183, 200, 200, 202, 401, 408, 422, 481, 486, 491, 503}).Draw(m.t, "status"),
		RemoteTag: rapid.SampledFrom([]string{"theirs", "theirs", "theirs", "fork"}).Draw(m.t, "tag"),
		Body:      rapid.IntRange(0, 5).Draw(m.t, "body") > 0, Contact: contact,
		Local: rapid.Bool().Draw(m.t, "local"), Session: m.session(),
	}
	r.Challenge = r.Status == 401 && rapid.Bool().Draw(m.t, "challenge")
	if method == dialog.INVITE && r.Status < 200 {
		m.heard[cseq] = true
	}
	return r
}

func (m *model) session() dialog.Session {
	return dialog.Session{
		Expires:   rapid.SampledFrom([]time.Duration{0, 0, 30 * time.Second, time.Hour}).Draw(m.t, "expires"),
		MinSE:     rapid.SampledFrom([]time.Duration{0, 2 * time.Hour}).Draw(m.t, "minse"),
		Refresher: rapid.SampledFrom([]dialog.Refresher{"", dialog.UAC, dialog.UAS}).Draw(m.t, "refresher"),
		Supported: rapid.Bool().Draw(m.t, "timer"),
	}
}

func (m *model) timer() dialog.Event {
	running := make([]dialog.Timer, 0, len(m.timers))
	for t := range m.timers {
		running = append(running, t)
	}
	if len(running) == 0 {
		return dialog.Fired{Timer: dialog.TimerGrace}
	}
	slices.Sort(running)
	return dialog.Fired{Timer: rapid.SampledFrom(running).Draw(m.t, "timer")}
}

func (m *model) command() dialog.Event {
	return rapid.SampledFrom([]dialog.Event{
		dialog.Ring{}, dialog.Answer{}, dialog.Answer{}, dialog.Decide{Status: 200}, dialog.Decide{Status: 488},
		dialog.Reject{Status: 486, Cause: dialog.Busy}, dialog.Hangup{Cause: dialog.LocalHangup},
		dialog.Transfer{To: "tel:+1", Wait: time.Minute}, dialog.Undelivered{}, dialog.Undelivered{Cancelled: true},
		dialog.Referral{Status: 202}, dialog.Referral{Status: 180}, dialog.Referral{Status: 200}, dialog.Referral{Status: 603},
	}).Draw(m.t, "command")
}

func (m *model) start() {
	if rapid.Bool().Draw(m.t, "outbound") {
		m.apply(dialog.Dial{Target: peerURI, Ring: time.Minute})
		return
	}
	in := invite(m.peerSeq)
	in.Body, in.Session = rapid.Bool().Draw(m.t, "offer"), m.session()
	m.asked[dialog.INVITE] = m.peerSeq
	m.apply(dialog.Incoming{Request: in, Ring: time.Minute})
}

func TestRulesHoldInEveryOrder(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		m := newModel(t)
		m.start()
		for range rapid.IntRange(0, 40).Draw(t, "steps") {
			switch rapid.IntRange(0, 9).Draw(t, "what") {
			case 0, 1, 2:
				m.apply(m.request())
			case 3, 4, 5, 6:
				m.apply(m.response())
			case 7:
				m.apply(m.timer())
			default:
				m.apply(m.command())
			}
		}
		m.mustEnd()
	})
}

// mustEnd checks that a call in any phase ends by its timers after it is hung up, even if no message arrives.
func (m *model) mustEnd() {
	m.apply(dialog.Hangup{Cause: dialog.LocalHangup})
	for range 20 {
		if m.call.Phase() == dialog.Over || m.call.Phase() == dialog.New {
			return
		}
		for _, t := range []dialog.Timer{
			dialog.TimerRing, dialog.TimerCancel, dialog.TimerACK, dialog.TimerBye, dialog.TimerExpire, dialog.TimerTransfer,
		} {
			if m.timers[t] {
				m.apply(dialog.Fired{Timer: t})
			}
		}
	}
	m.t.Fatalf("hung up, yet still %s with timers %v", m.call.Phase(), m.timers)
}
