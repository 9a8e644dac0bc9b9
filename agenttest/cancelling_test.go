package agenttest_test

import (
	"context"
	"errors"
	"strings"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/callwright/callwright"
	"github.com/callwright/callwright/agents/llm"
	"github.com/callwright/callwright/agenttest/engine"
	"github.com/callwright/callwright/agenttest/group"
	"github.com/callwright/callwright/agenttest/run"
	"github.com/callwright/callwright/node"
)

// silent makes the lab's model block after the caller's first words. calls counts all calls of the model, and aborted counts the calls
// whose context was canceled.
func (l *lab) silent() (calls, aborted *atomic.Int64) {
	l.speaks()
	calls, aborted = new(atomic.Int64), new(atomic.Int64)
	speaks := l.model.Says
	l.model.Says = func(ctx context.Context, r llm.ReplyRequest) ([]llm.ReplyPart, error) {
		calls.Add(1)
		if len(r.Messages) < 2 {
			return speaks(ctx, r)
		}
		<-ctx.Done()
		aborted.Add(1)
		return nil, &llm.Failure{Class: llm.ClassTransient, Message: "cancelled", Cause: ctx.Err()}
	}
	return calls, aborted
}

// underWay starts a set of simulations, and returns when its runs wait for the model: as many runs as the organization may execute
// concurrently.
func (l *lab) underWay(simulations int) group.Batch {
	l.t.Helper()
	b := l.simulate(group.SetRequest{Scenarios: []string{l.scenario(spoken).ID}, Simulations: simulations})
	settled()
	return b
}

// TestCancelAbortsCalls checks that the cancellation of a group immediately aborts its model calls and prevents further ones, and that the
// transcripts are kept.
func TestCancelAbortsCalls(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		l := newLab(t)
		calls, aborted := l.silent()
		l.run(l.Service)
		b := l.underWay(20)
		if calls.Load() != 2*run.DefaultPerOrg {
			t.Fatalf("%d calls are made", calls.Load())
		}
		at := time.Now()
		if err := l.CancelSet(t.Context(), org, b.ID); err != nil {
			t.Fatal(err)
		}
		synctest.Wait()
		if took := time.Since(at); aborted.Load() != run.DefaultPerOrg || took != 0 {
			t.Errorf("%d calls are aborted after %s", aborted.Load(), took)
		}
		settled()
		got, runs := l.group(b.ID)
		if got.State != run.Cancelled || got.Reason != group.StoppedByClient || got.Counts.Cancelled != 20 ||
			calls.Load() != 2*run.DefaultPerOrg {
			t.Errorf("after %d calls: %+v", calls.Load(), got)
		}
		said := 0
		for _, r := range runs {
			if r.Result.Error != "" {
				t.Errorf("a run that a client has cancelled has the error %q", r.Result.Error)
			}
			if r.Outcome != nil && len(r.Outcome.Evidence.Turns) == 3 && r.Outcome.Spend.Tokens == price {
				said++
			}
		}
		if said != run.DefaultPerOrg {
			t.Errorf("%d runs keep what was said", said)
		}
	})
}

func TestCancelRun(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		l := newLab(t)
		calls, aborted := l.silent()
		sc := l.scenario(spoken)
		waiting := l.start(sc, run.Request{})
		for name, tt := range map[string]struct {
			of  callwright.OrgID
			id  string
			err error
		}{"absent": {org, "gone", callwright.ErrNotFound}, "another organization's": {"other", waiting.ID, callwright.ErrNotFound}} {
			if err := l.CancelRun(t.Context(), tt.of, tt.id); !errors.Is(err, tt.err) {
				t.Errorf("%s: %v", name, err)
			}
		}
		if err := l.CancelRun(t.Context(), org, waiting.ID); err != nil || l.get(waiting.ID).State != run.Cancelled {
			t.Errorf("a run that waits: %v, %s", err, l.get(waiting.ID).State)
		}
		l.run(l.Service)
		r, other := l.start(sc, run.Request{}), l.start(sc, run.Request{})
		settled()
		if calls.Load() != 4 {
			t.Errorf("%d calls are made", calls.Load())
		}
		for range 2 { // the run has not ended yet
			if err := l.CancelRun(t.Context(), org, r.ID); err != nil {
				t.Error(err)
			}
		}
		synctest.Wait()
		got := l.get(r.ID)
		if got.State != run.Cancelled || len(got.Outcome.Evidence.Turns) != 3 || aborted.Load() != 1 || calls.Load() != 4 {
			t.Errorf("%s after %d calls, of which %d are aborted: %+v", got.State, calls.Load(), aborted.Load(), got.Outcome)
		}
		for _, id := range []string{r.ID, waiting.ID} {
			if err := l.CancelRun(t.Context(), org, id); !errors.Is(err, callwright.ErrInvalidState) {
				t.Errorf("a run that has ended: %v", err)
			}
		}
		if got := l.get(other.ID); got.State != run.Running {
			t.Errorf("another run is %s", got.State)
		}
	})
}

