package call_test

import (
	"context"
	"errors"
	"testing"
	"testing/synctest"
	"time"

	"github.com/callwright/callwright"
	"github.com/callwright/callwright/adapters/memstore"
	"github.com/callwright/callwright/agents"
	"github.com/callwright/callwright/agents/agentstest"
	"github.com/callwright/callwright/agents/call"
)

// failures is a call.Failures that returns errs in turn, and then records the reported calls.
type failures struct {
	errs  []error
	tried []time.Time
	calls []call.Call
}

func (f *failures) CallFailed(_ context.Context, c call.Call) error {
	f.tried = append(f.tried, time.Now())
	if len(f.errs) > 0 {
		err := f.errs[0]
		f.errs = f.errs[1:]
		return err
	}
	f.calls = append(f.calls, c)
	return nil
}

// inWatchedHouse runs a test with a house that reports failed calls to f.
func inWatchedHouse(t *testing.T, test func(t *testing.T, h *house, f *failures), change ...func(*call.Config)) {
	t.Helper()
	synctest.Test(t, func(t *testing.T) {
		f := &failures{}
		h := newHouse(t, 0, agentstest.PhoneConfig{}, append(change, func(c *call.Config) { c.Failures = f })...)
		defer h.stop()
		test(t, h, f)
	})
}

// checkTold checks that exactly the calls with the given ids were reported, in this order, each once and with its end.
func (f *failures) checkTold(t *testing.T, ids ...string) {
	t.Helper()
	if len(f.calls) != len(ids) {
		t.Fatalf("told of %+v, want %v", f.calls, ids)
	}
	for i, c := range f.calls {
		if c.ID != ids[i] || c.Status != call.StatusFailed || c.EndedAt == nil || c.ErrorMessage == "" {
			t.Errorf("told of %+v, want %s", c, ids[i])
		}
	}
}

// TestFailures checks that only failed calls are reported, and each call once.
func TestFailures(t *testing.T) {
	t.Parallel()
	for name, test := range map[string]struct {
		callee      agentstest.Callee
		withMessage bool
	}{
		"unreachable": {agentstest.Refuse(call.CauseUnreachable, 0), true},
		"refused":     {agentstest.Refuse(call.CauseRejected, 503), true},
		"busy":        {agentstest.Refuse(call.CauseBusy, 486), false},
		"no answer":   {agentstest.Refuse(call.CauseNoAnswer, 480), false},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			inWatchedHouse(t, func(t *testing.T, h *house, f *failures) {
				h.line.Script(test.callee)
				c := h.create(agents.Agent{})
				h.ended(c.ID)
				waitFor(time.Hour)
				if test.withMessage {
					f.checkTold(t, c.ID)
				} else {
					f.checkTold(t)
				}
			})
		})
	}
}

// TestFailuresOfGoodCalls checks that completed calls and calls that their owner stopped are not reported.
func TestFailuresOfGoodCalls(t *testing.T) {
	t.Parallel()
	inWatchedHouse(t, func(t *testing.T, h *house, f *failures) {
		done := h.create(agents.Agent{FirstSentence: "hello"})
		phone := h.answered()
		h.hears(phone, "hello")
		phone.Hangup()
		h.ended(done.ID)
		waiting := h.order(call.Request{StartAt: new(time.Now().Add(time.Hour))})
		if err := h.Stop(t.Context(), "a", waiting.ID); err != nil {
			t.Fatal(err)
		}
		waitFor(2 * time.Hour)
		f.checkTold(t)
	})
}

// TestFailureOfTheSecondTry checks that a failed retry is reported, and the call that it retries is not.
func TestFailureOfTheSecondTry(t *testing.T) {
	t.Parallel()
	inWatchedHouse(t, func(t *testing.T, h *house, f *failures) {
		h.line.Script(agentstest.Refuse(call.CauseBusy, 486))
		h.ended(h.order(retried()).ID)
		h.line.Script(agentstest.Refuse(call.CauseUnreachable, 0))
		waitFor(time.Hour)
		calls := h.all()
		if len(calls) != 2 {
			t.Fatalf("calls %+v", calls)
		}
		f.checkTold(t, calls[1].ID)
	})
}

// TestFailureThatIsTriedAgain checks that a call which failed after an answering machine had answered is not reported if it is retried.
// Only the retry is reported.
func TestFailureThatIsTriedAgain(t *testing.T) {
	t.Parallel()
	inWatchedHouse(t, func(t *testing.T, h *house, f *failures) {
		now := time.Now()
		err := h.calls.Insert(t.Context(), call.Call{
			ID: "dead", Org: "a", From: "+15550000001", To: "+15550000002", Agent: agents.Agent{Task: "t"},
			Queue: call.QueueStarted, AnsweredBy: call.AnsweredByVoicemail, Node: "n0", CreatedAt: now, StartedAt: &now,
			TakenAt: now, Plan: retried().Plan,
		})
		if err != nil {
			t.Fatal(err)
		}
		h.line.Script(agentstest.Refuse(call.CauseUnreachable, 0))
		waitFor(time.Hour)
		calls := h.all()
		if len(calls) != 2 || calls[0].Status != call.StatusFailed || calls[0].RetriedBy != calls[1].ID {
			t.Fatalf("calls %+v", calls)
		}
		f.checkTold(t, calls[1].ID)
	})
}

