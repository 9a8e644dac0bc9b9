package agentteststore_test

import (
	"context"
	"errors"
	"fmt"
	"regexp"
	"strings"
	"testing"
	"time"

	"github.com/callwright/callwright"
	"github.com/callwright/callwright/adapters/bunstore"
	"github.com/callwright/callwright/adapters/bunstore/agentteststore"
	"github.com/callwright/callwright/adapters/bunstore/internal/storetest"
	"github.com/callwright/callwright/agenttest"
	"github.com/callwright/callwright/agenttest/agenttesttest"
	"github.com/callwright/callwright/agenttest/analytics"
	"github.com/callwright/callwright/agenttest/group"
	"github.com/callwright/callwright/agenttest/run"
	"github.com/callwright/callwright/agenttest/scenario"
)

const org = callwright.OrgID("a")

// start is the creation time of the first run that fillRuns stores. The others follow, one per second.
var start = time.Date(2026, 5, 4, 3, 0, 0, 0, time.UTC)

// fillRuns stores count ended runs of organization a, with ids from r1000000, each with an outcome and its own snapshot. They belong to a
// hundred scenarios (s0 to s99) and ten pathways (p0 to p9). One in a hundred has failed, and one in a hundred belongs to batch b1.
func fillRuns(t testing.TB, db *bunstore.DB, count int) {
	t.Helper()
	store, r, snapshot := agentteststore.Store{DB: db}, agenttesttest.FullRun("template"), agenttesttest.FullSnapshot("template")
	r.Batch, r.Persona, r.Webhook, r.Result = "", "", "", run.Result{} // a sealed value can be read only in its own row
	err := store.InsertRuns(t.Context(), []run.Run{r})
	if err == nil {
		err = store.InsertSnapshots(t.Context(), []run.Snapshot{snapshot})
	}
	if err != nil {
		t.Fatal(err)
	}
	storetest.Copies(t, db, "test_snapshots", count, map[string]string{"id": "'n' || CAST(1000000 + i AS TEXT)"})
	storetest.Copies(t, db, "test_runs", count, map[string]string{
		"id": "'r' || CAST(1000000 + i AS TEXT)", "scenario_id": "'s' || CAST(i % 100 AS TEXT)",
		"pathway_id": "'p' || CAST(i % 10 AS TEXT)", "batch_id": "CASE WHEN i % 100 = 7 THEN 'b1' ELSE '' END", "trial": "i",
		"snapshot_id": "'n' || CAST(1000000 + i AS TEXT)", "experiment": "i % 7 = 3", "state": "CASE WHEN i % 100 = 0 THEN 'FAILED' ELSE 'PASSED' END",
		"created_at": storetest.Second(db, start, "i"),
	})
}

// reads matches query plans that sort, or that read rows that they do not return.
var reads = regexp.MustCompile(`Seq Scan|Sort|TEMP|SCAN test|SCAN run|Filter: \(\(?[^$]|Bitmap`)

// TestPagesUseIndexes checks the query plans of pages of runs on a full table: only the runs of the page are read, in the order of an
// index.
func TestPagesUseIndexes(t *testing.T) {
	t.Parallel()
	storetest.OnEach(t, func(t *testing.T, open func(*testing.T) *bunstore.DB) {
		db := open(t)
		fillRuns(t, db, 5000)
		store := agentteststore.Store{DB: db}
		for index, f := range map[string]run.Filter{
			"test_runs_by_creation": {}, "test_runs_by_scenario": {Scenario: "s7"}, "test_runs_by_pathway": {Pathway: "p3"},
			"test_runs_by_state": {States: []run.State{run.Failed, run.Error}},
		} {
			for _, oldest := range []bool{false, true} {
				f.Limit, f.Oldest, f.After = 10, oldest, callwright.Keyset{}
				seen := storetest.Statements(t, db, func() error {
					for range 2 {
						runs, err := store.FindRuns(t.Context(), org, f)
						if err != nil || len(runs) != 10 {
							return fmt.Errorf("%d runs, %w", len(runs), err)
						}
						f.After = callwright.Keyset{At: runs[9].CreatedAt, ID: runs[9].ID}
					}
					return nil
				})
				for _, query := range seen {
					plan := storetest.Explain(t, db, query, true)
					if !strings.Contains(plan, index) || reads.MatchString(plan) {
						t.Errorf("not by %s alone: %s\n%s", index, query, plan)
					}
					if strings.Contains(query, "outcome") {
						t.Errorf("reads outcomes: %s", query)
					}
				}
			}
		}
	})
}

