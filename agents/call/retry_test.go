package call_test

import (
	"errors"
	"testing"
	"testing/synctest"
	"time"

	"github.com/callwright/callwright/adapters/memstore"
	"github.com/callwright/callwright/agents"
	"github.com/callwright/callwright/agents/agentstest"
	"github.com/callwright/callwright/agents/call"
)

// retried returns a request for a call that is retried once after ten minutes.
func retried() call.Request {
	return call.Request{
		Agent:       agents.Agent{FirstSentence: "hello", Webhook: "https://example.com/"},
		Plan:        call.Plan{Retry: &call.Retry{Wait: 10 * time.Minute}, SummaryPrompt: "Short."},
		RequestData: map[string]any{"name": "Ada"}, Metadata: map[string]any{"ticket": "T-1"},
	}
}

// all returns all calls with all fields, oldest first.
func (h *house) all() []call.Call {
	h.t.Helper()
	page, _, err := h.List(h.t.Context(), "a", call.Filter{OldestFirst: true})
	if err != nil {
		h.t.Fatal(err)
	}
	for i, c := range page.Items { // List omits large fields
		if page.Items[i], _, err = h.Get(h.t.Context(), "a", c.ID); err != nil {
			h.t.Fatal(err)
		}
	}
	return page.Items
}

// TestRetry checks that a call to a number that is busy, does not answer or is unavailable is retried once after the plan's wait, that a
// declined or unreachable call is not retried, and that each call is reported.
func TestRetry(t *testing.T) {
	t.Parallel()
	for name, test := range map[string]struct {
		cause call.Cause
		calls int
	}{
		"busy":          {call.CauseBusy, 2},
		"no answer":     {call.CauseNoAnswer, 2},
		"not available": {call.CauseUnavailable, 2},
		"declined":      {call.CauseRejected, 1},
		"unreachable":   {call.CauseUnreachable, 1},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			synctest.Test(t, func(t *testing.T) {
				h := newHouse(t, 0, agentstest.PhoneConfig{}, deliverTwice)
				defer h.stop()
				h.line.Script(agentstest.Refuse(test.cause, 0))
				first, _ := h.ended(h.order(retried()).ID)
				waitFor(9 * time.Minute)
				if n := len(h.line.Dials()); n != 1 {
					t.Errorf("dialed %d times within nine minutes", n)
				}
				waitFor(time.Hour)
				calls := h.all()
				if len(calls) != test.calls || len(h.line.Dials()) != test.calls {
					t.Fatalf("dialed %d times, calls %+v", len(h.line.Dials()), calls)
				}
				if test.calls == 2 {
					checkSecond(t, first, calls[1])
				}
				ids := map[string]bool{}
				for _, c := range h.notices.sent {
					ids[c.ID] = true
				}
				if len(ids) != test.calls {
					t.Errorf("the webhook got %d calls", len(ids))
				}
			})
		})
	}
}

// checkSecond checks that the retry has the settings of the first call but no further retry, and that each of the two calls contains the
// other's id.
func checkSecond(t *testing.T, first, second call.Call) {
	t.Helper()
	if second.RetryOf != first.ID || first.RetriedBy != second.ID || second.RetriedBy != "" || second.Plan.Retry != nil ||
		!second.StartAt.Equal(first.EndedAt.Add(10*time.Minute)) || second.Agent.FirstSentence != "hello" ||
		second.To != first.To || second.From != first.From || second.Plan.SummaryPrompt != "Short." ||
		second.RequestData["name"] != "Ada" || second.Variables["name"] != "Ada" || second.Metadata["ticket"] != "T-1" {
		t.Errorf("first %+v\nsecond %+v", first, second)
	}
}

