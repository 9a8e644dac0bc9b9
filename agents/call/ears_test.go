package call_test

import (
	"context"
	"errors"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/callwright/callwright/agents"
	"github.com/callwright/callwright/agents/agentstest"
	"github.com/callwright/callwright/agents/call"
	"github.com/callwright/callwright/agents/conversation"
)

// sessions is a streaming recognizer that counts its sessions.
type sessions struct {
	agentstest.StreamingRecognizer
	hangs bool // whether Open waits for the end of its context
	dies  bool // whether the first session ends after a second

	mu   sync.Mutex
	open int // sessions that are not closed
}

func (s *sessions) Open(ctx context.Context, h conversation.Hearing) (conversation.Stream, error) {
	if s.hangs {
		<-ctx.Done()
	}
	if s.dies && s.Sessions() == 0 {
		var cancel context.CancelFunc
		ctx, cancel = context.WithTimeout(ctx, time.Second)
		context.AfterFunc(ctx, cancel)
	}
	stream, err := s.StreamingRecognizer.Open(ctx, h)
	if err != nil {
		return nil, err
	}
	s.count(1)
	return &countedStream{Stream: stream, closed: sync.OnceFunc(func() { s.count(-1) })}, nil
}

func (s *sessions) count(n int) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.open += n
}

// check checks the number of sessions that were opened so far, and how many of them are open.
func (s *sessions) check(t *testing.T, opened, open int) {
	t.Helper()
	synctest.Wait()
	s.mu.Lock()
	defer s.mu.Unlock()
	if n := s.Sessions(); n != opened || s.open != open {
		t.Errorf("%d sessions were opened, and %d are open; want %d and %d", n, s.open, opened, open)
	}
}

type countedStream struct {
	conversation.Stream
	closed func()
}

func (s *countedStream) Close() error {
	s.closed()
	return s.Stream.Close()
}

// inHouseOf runs a test in a house with the recognizer.
func inHouseOf(t *testing.T, engine *sessions, phones agentstest.PhoneConfig, test func(t *testing.T, h *house)) {
	t.Helper()
	synctest.Test(t, func(t *testing.T) {
		h := newHouse(t, 0, phones, func(c *call.Config) { c.Recognizer = engine })
		defer h.stop()
		test(t, h)
	})
}

// TestSessionWhileItRings checks that the recognizer's session of a placed call begins when the phone rings, that the conversation uses it,
// and that the call succeeds if the session cannot be used.
func TestSessionWhileItRings(t *testing.T) {
	t.Parallel()
	refused := errors.New("refused")
	for name, c := range map[string]struct {
		engine   *sessions
		phones   agentstest.PhoneConfig
		early    int // sessions that are open before the answer
		sessions int // sessions of the whole call
	}{
		"used": {&sessions{}, agentstest.PhoneConfig{}, 1, 1},
		"refused": {&sessions{StreamingRecognizer: agentstest.StreamingRecognizer{Refuse: func(session int) error {
			if session == 0 {
				return refused
			}
			return nil
		}}}, agentstest.PhoneConfig{}, 0, 2},
		"lost":            {&sessions{dies: true}, agentstest.PhoneConfig{}, 1, 2},
		"of another rate": {&sessions{}, agentstest.PhoneConfig{Rate: 16000}, 1, 2},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			inHouseOf(t, c.engine, c.phones, func(t *testing.T, h *house) {
				h.line.Script(func(ctx context.Context, _ call.DialRequest, ring func()) (*agentstest.Phone, error) {
					c.engine.check(t, 0, 0)
					ring()
					time.Sleep(10 * time.Second)
					c.engine.check(t, 1, c.early)
					return agentstest.NewPhone(c.phones), ctx.Err()
				})
				placed := h.create(agents.Agent{})
				phone := h.answered()
				h.says(phone, "hello")
				h.hears(phone, "hello")
				c.engine.check(t, c.sessions, 1)
				phone.Hangup()
				if ended, lines := h.ended(placed.ID); ended.Status != call.StatusCompleted || lines[1].Text != "hello" {
					t.Errorf("the call is %s with the lines %+v", ended.Status, lines)
				}
				c.engine.check(t, c.sessions, 0)
			})
		})
	}
}

