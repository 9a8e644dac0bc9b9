package agenttesttest

import (
	"context"
	"fmt"
	"sync"
	"testing"
	"time"

	"github.com/callwright/callwright/agenttest/group"
	"github.com/callwright/callwright/agenttest/run"
)

// countsUnended checks that CountUnended counts unended runs, including the runs that a group has yet to create, unless the group is
// canceled.
func countsUnended(t *testing.T, s subject) {
	wantCount := func(what string, want int) {
		t.Helper()
		if n, err := s.CountUnended(t.Context(), "a"); err != nil || n != want {
			t.Errorf("%s: got %d, %v; want %d", what, n, err, want)
		}
	}
	wantCount("nothing", 0)
	set := func(id string, change func(*group.Batch)) group.Batch {
		b := aBatch(id)
		b.Kind, b.Simulations, b.Created = group.Simulations, 50, 10
		change(&b)
		return b
	}
	foreign := aRun("r4")
	foreign.Org = "b"
	s.insert(t, aRun("r1"), running("r2", "n"), ended("r3", 9), foreign, aBatch("whole"))
	wantCount("runs", 2)
	s.insert(t,
		set("open", func(*group.Batch) {}),
		set("pending", func(b *group.Batch) { b.State, b.Created = run.Pending, 0 }),
		set("cancelled", func(b *group.Batch) { b.Cancel = true }),
		set("over", func(b *group.Batch) { b.State, b.EndedAt = run.Cancelled, later(9) }),
		set("foreign", func(b *group.Batch) { b.Org = "b" }))
	wantCount("runs and groups", 2+40+50)
	b, err := s.Batch(t.Context(), "a", "pending")
	do(t, err)
	b.Created = 1
	do(t, s.UpdateBatch(t.Context(), b))
	s.insert(t, in(aRun("r5"), "pending", 0))
	wantCount("one more is created", 2+40+50)
}

// holdsStarts checks that concurrent transactions that call HoldStarts, count the runs and add one if the limit permits, do not exceed the
// limit together.
func holdsStarts(t *testing.T, s subject) {
	const starts, allowed = 24, 3
	var wait sync.WaitGroup
	for i := range starts {
		wait.Go(func() {
			err := s.atomic.Do(t.Context(), func(ctx context.Context) error {
				if err := s.HoldStarts(ctx, "a"); err != nil {
					return err
				}
				n, err := s.CountUnended(ctx, "a")
				if err != nil || n >= allowed {
					return err
				}
				return s.InsertRuns(ctx, []run.Run{aRun(fmt.Sprint("r", i))})
			})
			if err != nil {
				t.Error(err)
			}
		})
	}
	wait.Wait()
	if n, err := s.CountUnended(t.Context(), "a"); err != nil || n != allowed {
		t.Errorf("%d runs, %v", n, err)
	}
}

// holdsSnapshots checks that DeleteRuns waits while a transaction holds a snapshot. It must then keep the snapshot for the run that the
// transaction added.
func holdsSnapshots(t *testing.T, s subject) {
	old := ended("r1", 1)
	old.Snapshot = "snap1"
	foreign := aSnapshot("snap2")
	foreign.Org = "b"
	s.insert(t, old, aSnapshot("snap1"), foreign)
	deleted := make(chan error, 1)
	err := s.atomic.Do(t.Context(), func(ctx context.Context) error {
		held, err := s.HoldSnapshots(ctx, "a", []string{"snap3", "snap2", "snap1"})
		wantIDs(t, "held", held, err, func(id string) string { return id }, "snap1")
		go func() {
			_, err := s.DeleteRuns(t.Context(), later(3), 10)
			deleted <- err
		}()
		select {
		case err := <-deleted:
			t.Error("a snapshot was deleted while it was held")
			deleted <- err
		case <-time.After(holdTime): // without the lock, a store would delete the snapshot much sooner
		}
		young := aRun("r2")
		young.Snapshot = "snap1"
		return s.InsertRuns(ctx, []run.Run{young})
	})
	do(t, err, <-deleted)
	s.wantGone(t, "r1")
	s.wantThere(t, "r2", "snap1")
	do(t, s.atomic.Do(t.Context(), func(ctx context.Context) error {
		held, err := s.HoldSnapshots(ctx, "a", nil)
		wantIDs(t, "nothing", held, err, func(id string) string { return id })
		return nil
	}))
}
