package agenttesttest

import (
	"context"
	"fmt"
	"strings"
	"sync"
	"testing"

	"github.com/callwright/callwright"
	"github.com/callwright/callwright/agents/llm"
	"github.com/callwright/callwright/agenttest"
	"github.com/callwright/callwright/agenttest/engine"
	"github.com/callwright/callwright/agenttest/group"
	"github.com/callwright/callwright/agenttest/run"
	"github.com/callwright/callwright/callwrighttest"
)

// RunBatches tests a group.Store. The arguments are those of RunStore.
func RunBatches(t *testing.T, newStore NewStore, atRest callwrighttest.AtRest[agenttest.Store]) {
	t.Helper()
	checkStore(t, "batches", newStore, atRest, map[string]func(*testing.T, subject){
		"keeps every field":                keepsBatch,
		"shares no memory":                 sharesNoBatch,
		"hides other organizations'":       hidesBatches,
		"refuses an id twice":              refusesBatchTwice,
		"updates by compare-and-set":       updatesBatch,
		"adds to sums":                     addsCounts,
		"adds of many at once":             addsCountsAtOnce,
		"adds nothing that is rolled back": rollsBackCounts,
		"finds the batches of a version":   findsBatchesOf,
		"lists in brief":                   listsBatch,
		"filters and pages":                filtersBatches,
		"encrypts addresses and names":     encryptsBatch,
	})
}

func (s subject) wantBatch(t *testing.T, want group.Batch) {
	t.Helper()
	got, err := s.Batch(t.Context(), want.Org, want.ID)
	wantSame(t, got, err, want)
}

// add adds to the sums of group b1 in a separate transaction, and returns the group.
func (s subject) add(t *testing.T, org callwright.OrgID, more group.Sums) (b group.Batch, err error) {
	t.Helper()
	err = s.atomic.Do(t.Context(), func(ctx context.Context) error {
		b, err = s.AddCounts(ctx, org, "b1", more)
		return err
	})
	return b, err
}

func keepsBatch(t *testing.T, s subject) {
	want := FullBatch("b1")
	callwrighttest.Full(t, want)
	given := want
	given.Revision = 9 // the store must ignore it
	s.insert(t, given, aBatch("bare"))
	s.wantBatch(t, want)
	s.wantBatch(t, aBatch("bare"))
	bare := group.Batch{ID: "b1", Org: "a", Kind: group.Simulations, State: run.Pending, CreatedAt: at, Revision: 1}
	do(t, s.UpdateBatch(t.Context(), bare))
	bare.Revision = 2
	s.wantBatch(t, bare)
	want.Revision = 2
	do(t, s.UpdateBatch(t.Context(), want))
	want.Revision = 3
	s.wantBatch(t, want)
}

func sharesNoBatch(t *testing.T, s subject) {
	given := FullBatch("b1")
	s.insert(t, given)
	callwrighttest.Spoil(&given)
	for range 2 {
		s.wantBatch(t, FullBatch("b1"))
		got, err := s.Batch(t.Context(), "a", "b1")
		do(t, err)
		callwrighttest.Spoil(&got)
		list, err := s.BatchesOf(t.Context(), "a", "p1", 5, 1)
		if err != nil || len(list) != 1 || list[0].Scenarios[0].Name != words {
			t.Fatalf("got %+v, %v", list, err)
		}
		callwrighttest.Spoil(&list)
	}
	got, err := s.add(t, "a", group.Sums{})
	do(t, err)
	callwrighttest.Spoil(&got)
	want := FullBatch("b1")
	want.Revision = 2
	s.wantBatch(t, want)
}

func hidesBatches(t *testing.T, s subject) {
	s.insert(t, aBatch("b1"))
	foreign := aBatch("b1")
	foreign.Org = "b"
	_, getErr := s.Batch(t.Context(), "b", "b1")
	_, absentErr := s.Batch(t.Context(), "a", "b2")
	_, addErr := s.add(t, "b", group.Sums{Counts: group.Counts{Passed: 1}})
	wantErr(t, callwright.ErrNotFound, map[string]error{
		"get": getErr, "absent": absentErr, "add": addErr, "update": s.UpdateBatch(t.Context(), foreign),
		"update absent": s.UpdateBatch(t.Context(), aBatch("b2")),
	})
	list, err := s.BatchesOf(t.Context(), "b", "p1", 1, 10)
	wantIDs(t, "of another organization", list, err, batchID)
	page, err := s.FindBatches(t.Context(), "b", group.Filter{Kind: group.OneEach, Limit: 10})
	wantIDs(t, "listed of another organization", page, err, groupID)
	if n, err := s.CountBatches(t.Context(), "b", group.Filter{Kind: group.OneEach}); err != nil || n != 0 {
		t.Errorf("counted %d of another organization, %v", n, err)
	}
	s.wantBatch(t, aBatch("b1"))
}

func batchID(b group.Batch) string { return b.ID }

func refusesBatchTwice(t *testing.T, s subject) {
	s.insert(t, aBatch("b1"))
	again := aBatch("b1")
	again.Org = "b"
	wantErr(t, callwright.ErrConflict, map[string]error{
		"again": s.InsertBatch(t.Context(), aBatch("b1")), "another organization's": s.InsertBatch(t.Context(), again),
	})
	s.wantBatch(t, aBatch("b1"))
}