// TestPagesOfBatchesUseIndexes checks the query plans of pages of groups: only the groups of the page are read, in the order of an index,
// and no documents.
func TestPagesOfBatchesUseIndexes(t *testing.T) {
	t.Parallel()
	storetest.OnEach(t, func(t *testing.T, open func(*testing.T) *bunstore.DB) {
		db := open(t)
		store, batch := agentteststore.Store{DB: db}, agenttesttest.FullBatch("template")
		batch.Org, batch.Persona = "other", ""
		if err := store.InsertBatch(t.Context(), batch); err != nil {
			t.Fatal(err)
		}
		storetest.Copies(t, db, "test_batches", 5000, map[string]string{
			"id": "'b' || CAST(1000000 + i AS TEXT)", "org": "'a'", "pathway_id": "'p' || CAST(i % 10 AS TEXT)",
			"persona_id": "CASE WHEN i % 50 = 3 THEN 'x' ELSE '' END", "kind": "CASE WHEN i % 2 = 0 THEN 'batch' ELSE 'simulation_set' END",
			"state": "CASE WHEN i % 100 = 0 THEN 'FAILED' ELSE 'PASSED' END", "created_at": storetest.Second(db, start, "i"),
		})
		for index, f := range map[string]group.Filter{
			"test_batches_by_creation": {Kind: group.OneEach}, "test_batches_by_pathway": {Kind: group.Simulations, Pathway: "p3"},
			"test_batches_by_persona": {Kind: group.Simulations, Persona: "x"},
			"test_batches_by_state":   {Kind: group.OneEach, State: run.Failed},
		} {
			f.Limit, f.Offset = 10, 5
			seen := storetest.Statements(t, db, func() error {
				list, err := store.FindBatches(t.Context(), org, f)
				if err != nil || len(list) != 10 {
					return fmt.Errorf("%d groups, %w", len(list), err)
				}
				return nil
			})
			for _, query := range seen {
				plan := storetest.Explain(t, db, query, true)
				if !strings.Contains(plan, index) || readsBatches.MatchString(plan) {
					t.Errorf("not by %s alone: %s\n%s", index, query, plan)
				}
				if strings.Contains(query, "document") {
					t.Errorf("reads documents: %s", query)
				}
			}
		}
	})
}

var readsBatches = regexp.MustCompile(`Seq Scan|Sort|TEMP|SCAN batch|Filter: \(\(?[^$]|Bitmap`)

// TestRunsOfScenarioInBatch checks that a query for a scenario's runs in a batch uses the index of trials, and finds no runs for another
// organization.
func TestRunsOfScenarioInBatch(t *testing.T) {
	t.Parallel()
	storetest.OnEach(t, func(t *testing.T, open func(*testing.T) *bunstore.DB) {
		db := open(t)
		fillRuns(t, db, 5000)
		store := agentteststore.Store{DB: db}
		f := run.Filter{Batch: "b1", Scenario: "s7", States: []run.State{run.Passed, run.Failed}, Oldest: true, Limit: 200}
		seen := storetest.Statements(t, db, func() error {
			runs, err := store.FindRuns(t.Context(), org, f)
			if err != nil || len(runs) != 50 {
				return fmt.Errorf("%d runs, %w", len(runs), err)
			}
			return nil
		})
		if runs, err := store.FindRuns(t.Context(), "b", f); err != nil || len(runs) != 0 {
			t.Errorf("another organization finds %d runs, %v", len(runs), err)
		}
		for _, query := range seen {
			if plan := storetest.Explain(t, db, query, true); !strings.Contains(plan, "test_runs_by_trial") {
				t.Errorf("not by the index: %s\n%s", query, plan)
			}
		}
	})
}

