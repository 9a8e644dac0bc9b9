package agenttest_test

import (
	"errors"
	"io"
	"testing"
	"testing/synctest"

	"github.com/callwright/callwright"
	"github.com/callwright/callwright/agenttest/group"
	"github.com/callwright/callwright/agenttest/run"
	"github.com/callwright/callwright/node"
)

// drained returns all states that a watcher yields until io.EOF, and closes the watcher. It checks that revisions increase, and that only
// the last state is final.
func drained[T any](t *testing.T, f *node.RecordWatcher[T], err error) (all []node.Revised[T]) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	for {
		next, err := f.Next(t.Context())
		if errors.Is(err, io.EOF) {
			return all
		}
		if err != nil {
			t.Fatal(err)
		}
		if n := len(all); n > 0 && (all[n-1].Revision >= next.Revision || all[n-1].Final) {
			t.Errorf("after %+v: %+v", all[n-1], next)
		}
		all = append(all, next)
	}
}

// TestRunIsWatched checks the states that watchers of a run receive, on the node that executes the run and on another node.
func TestRunIsWatched(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		l := newLab(t)
		other := l.another()
		r := l.start(l.scenario(failing), run.Request{})
		here, err := l.WatchRun(t.Context(), org, r.ID, 0)
		if err != nil {
			t.Fatal(err)
		}
		first, err := here.Next(t.Context())
		if err != nil || first.Value.State != run.Pending || first.Final {
			t.Errorf("first: %+v, %v", first, err)
		}
		there, err := other.WatchRun(t.Context(), org, r.ID, first.Revision)
		l.run(l.Service)
		for _, rest := range [][]node.Revised[run.Run]{drained(t, here, nil), drained(t, there, err)} {
			if len(rest) == 0 || len(rest) > 2 {
				t.Fatalf("the run has changed %d times", len(rest))
			}
			if last := rest[len(rest)-1]; last.Value.State != run.Failed || last.Value.Result.Turns != 1 || last.Value.Result.Score == nil {
				t.Errorf("at the end: %+v", last)
			}
		}
		if f, err := l.WatchRun(t.Context(), org, r.ID, l.get(r.ID).Revision); err != nil || !f.Over() {
			t.Errorf("a client that has the final state is to wait: %v", err)
		}
	})
}

// TestGroupsAreWatched checks the states that watchers of a batch, a set and a canceled batch receive until the end.
func TestGroupsAreWatched(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		l := newLab(t)
		ids := []string{l.scenario().ID, l.scenario(failing).ID}
		batch, _, err := l.StartBatch(t.Context(), org, group.BatchRequest{Scenarios: ids, Trigger: group.ByAPI})
		if err != nil {
			t.Fatal(err)
		}
		set, err := l.StartSet(t.Context(), org, group.SetRequest{Scenarios: ids, Simulations: 3, Trigger: group.ByAPI})
		if err != nil {
			t.Fatal(err)
		}
		stopped, _, err := l.StartBatch(t.Context(), org, group.BatchRequest{Scenarios: ids, Trigger: group.ByAPI})
		if err != nil {
			t.Fatal(err)
		}
		cancelled, err := l.WatchBatch(t.Context(), org, stopped.ID, 0)
		if err := errors.Join(err, l.CancelBatch(t.Context(), org, stopped.ID)); err != nil {
			t.Fatal(err)
		}
		l.run(l.Service)
		watcher, err := l.WatchBatch(t.Context(), org, batch.ID, 0)
		check := func(all []node.Revised[group.Batch], state run.State, counts group.Counts) {
			t.Helper()
			before := group.Counts{}
			for _, one := range all {
				if c := one.Value.Counts; c.Passed < before.Passed || c.Failed < before.Failed {
					t.Errorf("the counts fall from %+v to %+v", before, c)
				}
				before = one.Value.Counts
			}
			if last := all[len(all)-1]; !last.Final || last.Value.State != state || last.Value.Counts != counts {
				t.Errorf("at the end: %+v", last.Value)
			}
		}
		check(drained(t, watcher, err), run.Failed, group.Counts{Passed: 1, Failed: 1})
		watcher, err = l.WatchSet(t.Context(), org, set.ID, 0)
		all := drained(t, watcher, err)
		check(all, run.Passed, group.Counts{Passed: 3, Failed: 3})
		settled() // until the statistics are stored
		if f, err := l.WatchSet(t.Context(), org, set.ID, all[len(all)-1].Revision); err != nil || !f.Over() {
			t.Errorf("a client that has the final state is to wait: %v", err)
		}
		check(drained(t, cancelled, nil), run.Cancelled, group.Counts{Cancelled: 2})
	})
}

func TestWatchingIsRefused(t *testing.T) {
	t.Parallel()
	l := newLab(t)
	r := l.start(l.scenario(), run.Request{})
	batch, _, err := l.StartBatch(t.Context(), org, group.BatchRequest{Scenarios: []string{r.Scenario}, Trigger: group.ByAPI})
	if err != nil {
		t.Fatal(err)
	}
	refused := func(want, err error) {
		t.Helper()
		if !errors.Is(err, want) {
			t.Errorf("got %v, want %v", err, want)
		}
	}
	_, err = l.WatchRun(t.Context(), org, batch.ID, 0)
	refused(callwright.ErrNotFound, err)
	_, err = l.WatchRun(t.Context(), "other", r.ID, 0)
	refused(callwright.ErrNotFound, err)
	_, err = l.WatchSet(t.Context(), org, batch.ID, 0)
	refused(callwright.ErrNotFound, err)
	_, err = l.WatchBatch(t.Context(), "other", batch.ID, 0)
	refused(callwright.ErrNotFound, err)

	var open []*node.RecordWatcher[run.Run]
	for range run.MaxWatchers {
		f, err := l.WatchRun(t.Context(), org, r.ID, 0)
		if err != nil {
			t.Fatal(err)
		}
		open = append(open, f)
	}
	_, err = l.WatchBatch(t.Context(), org, batch.ID, 0)
	refused(callwright.ErrTooManyRequests, err)
	open[0].Close()
	if _, err = l.WatchBatch(t.Context(), org, batch.ID, 0); err != nil {
		t.Errorf("with a place: %v", err)
	}
	l.Close()
	_, err = open[1].Next(t.Context())
	refused(callwright.ErrUnavailable, err)
	_, err = l.WatchBatch(t.Context(), org, batch.ID, 0)
	refused(callwright.ErrUnavailable, err)

	l.cfg.Watchers = 1
	small := l.another()
	if _, err := small.WatchBatch(t.Context(), org, batch.ID, 0); err != nil {
		t.Fatal(err)
	}
	_, err = small.WatchRun(t.Context(), org, r.ID, 0)
	refused(callwright.ErrTooManyRequests, err)
}
