package call_test

import (
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/callwright/callwright"
	"github.com/callwright/callwright/agents"
	"github.com/callwright/callwright/agents/agentstest"
	"github.com/callwright/callwright/agents/call"
)

// wallClock is a clock that a test can set, as an operator sets a computer's clock.
type wallClock struct {
	mu     sync.Mutex
	offset time.Duration
}

func (c *wallClock) Now() time.Time {
	c.mu.Lock()
	defer c.mu.Unlock()
	return callwright.SystemClock{}.Now().Add(c.offset)
}

func (c *wallClock) set(offset time.Duration) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.offset = offset
}

// TestLengthSurvivesASetClock checks that a call's length and the times of its lines do not change if the wall clock is set back or forward
// by two hours during the call.
func TestLengthSurvivesASetClock(t *testing.T) {
	t.Parallel()
	for name, step := range map[string]time.Duration{"back": -2 * time.Hour, "forward": 2 * time.Hour} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			synctest.Test(t, func(t *testing.T) {
				clock := &wallClock{}
				h := newHouse(t, 0, agentstest.PhoneConfig{}, func(c *call.Config) { c.Clock = clock })
				defer h.stop()
				c := h.create(agents.Agent{FirstSentence: "hello"})
				phone := h.answered()
				h.hears(phone, "hello")
				clock.set(step)
				h.says(phone, "monday")
				h.hears(phone, "you said monday.")
				phone.Hangup()
				length := phone.Elapsed()
				got, lines := h.ended(c.ID)
				if d := got.Length() - length; d < 0 || d > time.Second {
					t.Errorf("the call lasted %v and is recorded as %v: from %v to %v", length, got.Length(), got.StartedAt, got.EndedAt)
				}
				for _, l := range lines {
					if l.CreatedAt.Before(*got.StartedAt) || l.CreatedAt.After(*got.EndedAt) || l.End > length {
						t.Errorf("the line %q of %v is at %v in a call from %v to %v", l.Text, l.End, l.CreatedAt, got.StartedAt, got.EndedAt)
					}
				}
			})
		})
	}
}

// TestEndIsWhenTheCallEnded checks that EndedAt is the time of the hang-up, even if the store accepts the end only after an outage of half
// a minute.
func TestEndIsWhenTheCallEnded(t *testing.T) {
	t.Parallel()
	const outage = 30 * time.Second
	inFaultyHouse(t, func(t *testing.T, h *house, f *faulty) {
		c := h.create(agents.Agent{FirstSentence: "hello"})
		phone := h.answered()
		h.hears(phone, "hello")
		f.set(func() {
			f.append = func(call.Entry) error { return callwright.ErrUnavailable }
			f.beforeUpdate = func(call.Call) error { return callwright.ErrUnavailable }
		})
		h.says(phone, "monday")
		h.hears(phone, "you said monday.")
		waitFor(time.Second)
		phone.Hangup()
		length, end := phone.Elapsed(), time.Now()
		waitFor(outage)
		f.set(func() { f.append, f.beforeUpdate = nil, nil })
		got, _ := h.ended(c.ID)
		if d := got.EndedAt.Sub(end); d < 0 || d > time.Second {
			t.Errorf("the call ended at %v and is recorded as ended at %v", end, got.EndedAt)
		}
		if d := got.Length() - length; d < -time.Second || d > time.Second {
			t.Errorf("the call lasted %v and is recorded as %v", length, got.Length())
		}
	})
}

// TestEndOfACallThatNobodyTakes checks that EndedAt of a refused call is the time of the refusal, even if the store accepts the end later.
func TestEndOfACallThatNobodyTakes(t *testing.T) {
	t.Parallel()
	inFaultyHouse(t, func(t *testing.T, h *house, f *faulty) {
		var refused time.Time
		f.set(func() {
			f.beforeUpdate = func(c call.Call) error {
				if refused.IsZero() && c.Queue.Ended() {
					refused = time.Now()
				}
				if c.Queue.Ended() && time.Since(refused) < 30*time.Second {
					return callwright.ErrUnavailable
				}
				return nil
			}
		})
		h.line.Script(agentstest.Refuse(call.CauseBusy, 486))
		c := h.create(agents.Agent{})
		if got, _ := h.ended(c.ID); got.EndedAt.Sub(refused) > time.Second {
			t.Errorf("the call was refused at %v and is recorded as ended at %v", refused, got.EndedAt)
		}
	})
}

// TestEndIsWrittenWithoutARead checks that closing a call of this node does not read the record. If the plan has a retry, there must be one
// read, because the owner may have stopped the call.
func TestEndIsWrittenWithoutARead(t *testing.T) {
	t.Parallel()
	for name, test := range map[string]struct {
		plan  call.Plan
		reads int
	}{"once": {call.Plan{}, 0}, "with a retry": {call.Plan{Retry: &call.Retry{Wait: time.Hour}}, 1}} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			inFaultyHouse(t, func(t *testing.T, h *house, f *faulty) {
				c := h.order(call.Request{Agent: agents.Agent{FirstSentence: "hello"}, Plan: test.plan})
				phone := h.answered()
				h.hears(phone, "hello")
				reads := 0
				f.set(func() {
					f.get = func(string) error {
						reads++
						return nil
					}
				})
				phone.Hangup()
				waitFor(time.Minute)
				f.set(func() { f.get = nil })
				if got, _ := h.ended(c.ID); got.Status != call.StatusCompleted || reads != test.reads {
					t.Errorf("the record was read %d times: %+v", reads, got)
				}
			})
		})
	}
}