// TestCancelRunOfGroup checks that a group continues after one of its runs is canceled, and that the group's final state is Cancelled.
func TestCancelRunOfGroup(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		l := newLab(t)
		first, second := l.scenario(), l.scenario()
		b, runs, err := l.StartBatch(t.Context(), org, group.BatchRequest{Scenarios: []string{first.ID, second.ID}})
		if err == nil {
			err = l.CancelRun(t.Context(), org, runs[0].ID)
		}
		if err != nil {
			t.Fatal(err)
		}
		l.run(l.Service)
		settled()
		if got, _ := l.group(b.ID); got.State != run.Cancelled || got.Counts != (group.Counts{Passed: 1, Cancelled: 1}) || got.Cancel {
			t.Errorf("got %+v", got)
		}
	})
}

// TestCancelOnAnotherNode checks that the node that executes the runs notices a cancellation on another node.
func TestCancelOnAnotherNode(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		l := newLab(t)
		calls, aborted := l.silent()
		second := l.another()
		l.run(l.Service)
		b := l.underWay(3)
		r := l.start(l.scenario(spoken), run.Request{})
		settled()
		at := time.Now()
		if err := errors.Join(second.CancelSet(t.Context(), org, b.ID), second.CancelRun(t.Context(), org, r.ID)); err != nil {
			t.Fatal(err)
		}
		for aborted.Load() < 4 && time.Since(at) < time.Minute {
			time.Sleep(10 * time.Millisecond)
		}
		if took := time.Since(at); took > node.LookEvery+20*time.Millisecond {
			t.Errorf("%d calls were aborted within %s", aborted.Load(), took)
		}
		settled()
		if got, _ := l.group(b.ID); got.State != run.Cancelled || l.get(r.ID).State != run.Cancelled || calls.Load() != 8 {
			t.Errorf("got %+v, the run is %s, after %d calls", got, l.get(r.ID).State, calls.Load())
		}
	})
}

// TestCancelledRunOfDeadNode checks that a run that is canceled after its node has died ends with its transcript, and that no model is
// called for it.
func TestCancelledRunOfDeadNode(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		l := newLab(t)
		calls, _ := l.silent()
		second := l.another()
		stop := l.run(l.Service)
		b := l.underWay(2)
		one := l.start(l.scenario(spoken), run.Request{})
		settled()
		stop()
		if err := errors.Join(l.CancelSet(t.Context(), org, b.ID), l.CancelRun(t.Context(), org, one.ID)); err != nil {
			t.Fatal(err)
		}
		l.run(second)
		time.Sleep(time.Minute)
		synctest.Wait()
		got, runs := l.group(b.ID)
		for _, r := range append(runs, l.get(one.ID)) {
			if r.State != run.Cancelled || r.Outcome == nil || len(r.Outcome.Evidence.Turns) != 3 {
				t.Errorf("a run is %s: %+v", r.State, r.Outcome)
			}
		}
		if got.State != run.Cancelled || calls.Load() != 6 {
			t.Errorf("got %+v after %d calls", got, calls.Load())
		}
	})
}

