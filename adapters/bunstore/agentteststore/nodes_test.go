package agentteststore_test

import (
	"context"
	"fmt"
	"sync"
	"testing"
	"time"

	"github.com/callwright/callwright"
	"github.com/callwright/callwright/adapters/bunstore"
	"github.com/callwright/callwright/adapters/bunstore/agentteststore"
	"github.com/callwright/callwright/adapters/bunstore/internal/storetest"
	"github.com/callwright/callwright/agents/llm"
	"github.com/callwright/callwright/agenttest"
	"github.com/callwright/callwright/agenttest/engine"
	"github.com/callwright/callwright/agenttest/group"
	"github.com/callwright/callwright/agenttest/run"
	"github.com/callwright/callwright/agenttest/scenario"
)

// lastWork is a callwright.Work that runs no tasks. At the end of a group the service enqueues the task agenttest.settle, and lastWork then
// sends to the channel ended.
type lastWork struct{ ended chan struct{} }

func (w lastWork) Enqueue(_ context.Context, t callwright.Task) error {
	if t.Kind == "agenttest.settle" {
		w.ended <- struct{}{}
	}
	return nil
}

func (lastWork) Handle(callwright.Queue, string, callwright.Handler)               {}
func (lastWork) Every(callwright.Queue, string, time.Duration, callwright.Handler) {}

// TestConcurrencyOverNodes checks that nodes that claim runs of a group concurrently do not exceed the group's concurrency. Each run counts
// the running runs at its start.
func TestConcurrencyOverNodes(t *testing.T) {
	t.Parallel()
	storetest.OnEach(t, func(t *testing.T, open func(*testing.T) *bunstore.DB) {
		const nodes, runs, allowed = 4, 40, 3
		db := open(t)
		store := agentteststore.Store{DB: db}
		var mu sync.Mutex
		most, begun := 0, 0
		held, err := engine.New(engine.Config{Runner: engine.RunnerFunc(func(ctx context.Context, s engine.SessionSpec) (engine.Session, error) {
			n, err := store.CountRuns(ctx, s.Org, run.Filter{States: []run.State{run.Running}})
			mu.Lock()
			defer mu.Unlock()
			most, begun = max(most, n), begun+1
			return engine.SessionFunc(func(context.Context, engine.CallerTurn) (engine.AgentTurn, error) {
				return engine.AgentTurn{Text: "Goodbye.", Ended: true}, nil
			}), err
		})})
		if err != nil {
			t.Fatal(err)
		}
		work := lastWork{make(chan struct{}, 1)}
		ctx, cancel := context.WithCancel(context.WithoutCancel(t.Context()))
		var all sync.WaitGroup
		defer all.Wait()
		defer cancel()
		var first *agenttest.Service
		for i := range nodes {
			s, err := agenttest.New(agenttest.Config{
				Store: store, Atomic: db, Work: work, Leases: bunstore.Leases{DB: db}, Node: fmt.Sprint("node ", i), Pathways: onePathway{},
				Engine: held,
			})
			if err != nil {
				t.Fatal(err)
			}
			first = s
			all.Go(func() { _ = s.Run(ctx) })
		}
		ids := make([]string, runs)
		for i := range ids {
			sc, err := first.CreateScenario(t.Context(), org, scenario.Scenario{
				Pathway: "p", Name: fmt.Sprint(i), Enabled: true, Messages: []scenario.Message{{Role: llm.RoleCaller, Text: "Hi."}},
			})
			if err != nil {
				t.Fatal(err)
			}
			ids[i] = sc.ID
		}
		if _, _, err := first.StartBatch(t.Context(), org, group.BatchRequest{Scenarios: ids, Concurrency: allowed}); err != nil {
			t.Fatal(err)
		}
		<-work.ended
		mu.Lock()
		defer mu.Unlock()
		if most > allowed || begun != runs {
			t.Errorf("%d runs have begun, of which %d were under way at once", begun, most)
		}
	})
}