// TestRecentRunsAreFound checks that a list of scenarios contains the most recent run of each, and finds these runs with one statement that
// scans no table.
func TestRecentRunsAreFound(t *testing.T) {
	t.Parallel()
	storetest.OnEach(t, func(t *testing.T, open func(*testing.T) *bunstore.DB) {
		db := open(t)
		fillRuns(t, db, 2000)
		store := agentteststore.Store{DB: db}
		for i := range 10 {
			sc := scenario.Scenario{ID: fmt.Sprint("s", i), Org: org, Name: fmt.Sprint("n", i), Pathway: "p1", CreatedAt: start}
			if err := store.InsertScenario(t.Context(), sc); err != nil {
				t.Fatal(err)
			}
		}
		seen := storetest.Statements(t, db, func() error {
			list, err := store.FindScenarios(t.Context(), org, agenttest.ScenarioFilter{Limit: 100})
			for _, l := range list {
				if l.Recent == nil || l.Recent.Scenario != l.ID || l.Recent.CreatedAt.Before(start.Add(1700*time.Second)) {
					t.Errorf("the most recent run of %s is %+v", l.ID, l.Recent)
				}
			}
			return err
		})
		if len(seen) != 2 {
			t.Fatalf("%d statements", len(seen))
		}
		if plan := storetest.Explain(t, db, seen[1], true); !strings.Contains(plan, "test_runs_by_scenario") ||
			regexp.MustCompile(`SCAN run|Seq Scan on test_runs`).MatchString(plan) {
			t.Errorf("not by the index: %s\n%s", seen[1], plan)
		}
	})
}

// TestEveryStatementUsesAnIndex runs every query of the store and fails if a query scans a whole table.
func TestEveryStatementUsesAnIndex(t *testing.T) {
	t.Parallel()
	storetest.UsesIndexes(t, useStore)
}