// TestSessionWithoutAnswer checks that the recognizer's session ends with a call that is not answered.
func TestSessionWithoutAnswer(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		callee agentstest.Callee
		hangs  bool
		opened int
	}{
		"busy":           {agentstest.Refuse(call.CauseBusy, 486), false, 1},
		"stopped":        {agentstest.NoAnswer, false, 1},
		"hanging engine": {agentstest.NoAnswer, true, 1},
		"without ringing": {func(context.Context, call.DialRequest, func()) (*agentstest.Phone, error) {
			return nil, &call.HangupReason{Cause: call.CauseUnreachable}
		}, false, 0},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			engine := &sessions{hangs: c.hangs}
			inHouseOf(t, engine, agentstest.PhoneConfig{}, func(t *testing.T, h *house) {
				h.line.Script(c.callee)
				placed := h.create(agents.Agent{})
				waitFor(5 * time.Second)
				if err := h.Stop(t.Context(), "a", placed.ID); err != nil && name != "busy" && name != "without ringing" {
					t.Error(err)
				}
				if ended, _ := h.ended(placed.ID); ended.StartedAt != nil {
					t.Errorf("the call was answered: %+v", ended)
				}
				engine.check(t, c.opened, 0)
			})
		})
	}
}

// earlyLine is a line whose callees send audio before they answer.
type earlyLine struct {
	call.Line
	before func()
}

func (l earlyLine) Dial(ctx context.Context, d call.DialRequest, progress func(call.Progress)) (call.Leg, error) {
	progress(call.ProgressEarlyMedia)
	l.before()
	return l.Line.Dial(ctx, d, progress)
}

// TestSessionWithEarlyMedia checks that the session begins with the callee's early media, once, and that early media is not ringing.
func TestSessionWithEarlyMedia(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		engine, rang := &sessions{}, false
		h := newHouse(t, 0, agentstest.PhoneConfig{}, func(c *call.Config) {
			c.Recognizer, c.Line = engine, earlyLine{c.Line, func() {
				engine.check(t, 1, 1)
				if rang {
					t.Error("early media counts as ringing")
				}
			}}
			c.Observe = func(o call.Observation) { rang = rang || o.What == call.ObservedRinging }
		})
		defer h.stop()
		placed := h.create(agents.Agent{})
		phone := h.answered()
		waitFor(time.Second)
		engine.check(t, 1, 1)
		phone.Hangup()
		h.ended(placed.ID)
		engine.check(t, 1, 0)
	})
}

// slowLine is a line on which the answer of an incoming call takes a second. It calls before at the beginning of the answer.
type slowLine struct {
	call.Line
	before func()
}

func (l slowLine) Accept(ctx context.Context) (call.IncomingCall, error) {
	in, err := l.Line.Accept(ctx)
	return slowIncoming{in, l.before}, err
}

type slowIncoming struct {
	call.IncomingCall
	before func()
}

func (i slowIncoming) Answer(ctx context.Context) (call.Leg, error) {
	time.Sleep(time.Second)
	i.before()
	return i.IncomingCall.Answer(ctx)
}

// TestSessionOfIncomingCall checks that the recognizer's session begins before an incoming call is answered, and ends with a caller who
// gives up.
func TestSessionOfIncomingCall(t *testing.T) {
	t.Parallel()
	for _, givesUp := range []bool{false, true} {
		synctest.Test(t, func(t *testing.T) {
			engine := &sessions{}
			h := newHouse(t, 0, agentstest.PhoneConfig{}, func(c *call.Config) {
				c.Recognizer, c.Line = engine, slowLine{c.Line, func() { engine.check(t, 1, 1) }}
			})
			defer h.stop()
			in := h.line.Call(
				call.CallerInfo{ID: "in", Org: "a", From: "+15550000009", To: "+15550000001", Source: "192.0.2.1:5061"}, agentstest.PhoneConfig{},
			)
			synctest.Wait()
			if givesUp {
				in.GiveUp()
			} else {
				phone, err := in.Phone(t.Context())
				if err != nil {
					t.Fatal(err)
				}
				h.says(phone, "hello")
				h.hears(phone, "hello")
				engine.check(t, 1, 1)
				phone.Hangup()
			}
			h.ended("in")
			engine.check(t, 1, 0)
		})
	}
}