// TestRetryOnce checks that failed commits of a call's end do not cause a second retry.
func TestRetryOnce(t *testing.T) {
	t.Parallel()
	inFaultyHouse(t, func(t *testing.T, h *house, f *faulty) {
		fails := 3
		f.set(func() {
			f.afterUpdate = func(c call.Call) error {
				if c.RetriedBy == "" || fails == 0 {
					return nil
				}
				fails--
				return errors.New("the connection is gone")
			}
		})
		h.line.Script(agentstest.Refuse(call.CauseBusy, 486))
		h.order(retried())
		waitFor(time.Hour)
		if calls := h.all(); len(calls) != 2 || fails != 0 || calls[0].RetriedBy != calls[1].ID {
			t.Errorf("calls %+v", calls)
		}
	})
}

// TestNoRetryForADeadNode checks that a call which the death of its node interrupted is not retried, because it does not count as
// unanswered.
func TestNoRetryForADeadNode(t *testing.T) {
	t.Parallel()
	inHouse(t, func(t *testing.T, h *house) {
		now := time.Now()
		err := h.calls.Insert(t.Context(), call.Call{
			ID: "dead", Org: "a", Queue: call.QueueAllocated, Node: "n0", CreatedAt: now, TakenAt: now, Plan: retried().Plan,
		})
		if err != nil {
			t.Fatal(err)
		}
		waitFor(time.Hour)
		if calls := h.all(); len(calls) != 1 || calls[0].Status != call.StatusFailed {
			t.Errorf("calls %+v", calls)
		}
	})
}

// TestNoRetryAfterAStop checks that a call which its owner stopped is not retried.
func TestNoRetryAfterAStop(t *testing.T) {
	t.Parallel()
	inHouse(t, func(t *testing.T, h *house) {
		h.line.Script(agentstest.NoAnswer)
		c := h.order(retried())
		waitFor(time.Second)
		if err := h.Stop(t.Context(), "a", c.ID); err != nil {
			t.Fatal(err)
		}
		waitFor(time.Hour)
		if calls := h.all(); len(calls) != 1 {
			t.Errorf("calls %+v", calls)
		}
	})
}

// TestScheduledCall checks that a scheduled call is placed when it is due, even by a node that was started later.
func TestScheduledCall(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		store := memstore.New()
		before := openHouse(t, store, 0, agentstest.PhoneConfig{})
		start := time.Now().Add(time.Hour)
		c := before.order(call.Request{StartAt: &start})
		waitFor(time.Minute)
		before.stop()
		if c.StartAt == nil || !c.StartAt.Equal(start) || len(before.line.Dials()) != 0 {
			t.Fatalf("dialed %d times, record %+v", len(before.line.Dials()), c)
		}
		h := openHouse(t, store, 0, agentstest.PhoneConfig{}, func(c *call.Config) { c.Node = "n2" })
		defer h.stop()
		waitFor(58 * time.Minute)
		if n := len(h.line.Dials()); n != 0 {
			t.Fatalf("dialed %d times before the time", n)
		}
		h.answered().Hangup()
		if got, _ := h.ended(c.ID); got.Status != call.StatusCompleted || got.StartedAt.Before(start) {
			t.Errorf("record %+v", got)
		}
	})
}

func TestScheduledCallThatIsStopped(t *testing.T) {
	t.Parallel()
	inHouse(t, func(t *testing.T, h *house) {
		c := h.order(call.Request{StartAt: new(time.Now().Add(time.Hour))})
		if err := h.Stop(t.Context(), "a", c.ID); err != nil {
			t.Fatal(err)
		}
		waitFor(2 * time.Hour)
		got, _, err := h.Get(t.Context(), "a", c.ID)
		if err != nil || got.Status != call.StatusCanceled || len(h.line.Dials()) != 0 {
			t.Errorf("dialed %d times, record %+v, %v", len(h.line.Dials()), got, err)
		}
	})
}

// TestScheduledInThePast checks that a call scheduled in the past is placed immediately.
func TestScheduledInThePast(t *testing.T) {
	t.Parallel()
	inHouse(t, func(t *testing.T, h *house) {
		c := h.order(call.Request{StartAt: new(time.Now().Add(-time.Hour))})
		h.answered().Hangup()
		if got, _ := h.ended(c.ID); got.StartAt != nil || got.Status != call.StatusCompleted {
			t.Errorf("record %+v", got)
		}
	})
}