// useStore calls every method that queries rows, and returns their errors.
func useStore(ctx context.Context, db *bunstore.DB, now time.Time) []error {
	s, yes := agentteststore.Store{DB: db}, true
	sc := scenario.Scenario{ID: "s", Org: org, Name: "n", Pathway: "p", Enabled: true, Required: true, CreatedAt: now, Revision: 1}
	r := run.Run{
		ID: "r", Org: org, Scenario: "s", Snapshot: "snap", Batch: "b", State: run.Running, Node: "n", CreatedAt: now, Revision: 1,
	}
	batch := group.Batch{ID: "b", Org: org, Kind: group.OneEach, Pathway: "p", Version: 1, CreatedAt: now, Revision: 1}
	place := callwright.Keyset{At: now, ID: "x"}
	errs := []error{
		s.InsertScenario(ctx, sc), s.InsertScenario(ctx, sc), s.UpdateScenario(ctx, sc), s.UpdateScenario(ctx, sc),
		s.InsertBatch(ctx, batch), s.UpdateBatch(ctx, batch), s.UpdateBatch(ctx, batch),
		s.InsertSnapshots(ctx, []run.Snapshot{{ID: "snap", Org: org}}), s.InsertRuns(ctx, []run.Run{r}),
		s.UpdateRuns(ctx, []run.Run{r}), s.UpdateRuns(ctx, []run.Run{r}),
		s.AppendAnswer(ctx, org, "r", "n", "k", []byte("x")), s.AppendAnswer(ctx, org, "r", "n", "k", []byte("x")),
		s.AppendJudgement(ctx, org, "r", "k", []byte("x")), s.DeleteAnswers(ctx, org, "r"),
	}
	add := func(_ any, err error) { errs = append(errs, err) }
	add(s.Scenario(ctx, org, "s"))
	add(s.CountScenarios(ctx, org))
	add(s.RequiredScenarios(ctx, org, "p", 10))
	for _, f := range []agenttest.ScenarioFilter{
		{}, {IDs: []string{"s", "t"}}, {Pathway: "p", Persona: "x", Category: scenario.Custom, Enabled: &yes, Required: &yes, After: place},
	} {
		f.Limit = 10
		add(s.FindScenarios(ctx, org, f))
	}
	add(s.Snapshot(ctx, org, "snap"))
	add(s.Run(ctx, org, "r"))
	for _, f := range []run.Filter{
		{}, {Scenario: "s"}, {Pathway: "p"}, {Persona: "x"}, {Batch: "b"}, {Batch: "b", States: run.States()},
		{States: run.States()}, {States: []run.State{run.Pending}, Oldest: true, After: place, Offset: 3},
		{States: []run.State{run.Pending}, Oldest: true, After: place, NotBatches: []string{"b", "c"}},
	} {
		f.Limit = 10
		add(s.FindRuns(ctx, org, f))
		add(s.CountRuns(ctx, org, f))
	}
	ignore := func(analytics.Run) {}
	errs = append(errs, s.EachEnded(ctx, org, run.Window{Pathway: "p", From: now}, ignore))
	add(s.CountUnended(ctx, org))
	add(s.Waiting(ctx, 10))
	add(s.Abandoned(ctx, nil, 10))
	add(s.Abandoned(ctx, []string{"m", "o"}, 10))
	add(s.Cancelled(ctx, "n"))
	errs = append(errs, s.CancelRun(ctx, org, "r"))
	add(s.Answers(ctx, org, "r"))
	add(s.Batch(ctx, org, "b"))
	add(s.BatchesOf(ctx, org, "p", 1, 10))
	for _, f := range []group.Filter{
		{Kind: group.OneEach}, {Kind: group.Simulations, Pathway: "p"}, {Kind: group.OneEach, Persona: "x", Offset: 3},
		{Kind: group.OneEach, State: run.Passed}, {Kind: group.OneEach, Pathway: "p", Persona: "x", State: run.Failed},
	} {
		f.Limit = 10
		add(s.FindBatches(ctx, org, f))
		add(s.CountBatches(ctx, org, f))
	}
	errs = append(errs, db.Do(ctx, func(ctx context.Context) error {
		_, err := s.AddCounts(ctx, org, "b", group.Sums{Counts: group.Counts{Passed: 1}})
		_, heldErr := s.HoldSnapshots(ctx, org, []string{"n", "m"})
		return errors.Join(err, heldErr, s.HoldScenario(ctx, org, "s"))
	}))
	ended := run.Run{ID: "old", Org: org, State: run.Passed, CreatedAt: now, EndedAt: now}
	errs = append(errs, s.InsertRuns(ctx, []run.Run{ended}))
	add(s.DeleteRuns(ctx, now.Add(time.Hour), 10))
	return append(errs, s.DeleteScenario(ctx, org, "s"))
}

// TestDeletionsTakeFewStatements checks that deleting a scenario needs six statements, with few runs and with many.
func TestDeletionsTakeFewStatements(t *testing.T) {
	t.Parallel()
	storetest.OnEach(t, func(t *testing.T, open func(*testing.T) *bunstore.DB) {
		db := open(t)
		fillRuns(t, db, 3000)
		store := agentteststore.Store{DB: db}
		const move = "UPDATE test_runs SET scenario_id = 'many' WHERE scenario_id <> 's1'"
		if _, err := db.SQL().ExecContext(t.Context(), move); err != nil {
			t.Fatal(err)
		}
		for id, left := range map[string]int{"s1": 2970, "many": 30} {
			if err := store.InsertScenario(t.Context(), scenario.Scenario{ID: id, Org: org, Name: id, Pathway: "p1", CreatedAt: start}); err != nil {
				t.Fatal(err)
			}
			before, err := store.CountRuns(t.Context(), org, run.Filter{})
			if err != nil {
				t.Fatal(err)
			}
			seen := storetest.Statements(t, db, func() error { return store.DeleteScenario(t.Context(), org, id) })
			after, err := store.CountRuns(t.Context(), org, run.Filter{})
			if err != nil || before-after != 3000-left || len(seen) != 6 {
				t.Errorf("%d runs of %s are deleted in %d statements, %v", before-after, id, len(seen), err)
			}
		}
	})
}

// TestStatementsOfARunAreCompiledOnce checks that SQLite compiles the statements of a run's life once, not again for each run.
func TestStatementsOfARunAreCompiledOnce(t *testing.T) {
	t.Parallel()
	storetest.CompilesOnce(t, liveRun)
}
