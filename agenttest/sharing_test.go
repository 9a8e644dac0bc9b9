package agenttest_test

import (
	"context"
	"encoding/json"
	"fmt"
	"slices"
	"strings"
	"sync/atomic"
	"testing"
	"testing/synctest"

	"github.com/callwright/callwright"
	"github.com/callwright/callwright/agenttest"
	"github.com/callwright/callwright/agenttest/group"
	"github.com/callwright/callwright/agenttest/run"
	"github.com/callwright/callwright/agenttest/scenario"
)

// copying is a store that counts the snapshots read and written. After each FindScenarios it calls the field before, if set. A test uses
// this to change a scenario.
type copying struct {
	agenttest.Store

	copies atomic.Int32
	reads  atomic.Int32
	before func()
}

func (s *copying) Snapshot(ctx context.Context, of callwright.OrgID, id string) (run.Snapshot, error) {
	s.reads.Add(1)
	return s.Store.Snapshot(ctx, of, id)
}

func (s *copying) InsertSnapshots(ctx context.Context, snaps []run.Snapshot) error {
	s.copies.Add(int32(len(snaps)))
	return s.Store.InsertSnapshots(ctx, snaps)
}

func (s *copying) FindScenarios(ctx context.Context, of callwright.OrgID, f agenttest.ScenarioFilter) ([]agenttest.Listed, error) {
	list, err := s.Store.FindScenarios(ctx, of, f)
	if s.before != nil {
		s.before()
	}
	return list, err
}

// TestRunsShareSnapshots checks that runs of the same test share a snapshot, regardless of how they were started. Runs of other tests use
// other snapshots.
func TestRunsShareSnapshots(t *testing.T) {
	t.Parallel()
	l := newLab(t)
	store := &copying{Store: l.cfg.Store}
	l.cfg.Store = store
	l.Service = l.another()
	sc, other := l.scenario(), l.scenario()
	batch := func() []string {
		_, runs, err := l.StartBatch(t.Context(), org, group.BatchRequest{Scenarios: []string{sc.ID, other.ID}})
		if err != nil {
			t.Fatal(err)
		}
		return []string{runs[0].Snapshot, runs[1].Snapshot}
	}
	set, err := l.StartSet(t.Context(), org, group.SetRequest{Scenarios: []string{other.ID, sc.ID}, Simulations: 3})
	if err != nil || set.Created != 2 {
		t.Fatalf("%d runs keep the snapshots of the set, %v", set.Created, err)
	}
	same := batch()
	if same[0] != set.Scenarios[1].Snapshot || same[1] != set.Scenarios[0].Snapshot || !slices.Equal(same, batch()) ||
		l.start(sc, run.Request{}).Snapshot != same[0] || same[0] == same[1] || store.copies.Load() != 2 {
		t.Errorf("%d copies of 2 scenarios", store.copies.Load())
	}
	two := 2
	seen := []string{
		same[0], l.start(sc, run.Request{Version: &two}).Snapshot,
		l.start(sc, run.Request{Override: map[string]any{"a": 1}}).Snapshot,
		l.start(sc, run.Request{Override: map[string]any{"a": 2}}).Snapshot,
	}
	if _, err := l.UpdateScenario(t.Context(), org, sc.ID, scenario.Patch{Description: callwright.Given("new")}); err != nil {
		t.Fatal(err)
	}
	seen = append(seen, batch()[0])
	slices.Sort(seen)
	if n := len(slices.Compact(seen)); n != 5 || store.copies.Load() != 6 {
		t.Errorf("%d snapshots, %d copies", n, store.copies.Load())
	}
}

// TestChangeDuringStart checks that, if a scenario changes while a batch starts, the batch and the tested snapshot agree on the new
// revision.
func TestChangeDuringStart(t *testing.T) {
	t.Parallel()
	l := newLab(t)
	sc := l.scenario()
	change := func() {
		if _, err := l.UpdateScenario(t.Context(), org, sc.ID, scenario.Patch{Description: callwright.Given("new")}); err != nil {
			t.Error(err)
		}
	}
	store := &copying{Store: l.cfg.Store}
	store.before = func() { store.before = nil; change() }
	c := l.cfg
	c.Store, c.Node = store, "another"
	s, err := agenttest.New(c)
	if err != nil {
		t.Fatal(err)
	}
	b, _, err := s.StartBatch(t.Context(), org, group.BatchRequest{Scenarios: []string{sc.ID}})
	if err != nil || b.Scenarios[0].Revision != 2 {
		t.Fatalf("got %+v, %v", b, err)
	}
	snap, err := store.Snapshot(t.Context(), org, b.Scenarios[0].Snapshot)
	if err != nil || snap.Scenario.Description != "new" || snap.Scenario.Revision != 2 {
		t.Errorf("got %+v, %v", snap, err)
	}
}

// TestSnapshotsAreReadOnce checks that a node reads each snapshot of a set once, unless the snapshots exceed the node's cache, and that
// each run tests its own scenario.
func TestSnapshotsAreReadOnce(t *testing.T) {
	t.Parallel()
	for _, tt := range []struct{ scenarios, mocks, least, most int }{{3, 0, 3, 3}, {31, 5, 32, 62}} {
		synctest.Test(t, func(t *testing.T) {
			l := newLab(t)
			store := &copying{Store: l.cfg.Store}
			l.cfg.Store = store
			l.Service = l.another()
			l.run(l.Service)
			ids, words := make([]string, tt.scenarios), map[string]string{}
			for i := range ids {
				said := fmt.Sprint("I want to pay ", i)
				ids[i] = l.scenario(func(sc *scenario.Scenario) {
					sc.Messages[0].Text = said
					for range tt.mocks {
						body := json.RawMessage(`"` + strings.Repeat("x", 60<<10) + `"`)
						sc.Webhooks = append(sc.Webhooks, scenario.WebhookMock{Body: body})
					}
				}).ID
				words[ids[i]] = said
			}
			b, err := l.StartSet(t.Context(), org, group.SetRequest{Scenarios: ids, Simulations: 2, Concurrency: 1})
			if err != nil {
				t.Fatal(err)
			}
			for range 3 * tt.scenarios {
				settled()
			}
			if n := int(store.reads.Load()); n < tt.least || n > tt.most {
				t.Errorf("the snapshots of %d scenarios were read %d times", tt.scenarios, n)
			}
			runs, _, err := l.ListRuns(t.Context(), org, run.Filter{Batch: b.ID, Limit: 100})
			if err != nil || len(runs) != 2*tt.scenarios {
				t.Fatalf("%d runs, %v", len(runs), err)
			}
			for _, r := range runs {
				if got := l.get(r.ID); got.State != run.Passed || got.Outcome.Evidence.Turns[1].Text != words[r.Scenario] {
					t.Errorf("a run is %s: %+v", got.State, got.Outcome)
				}
			}
		})
	}
}
