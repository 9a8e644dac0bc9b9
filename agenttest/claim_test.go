package agenttest_test

import (
	"context"
	"strings"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/callwright/callwright"
	"github.com/callwright/callwright/agents/llm"
	"github.com/callwright/callwright/agenttest"
	"github.com/callwright/callwright/agenttest/engine"
	"github.com/callwright/callwright/agenttest/group"
	"github.com/callwright/callwright/agenttest/run"
	"github.com/callwright/callwright/agenttest/scenario"
)

// TestClosedGroupsKeepNobody checks that waiting runs of groups at their concurrency limit do not prevent other runs from starting.
func TestClosedGroupsKeepNobody(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		l := newLab(t)
		sc := l.scenario(func(sc *scenario.Scenario) { sc.Name = "narrow" })
		l.agent.Answer = hang
		l.run(l.Service)
		for range 4 {
			l.simulate(group.SetRequest{Scenarios: []string{sc.ID}, Simulations: 200, Concurrency: 1})
			settled()
		}
		r := l.start(sc, run.Request{})
		settled()
		if got := l.get(r.ID); got.State != run.Running {
			t.Errorf("a run behind four groups is %s", got.State)
		}
	})
}

// TestClaimTakesRunsOnce checks that runs queued before and after the runs of a group at its limit start together, and each once.
func TestClaimTakesRunsOnce(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		l := newLab(t)
		l.agent.Answer = hang
		sc := l.scenario()
		before := l.start(sc, run.Request{})
		var ids []string
		for range 2 * run.DefaultPerOrg {
			ids = append(ids, l.scenario().ID)
		}
		b, _, err := l.StartBatch(t.Context(), org, group.BatchRequest{Scenarios: ids, Concurrency: 1})
		if err != nil {
			t.Fatal(err)
		}
		behind := l.start(sc, run.Request{})
		l.run(l.Service)
		settled()
		for _, id := range []string{before.ID, behind.ID} {
			if got := l.get(id); got.State != run.Running || got.Attempt != 1 {
				t.Errorf("a run is %s in attempt %d", got.State, got.Attempt)
			}
		}
		if n, err := l.cfg.Store.CountRuns(t.Context(), org, run.Filter{States: []run.State{run.Running}}); n != 3 || err != nil {
			t.Errorf("%d runs are under way, %v", n, err)
		}
		if got, err := l.cfg.Store.Batch(t.Context(), org, b.ID); err != nil || got.Cancel {
			t.Errorf("got %+v, %v", got, err)
		}
	})
}

// losing is a store that fails once: when the field left counts down to 0, AppendAnswer does not store the model's answer.
type losing struct {
	agenttest.Store

	left *atomic.Int64
}

func (s losing) AppendAnswer(ctx context.Context, org callwright.OrgID, run, node, key string, answer []byte) error {
	if s.left.Add(-1) == 0 {
		return callwright.ErrUnavailable
	}
	return s.Store.AppendAnswer(ctx, org, run, node, key, answer)
}

// TestResumedRunsAreCountedOnce checks that the spending of a failed attempt at a run is not counted twice when the same node resumes the
// run.
func TestResumedRunsAreCountedOnce(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		l := newLab(t)
		l.speaks(func(c *engine.Config) { c.Answer = 1 })
		speaks := l.model.Says // slow for some runs, so that a run is always under way
		l.model.Says = func(ctx context.Context, r llm.ReplyRequest) ([]llm.ReplyPart, error) {
			if strings.Contains(r.Instructions, "slowly") {
				time.Sleep(1700 * time.Millisecond)
			}
			return speaks(ctx, r)
		}
		left := new(atomic.Int64)
		left.Store(6)
		l.cfg.Store = losing{l.cfg.Store, left}
		l.Service = l.another()
		l.run(l.Service)
		b := l.simulate(group.SetRequest{
			Scenarios:   []string{l.scenario(spoken).ID, l.scenario(spoken, func(sc *scenario.Scenario) { sc.CallerPrompt = "You pay slowly." }).ID},
			Simulations: 15, Concurrency: 4, Budget: engine.Limit{Tokens: 30*lines*price + 200},
		})
		time.Sleep(5 * time.Minute)
		synctest.Wait()
		// The model was paid for the answer that was not stored, and is asked again. No sum includes the lost answer.
		if got, _ := l.group(b.ID); got.State != run.Passed || got.Spend.Tokens != 30*lines*price || len(l.model.Requests()) != 30*lines+1 {
			t.Errorf("got %+v after %d calls", got, len(l.model.Requests()))
		}
	})
}