// TestCancelStopsWhatTheBudgetLets checks that a client can cancel runs that continue after their group's budget is exhausted.
func TestCancelStopsWhatTheBudgetLets(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		l := newLab(t)
		_, aborted := l.silent()
		l.run(l.Service)
		b := l.underWay(3)
		stored, err := l.cfg.Store.Batch(t.Context(), org, b.ID)
		stored.Cancel, stored.Reason = true, group.StoppedByBudget
		if err := errors.Join(err, l.cfg.Store.UpdateBatch(t.Context(), stored)); err != nil {
			t.Fatal(err)
		}
		for range 3 {
			settled()
		}
		if aborted.Load() != 0 {
			t.Errorf("%d calls were aborted", aborted.Load())
		}
		if err := l.CancelSet(t.Context(), org, b.ID); err != nil {
			t.Fatal(err)
		}
		settled()
		if got, _ := l.group(b.ID); got.State != run.Cancelled || got.Reason != group.StoppedByClient || aborted.Load() != 3 {
			t.Errorf("got %+v", got)
		}
	})
}

// TestQuota checks that a model whose quota is exhausted stops its group.
func TestQuota(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		l := newLab(t)
		l.speaks()
		var calls atomic.Int64
		speaks := l.model.Says
		l.model.Says = func(ctx context.Context, r llm.ReplyRequest) ([]llm.ReplyPart, error) {
			if calls.Add(1) > 2*lines+1 {
				return nil, &llm.Failure{Class: llm.ClassQuota, Message: "no quota"}
			}
			return speaks(ctx, r)
		}
		l.run(l.Service)
		b := l.simulate(group.SetRequest{Scenarios: []string{l.scenario(spoken).ID}, Simulations: 30, Concurrency: 1})
		for range 10 {
			settled()
		}
		got, runs := l.group(b.ID)
		if got.State != run.Cancelled || got.Reason != group.StoppedByQuota ||
			got.Counts != (group.Counts{Passed: 2, Error: 1, Cancelled: 27}) || calls.Load() != 2*lines+2 {
			t.Errorf("after %d calls: %+v", calls.Load(), got)
		}
		for _, r := range runs {
			if r.State == run.Cancelled && !strings.Contains(r.Result.Error, "quota") {
				t.Errorf("a run is cancelled: %q", r.Result.Error)
			}
		}
	})
}

// TestRateLimits checks that runs wait while a model is rate limited, and that none of them ends as an error.
func TestRateLimits(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		l := newLab(t)
		until := time.Now().Add(20 * time.Second)
		var refused atomic.Int64
		l.speaks(func(c *engine.Config) {
			speaks := l.model.Says
			l.model.Says = func(ctx context.Context, r llm.ReplyRequest) ([]llm.ReplyPart, error) {
				if left := time.Until(until); left > 0 {
					refused.Add(1)
					return nil, &llm.Failure{Class: llm.ClassRateLimited, Message: "slow down", RetryAfter: 3 * time.Second}
				}
				return speaks(ctx, r)
			}
			c.Model = engine.NewLimiter(l.model, engine.LimiterConfig{Retries: 10})
		})
		l.run(l.Service)
		b := l.simulate(group.SetRequest{Scenarios: []string{l.scenario(spoken).ID}, Simulations: 30})
		time.Sleep(5 * time.Minute)
		synctest.Wait()
		got, _ := l.group(b.ID)
		if got.Counts != (group.Counts{Passed: 30}) || got.Spend.Tokens != 30*lines*price {
			t.Errorf("got %+v", got)
		}
		if n := refused.Load(); n == 0 || n > 12 { // 4 concurrently, then 2, then 1 every 3 seconds
			t.Errorf("%d calls were refused", n)
		}
	})
}

// TestRateLimitsEnd checks that runs end as errors, within a bounded time, if their model remains rate limited.
func TestRateLimitsEnd(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		l := newLab(t)
		l.speaks(func(c *engine.Config) {
			l.model.Says = func(context.Context, llm.ReplyRequest) ([]llm.ReplyPart, error) {
				return nil, &llm.Failure{Class: llm.ClassRateLimited, Message: "slow down"}
			}
			c.Model = engine.NewLimiter(l.model, engine.LimiterConfig{Retries: 1000})
		})
		l.run(l.Service)
		b := l.simulate(group.SetRequest{Scenarios: []string{l.scenario(spoken).ID}, Simulations: run.DefaultPerOrg})
		time.Sleep(engine.DefaultTurnTime + 5*time.Second)
		synctest.Wait()
		if got, _ := l.group(b.ID); got.State != run.Error || got.Counts.Error != run.DefaultPerOrg {
			t.Errorf("got %+v", got)
		}
	})
}
