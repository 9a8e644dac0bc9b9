package agenttest_test

import (
	"context"
	"reflect"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/callwright/callwright"
	"github.com/callwright/callwright/agenttest"
	"github.com/callwright/callwright/agenttest/assert"
	"github.com/callwright/callwright/agenttest/engine"
	"github.com/callwright/callwright/agenttest/group"
	"github.com/callwright/callwright/agenttest/run"
)

// endedSet starts a set, executes its runs, and returns the ended set.
func (l *lab) endedSet(simulations int, ids ...string) group.Batch {
	l.t.Helper()
	b, err := l.StartSet(l.t.Context(), org, group.SetRequest{Scenarios: ids, Simulations: simulations})
	if err != nil {
		l.t.Fatal(err)
	}
	l.run(l.Service)
	for range 100 {
		settled()
	}
	b, _, err = l.GetSet(l.t.Context(), org, b.ID)
	if err != nil || !b.State.Ended() {
		l.t.Fatalf("the set is %+v, %v", b, err)
	}
	return b
}

// TestSetTellsItsFailures checks that 200 equal failures cause one report with a few runs, although the first delivery fails.
func TestSetTellsItsFailures(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		l := newLab(t)
		l.told.down = 1
		good, bad := l.scenario(), l.scenario(failing)
		b := l.endedSet(group.MaxSimulations, good.ID, bad.ID)
		if len(l.told.modes) != 1 || len(l.told.failed) != 0 {
			t.Fatalf("told %d modes and %d runs, want one mode", len(l.told.modes), len(l.told.failed))
		}
		m := l.told.modes[0]
		if m.Org != org || m.Set != b.ID || m.Scenario.Scenario != bad.ID || m.Count != 200 || m.Scored != 200 ||
			len(m.Runs) != group.MaxEvidence || m.Failure.Assertion != bad.Assertions[1].ID || m.Failure.Type != assert.StringCheck ||
			m.Failure.Code != assert.CodeNoMatch || m.Failure.Reason == "" {
			t.Errorf("told %+v", m)
		}
		for _, id := range m.Runs {
			if r := l.get(id); r.State != run.Failed || r.Batch != b.ID {
				t.Errorf("the evidence %s is %s", id, r.State)
			}
		}
	})
}

// TestSetTellsEachMode checks that failures of one assertion at one node are a single mode, regardless of their words, and that failures at
// another node are another mode.
func TestSetTellsEachMode(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		l := newLab(t)
		l.agent.Nodes = assert.Graph{"start": {Next: []string{"paid", "lost"}}, "paid": {}, "lost": {}}
		l.agent.Answer = varied()
		l.endedSet(12, l.scenario(failing).ID)
		counts := map[string]int{}
		for _, m := range l.told.modes {
			counts[m.Failure.Node+" "+string(m.Failure.Code)] += m.Count
			if len(m.Runs) != m.Count {
				t.Errorf("the mode has %d of %d runs", len(m.Runs), m.Count)
			}
		}
		if len(l.told.modes) != 2 || len(counts) != 2 {
			t.Errorf("told %+v", l.told.modes)
		}
	})
}

// varied returns an agent whose sessions end alternately at the nodes "paid" and "lost".
func varied() func(context.Context, int, engine.CallerTurn) (engine.AgentTurn, error) {
	sessions := make(chan int, 1)
	sessions <- 0
	return func(_ context.Context, turn int, _ engine.CallerTurn) (engine.AgentTurn, error) {
		if turn == 0 {
			return engine.AgentTurn{Text: "Hello.", Visits: []string{"start"}, Node: "start"}, nil
		}
		n := <-sessions
		sessions <- n + 1
		node := []string{"paid", "lost"}[n%2]
		return engine.AgentTurn{Text: "Goodbye.", Visits: []string{node}, Node: node, Ended: true}, nil
	}
}

// TestStatisticsStay checks that deleting runs of a set does not change its statistics, and that deleting the last run deletes the set.
func TestStatisticsStay(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		l := newLab(t)
		good, bad := l.scenario(), l.scenario(failing)
		b := l.endedSet(4, good.ID, bad.ID)
		_, before, err := l.GetSet(t.Context(), org, b.ID)
		if err != nil || before.Overall.Runs != 8 || *before.Overall.Rate != 0.5 {
			t.Fatalf("got %+v, %v", before, err)
		}
		if err := l.DeleteScenario(t.Context(), org, bad.ID); err != nil {
			t.Fatal(err)
		}
		if _, after, err := l.GetSet(t.Context(), org, b.ID); err != nil || !reflect.DeepEqual(after, before) {
			t.Errorf("the statistics became %+v, %v", after, err)
		}
		time.Sleep(time.Hour)
		if err := l.DeleteScenario(t.Context(), org, good.ID); err != nil {
			t.Fatal(err)
		}
		if _, _, err := l.GetSet(t.Context(), org, b.ID); err == nil {
			t.Error("the set is there without any run")
		}
	})
}

// slowly is a store whose reads of ended runs advance the service's clock by 4 seconds.
type slowly struct {
	agenttest.Store

	clock *slowClock
}

func (s slowly) FindRuns(ctx context.Context, of callwright.OrgID, f run.Filter) ([]run.Run, error) {
	if f.Batch != "" && len(f.States) > 1 {
		s.clock.late.Add(int64(4 * time.Second))
	}
	return s.Store.FindRuns(ctx, of, f)
}

func (s slowly) UpdateBatch(ctx context.Context, b group.Batch) error {
	if b.Statistics != nil {
		s.clock.steps.Add(1)
	}
	return s.Store.UpdateBatch(ctx, b)
}

// slowClock is a clock that is ahead of the real time by the number of nanoseconds in the field late. steps counts the stored steps of
// statistics.
type slowClock struct{ late, steps atomic.Int64 }

func (c *slowClock) Now() time.Time { return time.Now().Add(time.Duration(c.late.Load())) }

// TestLargeSetsConcludeInSteps checks that slow statistics are computed in several steps with the same result.
func TestLargeSetsConcludeInSteps(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		l := newLab(t)
		clock := &slowClock{}
		l.cfg.Store, l.cfg.Clock = slowly{l.cfg.Store, clock}, clock
		l.Service = l.another()
		var ids []string
		for range 3 {
			ids = append(ids, l.scenario(failing).ID, l.scenario().ID)
		}
		b := l.endedSet(2, ids...)
		_, st, err := l.GetSet(t.Context(), org, b.ID)
		if err != nil || len(st.Scenarios) != 6 || st.Overall.Runs != 12 || *st.Overall.Rate != 0.5 || len(l.told.modes) != 3 {
			t.Errorf("got %+v, %v; told %d modes", st, err, len(l.told.modes))
		}
		if steps := clock.steps.Load(); steps < 2 {
			t.Errorf("the statistics were stored in %d steps", steps)
		}
	})
}
