package agenttest_test

import (
	"context"
	"errors"
	"fmt"
	"sync"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/callwright/callwright"
	"github.com/callwright/callwright/agents/pathway"
	"github.com/callwright/callwright/agenttest"
	"github.com/callwright/callwright/agenttest/group"
	"github.com/callwright/callwright/agenttest/run"
	"github.com/callwright/callwright/agenttest/scenario"
)

// reading is a store that counts reads of scenarios, and delays reads of scenario lists.
type reading struct {
	agenttest.Store

	block chan struct{} // FindScenarios waits until block is closed; nil means no delay
	lists atomic.Int32
}

func (s *reading) FindScenarios(ctx context.Context, of callwright.OrgID, f agenttest.ScenarioFilter) ([]agenttest.Listed, error) {
	s.lists.Add(1)
	if s.block != nil {
		select {
		case <-s.block:
		case <-ctx.Done():
			return nil, ctx.Err()
		}
	}
	return s.Store.FindScenarios(ctx, of, f)
}

func (s *reading) Scenario(ctx context.Context, of callwright.OrgID, id string) (scenario.Scenario, error) {
	s.lists.Add(1)
	return s.Store.Scenario(ctx, of, id)
}

// TestFullOrganizationReadsNothing checks that a start beyond the maximum of waiting runs is refused before scenarios are read. The runs of
// a set count even before they are created.
func TestFullOrganizationReadsNothing(t *testing.T) {
	t.Parallel()
	l := newLab(t)
	ids := make([]string, run.MaxPending/group.MaxSimulations)
	for i := range ids {
		ids[i] = l.scenario().ID
	}
	store := &reading{Store: l.cfg.Store}
	l.cfg.Store = store
	s := l.another()
	set := group.SetRequest{Scenarios: ids, Simulations: group.MaxSimulations}
	if _, err := s.StartSet(t.Context(), org, set); err != nil {
		t.Fatal(err)
	}
	before := store.lists.Load()
	_, setErr := s.StartSet(t.Context(), org, group.SetRequest{Scenarios: ids[:1], Simulations: 1})
	_, _, batchErr := s.StartBatch(t.Context(), org, group.BatchRequest{Scenarios: ids[:1]})
	_, runErr := s.StartRun(t.Context(), org, ids[0], run.Request{})
	for what, err := range map[string]error{"set": setErr, "batch": batchErr, "run": runErr} {
		if callwright.CodeOf(err) != callwright.CodeTooManyRequests {
			t.Errorf("a %s gives %v", what, err)
		}
	}
	if n := store.lists.Load() - before; n != 0 {
		t.Errorf("%d reads of scenarios", n)
	}
	if _, _, err := s.StartBatch(t.Context(), "other", group.BatchRequest{Scenarios: ids[:1]}); !errors.Is(err, callwright.ErrNotFound) {
		t.Errorf("another organization gets %v", err)
	}
}

// TestManyStartsAtOnce checks that concurrently started sets together do not exceed the maximum of waiting runs of an organization.
func TestManyStartsAtOnce(t *testing.T) {
	t.Parallel()
	l := newLab(t)
	ids := make([]string, 50)
	for i := range ids {
		ids[i] = l.scenario().ID
	}
	var started atomic.Int32
	var wait sync.WaitGroup
	for range 8 {
		wait.Go(func() {
			_, err := l.StartSet(t.Context(), org, group.SetRequest{Scenarios: ids, Simulations: group.MaxSimulations})
			switch {
			case err == nil:
				started.Add(1)
			case callwright.CodeOf(err) != callwright.CodeTooManyRequests:
				t.Error(err)
			}
		})
	}
	wait.Wait()
	if n := started.Load(); n != 2 {
		t.Errorf("%d sets of 10,000 runs have started", n)
	}
}

// TestStartsAreBounded checks that a node reads the scenarios of at most 4 groups concurrently, at most 2 of them of one organization, and
// that further starts fail with CodeTooManyRequests after waiting.
func TestStartsAreBounded(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		l := newLab(t)
		id := l.scenario().ID
		store := &reading{Store: l.cfg.Store, block: make(chan struct{})}
		l.cfg.Store = store
		s := l.another()
		var busy, done atomic.Int32
		var wait sync.WaitGroup
		defer wait.Wait()
		start := func(of callwright.OrgID) {
			wait.Go(func() {
				_, _, err := s.StartBatch(t.Context(), of, group.BatchRequest{Scenarios: []string{id}})
				switch {
				case err == nil:
					done.Add(1)
				case callwright.CodeOf(err) == callwright.CodeTooManyRequests:
					busy.Add(1)
				case of == org:
					t.Error(err)
				}
			})
		}
		for range 10 {
			start(org)
		}
		synctest.Wait()
		if n := store.lists.Load(); n != 2 {
			t.Errorf("%d groups of an organization are read at once", n)
		}
		for i := range 6 {
			start(callwright.OrgID(fmt.Sprint("other ", i)))
		}
		synctest.Wait()
		if n := store.lists.Load(); n != 4 {
			t.Errorf("%d groups are read at once", n)
		}
		time.Sleep(10 * time.Second)
		synctest.Wait()
		if busy.Load() != 8+4 {
			t.Errorf("%d were sent away", busy.Load())
		}
		close(store.block)
		wait.Wait()
		if done.Load() != 2 {
			t.Errorf("%d batches have started", done.Load())
		}
	})
}

// TestPromotionWaitsForNoStart checks that the gate starts tests without waiting for other starts. The gate runs in the transaction of a
// promotion, and the other starts may wait for this transaction.
func TestPromotionWaitsForNoStart(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		l := newLab(t)
		id := l.scenario(required).ID
		store := &reading{Store: l.cfg.Store, block: make(chan struct{})}
		l.cfg.Store = store
		s := l.another()
		var wait sync.WaitGroup
		for range 2 {
			wait.Go(func() {
				if _, _, err := s.StartBatch(t.Context(), org, group.BatchRequest{Scenarios: []string{id}}); err != nil {
					t.Error(err)
				}
			})
		}
		synctest.Wait()
		wait.Go(func() {
			v, err := s.Check(t.Context(), org, pathway.Candidate{Pathway: "p1", Number: 1, Hash: "another", Start: true})
			if err != nil || v.State != pathway.GateRunning {
				t.Errorf("got %+v, %v", v, err)
			}
		})
		synctest.Wait()
		if n := store.lists.Load(); n != 3 {
			t.Errorf("%d groups are read", n)
		}
		close(store.block)
		wait.Wait()
	})
}
