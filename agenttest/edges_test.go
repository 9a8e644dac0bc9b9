package agenttest_test

import (
	"context"
	"errors"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/callwright/callwright"
	"github.com/callwright/callwright/agenttest"
	"github.com/callwright/callwright/agenttest/group"
	"github.com/callwright/callwright/agenttest/run"
	"github.com/callwright/callwright/agenttest/scenario"
)

// TestCancelBeforeRunsExist checks that a set that is canceled before all its runs are created ends as Cancelled, not as Passed.
func TestCancelBeforeRunsExist(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		l := newLab(t)
		b, err := l.StartSet(t.Context(), org, group.SetRequest{Scenarios: []string{l.scenario().ID}, Simulations: 5})
		if err == nil {
			err = l.CancelSet(t.Context(), org, b.ID)
		}
		if err != nil {
			t.Fatal(err)
		}
		l.run(l.Service)
		settled()
		if got, _, err := l.GetSet(t.Context(), org, b.ID); err != nil || got.State != run.Cancelled || got.Created != 1 {
			t.Errorf("got %+v, %v", got, err)
		}
	})
}

// deleting is a store that deletes a scenario after reading it.
type deleting struct{ agenttest.Store }

func (s deleting) Scenario(ctx context.Context, org callwright.OrgID, id string) (scenario.Scenario, error) {
	sc, err := s.Store.Scenario(ctx, org, id)
	return sc, errors.Join(err, s.DeleteScenario(ctx, org, id))
}

// TestStartWhileDeleted checks that no run remains if its scenario is deleted while StartRun executes.
func TestStartWhileDeleted(t *testing.T) {
	t.Parallel()
	l := newLab(t)
	sc := l.scenario()
	l.cfg.Store = deleting{l.cfg.Store}
	_, err := l.another().StartRun(t.Context(), org, sc.ID, run.Request{})
	if !errors.Is(err, callwright.ErrNotFound) {
		t.Errorf("got %v", err)
	}
	if _, total, err := l.ListRuns(t.Context(), org, run.Filter{}); err != nil || total != 0 {
		t.Errorf("%d runs are left, %v", total, err)
	}
}

// counting is a store that counts the reads of single runs.
type counting struct {
	agenttest.Store

	reads atomic.Int64
}

func (s *counting) Run(ctx context.Context, org callwright.OrgID, id string) (run.Run, error) {
	s.reads.Add(1)
	return s.Store.Run(ctx, org, id)
}

// TestListsReadNoOutcomes checks that listing runs reads no single run, and that the list contains short results of the assertions.
func TestListsReadNoOutcomes(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		l := newLab(t)
		store := &counting{Store: l.cfg.Store}
		l.cfg.Store = store
		l.Service = l.another()
		sc := l.scenario(failing)
		l.run(l.Service)
		b, _, err := l.StartBatch(t.Context(), org, group.BatchRequest{Scenarios: []string{sc.ID}})
		if err != nil {
			t.Fatal(err)
		}
		settled()
		full := l.get(must(l.ListRuns(t.Context(), org, run.Filter{}))[0].ID)
		store.reads.Store(0)
		_, listed, err := l.GetBatch(t.Context(), org, b.ID)
		for _, runs := range [][]run.Run{listed, must(l.ListRuns(t.Context(), org, run.Filter{}))} {
			if err != nil || len(runs) != 1 || runs[0].Outcome == nil || len(runs[0].Outcome.Results) != 2 || len(runs[0].Outcome.Evidence.Turns) != 0 {
				t.Fatalf("got %+v, %v", runs, err)
			}
			for i, r := range runs[0].Outcome.Results {
				want := full.Outcome.Results[i]
				if r.Assertion != want.Assertion || r.Outcome != want.Outcome || r.Reasoning != want.Reasoning || r.Code != want.Code || r.Actual != nil {
					t.Errorf("result %d is %+v, want the short form of %+v", i, r, want)
				}
			}
		}
		if n := store.reads.Load(); n != 0 {
			t.Errorf("the lists have read %d outcomes", n)
		}
	})
}

// must returns runs, and panics if err is not nil.
func must(runs []run.Run, _ int, err error) []run.Run {
	if err != nil {
		panic(err)
	}
	return runs
}

// TestOldGroupsAreForgotten checks that a group is deleted together with its last run, after 400 days.
func TestOldGroupsAreForgotten(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		l := newLab(t)
		sc := l.scenario()
		stop := l.run(l.Service)
		b, _, err := l.StartBatch(t.Context(), org, group.BatchRequest{Scenarios: []string{sc.ID}})
		if err != nil {
			t.Fatal(err)
		}
		settled()
		stop() // else a worker would look for runs every second of 400 days
		time.Sleep(399 * 24 * time.Hour)
		if _, _, err := l.GetBatch(t.Context(), org, b.ID); err != nil {
			t.Errorf("after 399 days: %v", err)
		}
		time.Sleep(2 * 24 * time.Hour)
		if _, _, err := l.GetBatch(t.Context(), org, b.ID); !errors.Is(err, callwright.ErrNotFound) {
			t.Errorf("after 401 days: %v", err)
		}
	})
}