// TestFailuresAreToldAgain checks that a refused report is sent again and, if the error has a RetryAfter, only when that time has passed.
// It also checks that the call's record and webhook do not wait for the report.
func TestFailuresAreToldAgain(t *testing.T) {
	t.Parallel()
	inWatchedHouse(t, func(t *testing.T, h *house, f *failures) {
		busy := &callwright.Error{Code: callwright.CodeUnavailable, Message: "later", RetryAfter: 10 * time.Minute}
		f.errs = []error{errors.New("no"), busy}
		h.line.Script(agentstest.Refuse(call.CauseUnreachable, 0))
		c := h.create(agents.Agent{Webhook: "https://example.com/"})
		h.ended(c.ID)
		waitFor(5 * time.Minute)
		f.checkTold(t)
		if len(h.notices.sent) != 1 {
			t.Errorf("the webhook got %+v", h.notices.sent)
		}
		waitFor(time.Hour)
		f.checkTold(t, c.ID)
		if len(f.tried) != 3 || f.tried[2].Sub(f.tried[1]) < 10*time.Minute {
			t.Errorf("told at %v", f.tried)
		}
	})
}

// TestFailuresAreGivenUp checks that a report is given up if the receiver keeps postponing it.
func TestFailuresAreGivenUp(t *testing.T) {
	t.Parallel()
	inWatchedHouse(t, func(t *testing.T, h *house, f *failures) {
		for range 1000 {
			f.errs = append(f.errs, &callwright.Error{Code: callwright.CodeUnavailable, RetryAfter: time.Minute})
		}
		h.line.Script(agentstest.Refuse(call.CauseUnreachable, 0))
		h.create(agents.Agent{})
		waitFor(30 * 24 * time.Hour)
		tried := len(f.tried)
		waitFor(30 * 24 * time.Hour)
		if tried == 0 || len(f.tried) != tried {
			t.Errorf("told %d times, and then %d", tried, len(f.tried))
		}
	})
}

// TestFailureOfADeadNode checks that the node which closes a dead node's call reports the call.
func TestFailureOfADeadNode(t *testing.T) {
	t.Parallel()
	inWatchedHouse(t, func(t *testing.T, h *house, f *failures) {
		now := time.Now()
		err := h.calls.Insert(t.Context(), call.Call{
			ID: "dead", Org: "a", Queue: call.QueueStarted, Node: "n0", CreatedAt: now, StartedAt: &now, TakenAt: now,
		})
		if err != nil {
			t.Fatal(err)
		}
		waitFor(time.Hour)
		f.checkTold(t, "dead")
		if f.calls[0].Ending.Cause != call.CauseNodeLost {
			t.Errorf("told of %+v", f.calls[0])
		}
	})
}

// TestFailureIsToldOnce checks that a failed call is reported exactly once, although the first commits of its end fail.
func TestFailureIsToldOnce(t *testing.T) {
	t.Parallel()
	f := &faulty{}
	inWatchedHouse(t, func(t *testing.T, h *house, told *failures) {
		fails := 3
		f.set(func() {
			f.afterUpdate = func(c call.Call) error {
				if !c.Queue.Ended() || fails == 0 {
					return nil
				}
				fails--
				return errors.New("the connection is gone")
			}
		})
		h.line.Script(agentstest.Refuse(call.CauseUnreachable, 0))
		c := h.create(agents.Agent{})
		waitFor(time.Hour)
		told.checkTold(t, c.ID)
		if fails != 0 {
			t.Errorf("%d failures are left", fails)
		}
	}, func(c *call.Config) { f.Store, c.Store = c.Store, f })
}

// TestFailuresThatNobodyWants checks that no report is queued without Config.Failures.
func TestFailuresThatNobodyWants(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		tasks := &kinds{}
		h := newHouse(t, 0, agentstest.PhoneConfig{}, func(c *call.Config) { tasks.Work, c.Work = c.Work, tasks })
		defer h.stop()
		h.line.Script(agentstest.Refuse(call.CauseUnreachable, 0))
		h.ended(h.create(agents.Agent{}).ID)
		waitFor(time.Hour)
		if len(tasks.seen) != 1 || tasks.seen[0] != "call.place" {
			t.Errorf("queued %q", tasks.seen)
		}
	})
}

// kinds records the kinds of queued tasks.
type kinds struct {
	callwright.Work
	seen []string
}

func (k *kinds) Enqueue(ctx context.Context, t callwright.Task) error {
	k.seen = append(k.seen, t.Kind)
	return k.Work.Enqueue(ctx, t)
}

// TestFailureAfterARestart checks that queued reports are dropped after a restart without Config.Failures.
func TestFailureAfterARestart(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		store := memstore.New()
		f := &failures{}
		for range 3 {
			f.errs = append(f.errs, errors.New("no"))
		}
		before := openHouse(t, store, 0, agentstest.PhoneConfig{}, func(c *call.Config) { c.Failures = f })
		before.line.Script(agentstest.Refuse(call.CauseUnreachable, 0))
		c := before.create(agents.Agent{})
		before.ended(c.ID)
		waitFor(time.Second)
		before.stop()
		deaf := openHouse(t, store, 0, agentstest.PhoneConfig{}, func(c *call.Config) { c.Node = "n2" })
		waitFor(time.Hour)
		deaf.stop()
		h := openHouse(t, store, 0, agentstest.PhoneConfig{}, func(c *call.Config) { c.Node, c.Failures = "n3", f })
		defer h.stop()
		waitFor(time.Hour)
		f.checkTold(t)
		if len(f.tried) == 0 {
			t.Error("it was never told")
		}
	})
}
