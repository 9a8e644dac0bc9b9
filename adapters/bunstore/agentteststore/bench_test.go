package agentteststore_test

import (
	"context"
	"fmt"
	"testing"
	"time"

	"github.com/callwright/callwright"
	"github.com/callwright/callwright/adapters/bunstore"
	"github.com/callwright/callwright/adapters/bunstore/agentteststore"
	"github.com/callwright/callwright/adapters/bunstore/internal/storetest"
	"github.com/callwright/callwright/agenttest/agenttesttest"
	"github.com/callwright/callwright/agenttest/run"
	"github.com/callwright/callwright/agenttest/scenario"
)

// liveRun executes the statements of a run's whole life, as the service does: insertion with its snapshot, the claim by a node, and the end
// with an outcome.
func liveRun(ctx context.Context, db *bunstore.DB, id string) error {
	store, now := agentteststore.Store{DB: db}, start
	full, snapshot := agenttesttest.FullRun(id), agenttesttest.FullSnapshot("snapshot of "+id)
	r := run.Run{
		ID: id, Org: org, Scenario: "s1", Name: "Pay", Pathway: "p1", Version: 5, Snapshot: snapshot.ID, State: run.Pending,
		CreatedAt: now, Revision: 1,
	}
	err := db.Do(ctx, func(ctx context.Context) error {
		if _, err := store.CountRuns(ctx, org, run.Filter{States: []run.State{run.Pending}}); err != nil {
			return err
		}
		if err := store.InsertSnapshots(ctx, []run.Snapshot{snapshot}); err != nil {
			return err
		}
		return store.InsertRuns(ctx, []run.Run{r})
	})
	if err != nil {
		return err
	}
	err = db.Do(ctx, func(ctx context.Context) error {
		orgs, err := store.Waiting(ctx, 100)
		if err != nil || len(orgs) != 1 {
			return fmt.Errorf("%v wait, %w", orgs, err)
		}
		if _, err := store.CountRuns(ctx, org, run.Filter{States: []run.State{run.Running}}); err != nil {
			return err
		}
		runs, err := store.FindRuns(ctx, org, run.Filter{States: []run.State{run.Pending}, Oldest: true, Limit: 8})
		if err != nil || len(runs) != 1 {
			return fmt.Errorf("%d runs wait, %w", len(runs), err)
		}
		r = runs[0]
		r.State, r.Node, r.Attempt, r.StartedAt = run.Running, "n", 1, now
		return store.UpdateRuns(ctx, []run.Run{r})
	})
	if err != nil {
		return err
	}
	if _, err := store.Snapshot(ctx, org, r.Snapshot); err != nil {
		return err
	}
	r.State, r.Outcome, r.Result, r.EndedAt, r.Revision = run.Passed, full.Outcome, full.Result, now, 2
	return db.Do(ctx, func(ctx context.Context) error {
		if err := store.UpdateRuns(ctx, []run.Run{r}); err != nil {
			return err
		}
		return store.DeleteAnswers(ctx, org, id)
	})
}

// BenchmarkRun measures the statements of a run's whole life: see liveRun.
func BenchmarkRun(b *testing.B) {
	for name, address := range storetest.Databases {
		b.Run(name, func(b *testing.B) {
			db, ids := storetest.Open(b, address(b)), &callwright.UUIDs{}
			b.ReportAllocs()
			for b.Loop() {
				if err := liveRun(b.Context(), db, ids.New()); err != nil {
					b.Fatal(err)
				}
			}
		})
	}
}

// BenchmarkRunsPage reads pages of 100 from an organization's 100,000 runs, and counts the matches.
func BenchmarkRunsPage(b *testing.B) {
	const count = 100_000
	for _, name := range []string{"sqlite", "postgres"} {
		db := storetest.Open(b, storetest.Databases[name](b))
		fillRuns(b, db, count)
		store := agentteststore.Store{DB: db}
		for what, f := range map[string]run.Filter{
			"all": {}, "scenario": {Scenario: "s7"}, "pathway": {Pathway: "p3"}, "batch": {Batch: "b1"},
			"failed": {States: []run.State{run.Failed}}, "ended": {States: []run.State{run.Failed, run.Passed}},
			"unended": {States: []run.State{run.Pending, run.Running}},
		} {
			f.Limit, f.After = 100, callwright.Keyset{At: start.Add(count / 2 * time.Second), ID: "r"}
			addResults(b, store, f)
			b.Run(name+"/page/"+what, func(b *testing.B) {
				b.ReportAllocs()
				for b.Loop() {
					runs, err := store.FindRuns(b.Context(), org, f)
					if err != nil || len(runs) != 100 && what != "unended" {
						b.Fatal(len(runs), err)
					}
				}
			})
			b.Run(name+"/count/"+what, func(b *testing.B) {
				b.ReportAllocs()
				for b.Loop() {
					if _, err := store.CountRuns(b.Context(), org, f); err != nil {
						b.Fatal(err)
					}
				}
			})
		}
	}
}

// addResults stores a result for each run on one page, because fillRuns stores none.
func addResults(b *testing.B, store agentteststore.Store, f run.Filter) {
	b.Helper()
	runs, err := store.FindRuns(b.Context(), org, f)
	if err != nil {
		b.Fatal(err)
	}
	for i := range runs {
		runs[i].Result = agenttesttest.FullRun("r").Result
	}
	if err := store.UpdateRuns(b.Context(), runs); err != nil {
		b.Fatal(err)
	}
}

// BenchmarkDeleteScenario deletes a scenario with 10,000 runs, each with its own outcome and snapshot.
func BenchmarkDeleteScenario(b *testing.B) {
	for _, name := range []string{"sqlite", "postgres"} {
		b.Run(name, func(b *testing.B) {
			db := storetest.Open(b, storetest.Databases[name](b))
			store := agentteststore.Store{DB: db}
			b.ReportAllocs()
			for b.Loop() {
				b.StopTimer()
				fillRuns(b, db, 10_000)
				if _, err := db.SQL().ExecContext(b.Context(), "UPDATE test_runs SET scenario_id = 's', batch_id = ''"); err != nil {
					b.Fatal(err)
				}
				sc := scenario.Scenario{ID: "s", Org: org, Name: "n", Pathway: "p", CreatedAt: start}
				if err := store.InsertScenario(b.Context(), sc); err != nil {
					b.Fatal(err)
				}
				b.StartTimer()
				if err := store.DeleteScenario(b.Context(), org, "s"); err != nil {
					b.Fatal(err)
				}
			}
		})
	}
}
