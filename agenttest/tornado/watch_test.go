package tornado_test

import (
	"errors"
	"io"
	"testing"
	"testing/synctest"
	"time"

	"github.com/callwright/callwright"
	"github.com/callwright/callwright/agenttest/tornado"
	"github.com/callwright/callwright/node"
)

// TestSessionIsWatched checks that a watcher receives the changes of a session until its end, immediately on the session's own node and
// later on another node.
func TestSessionIsWatched(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		w := newWorld(t, "good", "bad")
		s, other := w.node(), w.node()
		id := w.start(s).ID
		watch := func(s *tornado.Service) *node.RecordWatcher[tornado.Session] {
			t.Helper()
			f, err := s.Watch(t.Context(), org, id, 0)
			if err != nil {
				t.Fatal(err)
			}
			t.Cleanup(f.Close)
			return f
		}
		here, there := watch(s), watch(other)
		w.run(s)
		for _, f := range []*node.RecordWatcher[tornado.Session]{here, there} {
			phases, last := map[tornado.Phase]bool{}, node.Revised[tornado.Session]{}
			for {
				next, err := f.Next(t.Context())
				if errors.Is(err, io.EOF) {
					break
				}
				if err != nil || next.Revision <= last.Revision || last.Final {
					t.Fatalf("after %d: %d, %v", last.Revision, next.Revision, err)
				}
				last = next
				phases[next.Value.Phase] = true
			}
			if last.Value.State != tornado.AllPassed || last.Value.EndedAt.IsZero() {
				t.Errorf("at the end: %+v", last.Value)
			}
			if f == here && len(phases) < 4 {
				t.Errorf("it has told of the phases %v", phases)
			}
		}
		if _, err := s.Watch(t.Context(), "other", id, 0); !errors.Is(err, callwright.ErrNotFound) {
			t.Errorf("another organization gets %v", err)
		}
	})
}

func TestReadingASession(t *testing.T) {
	t.Parallel()
	began := time.Date(2026, 3, 2, 9, 0, 0, 0, time.UTC)
	s := tornado.Session{ID: "s", CreatedAt: began, Progress: tornado.Progress{Base: 3, Best: 3}}
	if s.Current() != 0 || s.Fork() != 0 || s.Parent(1) != 3 || s.Duration(began.Add(time.Minute)) != time.Minute || s.Duration(began.Add(-time.Minute)) != 0 {
		t.Errorf("a new session: %d, %d, %d", s.Current(), s.Fork(), s.Parent(1))
	}
	s.Best, s.EndedAt = 6, began.Add(time.Hour)
	s.Iterations = []tornado.Iteration{
		{Version: 3, Outcome: tornado.IsBaseline}, {Number: 1, Version: 4, Outcome: tornado.Rejected},
		{Number: 2, Version: 5, Outcome: tornado.Accepted}, {Number: 3, Version: 6, Outcome: tornado.Accepted, Trials: []string{"x", "y"}},
		{Number: 4},
	}
	for i, want := range []int{3, 3, 3, 5, 6} {
		if got := s.Parent(i); got != want {
			t.Errorf("iteration %d changes version %d, want %d", i, got, want)
		}
	}
	if s.Current() != 4 || s.Fork() != 6 || s.Duration(began.Add(2*time.Hour)) != time.Hour {
		t.Errorf("an ended session: %d, %d, %s", s.Current(), s.Fork(), s.Duration(began))
	}
	if ids := s.Batches(s.Iterations[3]); len(ids) != 2 || ids[0] != tornado.TrialID("s", "x") || ids[1] != tornado.TrialID("s", "y") {
		t.Errorf("its batches are %v", ids)
	}
	plan := tornado.Plan{Fixes: []tornado.Fix{
		{Edits: []tornado.Edit{{Op: tornado.AddEdge, Text: "a label"}}}, {Edits: []tornado.Edit{{Op: tornado.SetText, Text: "a text"}, {Op: tornado.SetText, Text: "another"}}},
	}}
	if got := plan.Text(); got != "a text" {
		t.Errorf("the first text is %q", got)
	}
	if got := (tornado.Plan{}).Text(); got != "" {
		t.Errorf("no plan sets %q", got)
	}
}