func updatesBatch(t *testing.T, s subject) {
	s.insert(t, aBatch("b1"))
	changed := func(writer int) group.Batch {
		b := aBatch("b1")
		b.Reason = group.StopReason(fmt.Sprint("writer ", writer))
		return b
	}
	want := changed(callwrighttest.Race(t, func(writer int) error { return s.UpdateBatch(t.Context(), changed(writer)) }))
	want.Revision = 2
	s.wantBatch(t, want)
}

func addsCounts(t *testing.T, s subject) {
	want := FullBatch("b1")
	s.insert(t, want)
	more := group.Sums{
		Counts: group.Counts{Passed: 10, Failed: 20, Error: 30, Cancelled: 40},
		Usage: engine.Usage{
			Caller: llm.Usage{Input: 10, Output: 20, Cached: 10}, Agent: llm.Usage{Input: 30, Output: 40, Cached: 20}, Judge: llm.Usage{Input: 50, Output: 60, Cached: 30},
		},
		Spend: engine.Spend{Tokens: 10, Cost: 5_000_000_000, Priced: 20, Unpriced: 30},
	}
	want.Counts, want.Revision = group.Counts{Passed: 11, Failed: 22, Error: 33, Cancelled: 44}, 2
	want.Usage = engine.Usage{
		Caller: llm.Usage{Input: 11, Output: 22, Cached: 11}, Agent: llm.Usage{Input: 33, Output: 44, Cached: 22}, Judge: llm.Usage{Input: 55, Output: 6_000_000_060, Cached: 33},
	}
	want.Spend = engine.Spend{Tokens: 6_000_000_031, Cost: 7_005_000_000_000, Priced: 28, Unpriced: 39}
	got, err := s.add(t, "a", more)
	wantSame(t, got, err, want)
	s.wantBatch(t, want)
	stale := want
	stale.Revision = 1
	wantErr(t, callwright.ErrConflict, map[string]error{"an update of what was read before": s.UpdateBatch(t.Context(), stale)})
}

// addsCountsAtOnce checks that concurrent transactions add to the counts of one group without losses, and that only the last one completes
// them.
func addsCountsAtOnce(t *testing.T, s subject) {
	s.insert(t, aBatch("b1"))
	const runs = 16
	var mu sync.Mutex
	last := 0
	var wait sync.WaitGroup
	for range runs {
		wait.Go(func() {
			err := s.atomic.Do(t.Context(), func(ctx context.Context) error {
				b, err := s.AddCounts(ctx, "a", "b1", group.Sums{Counts: group.Counts{Passed: 1}})
				if err != nil || b.Counts.Ended() < runs {
					return err
				}
				mu.Lock()
				last++
				mu.Unlock()
				b.State, b.EndedAt = run.Passed, later(9)
				return s.UpdateBatch(ctx, b)
			})
			if err != nil {
				t.Error(err)
			}
		})
	}
	wait.Wait()
	got, err := s.Batch(t.Context(), "a", "b1")
	if err != nil || got.Counts.Passed != runs || got.Revision != runs+2 || got.State != run.Passed || last != 1 {
		t.Errorf("%d transactions saw the end; the group is %+v, %v", last, got, err)
	}
}

func rollsBackCounts(t *testing.T, s subject) {
	s.insert(t, aBatch("b1"))
	s.rollBack(t, func(ctx context.Context) error {
		_, err := s.AddCounts(ctx, "a", "b1", group.Sums{Counts: group.Counts{Passed: 1}})
		return err
	})
	s.wantBatch(t, aBatch("b1"))
}

func rollsBackAnswer(t *testing.T, s subject) {
	s.insert(t, running("r1", "n"))
	do(t, s.append(t, "r1", "n", "k", "x"))
	s.rollBack(t, func(ctx context.Context) error { return s.AppendAnswer(ctx, "a", "r1", "n", "l", []byte("x")) })
	s.rollBack(t, func(ctx context.Context) error { return s.DeleteAnswers(ctx, "a", "r1") })
	s.wantAnswers(t, "r1", "map[k:x]")
}

func findsBatchesOf(t *testing.T, s subject) {
	for i, change := range []func(*group.Batch){
		func(b *group.Batch) { b.State = run.Passed },
		func(b *group.Batch) { b.Kind = group.Simulations },
		func(b *group.Batch) { b.Pathway, b.Version = "", 0 },
		func(b *group.Batch) { b.Version = 2 },
		func(b *group.Batch) { b.Pathway = "p2" },
		func(b *group.Batch) { b.CreatedAt = later(9) },
		func(b *group.Batch) { b.Org = "b" },
		func(*group.Batch) {},
		func(b *group.Batch) { b.CreatedAt, b.Trigger = later(10), group.ByTornado },
	} {
		b := aBatch(fmt.Sprint("b", i))
		change(&b)
		s.insert(t, b)
	}
	for limit, want := range map[int]string{10: "b5 b7 b0", 2: "b5 b7", 0: ""} {
		list, err := s.BatchesOf(t.Context(), "a", "p1", 1, limit)
		wantIDs(t, fmt.Sprint("at most ", limit), list, err, batchID, strings.Fields(want)...)
	}
	list, err := s.BatchesOf(t.Context(), "a", "p1", 3, 10)
	wantIDs(t, "a version without batches", list, err, batchID)
}

func encryptsBatch(t *testing.T, s subject) {
	b := aBatch(callwrighttest.VisibleID)
	b.Webhook, b.Scenarios[0].Name = "https://x.example/hunter2-hook", "hunter2-name"
	s.atRest.Check(t, s.Store, func() error {
		if err := s.InsertBatch(t.Context(), b); err != nil {
			return err
		}
		return s.UpdateBatch(t.Context(), b)
	}, "hunter2-hook", "hunter2-name")
}
