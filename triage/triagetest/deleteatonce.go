package triagetest

import (
	"context"
	"errors"
	"fmt"
	"sync"
	"testing"
	"time"

	"github.com/callwright/callwright"
	"github.com/callwright/callwright/triage"
)

// deleteAtOnce deletes an issue on two nodes concurrently, during reports, comments, steps, relations, merges, views and watches. It checks
// that one deletion succeeds and nothing of the issue remains.
func deleteAtOnce(t *testing.T, d desk) {
	ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
	defer cancel()
	s, node := d.service(t), d.service(t)
	report := triage.Report{Key: "k", Title: "Reported"}
	issue, err := s.Report(ctx, "acme", triage.System(), report)
	if err != nil {
		t.Fatal(err)
	}
	var others [4]string
	for n := range others {
		i, err := s.Create(ctx, "acme", writer, triage.Draft{Title: fmt.Sprint("Other ", n)})
		if err != nil {
			t.Fatal(err)
		}
		others[n] = i.ID
	}
	if _, err := s.Merge(ctx, "acme", writer, others[0], issue.ID); err != nil {
		t.Fatal(err)
	}
	sess, err := s.StartSession(ctx, "acme", writer, issue.ID, triage.SessionDraft{AgentName: "Ann"})
	if err != nil {
		t.Fatal(err)
	}
	var deleted [2]error
	var watchers [2]*triage.Watcher
	var wait sync.WaitGroup
	nodes := []*triage.Service{s, node}
	for n, s := range nodes {
		if watchers[n], err = s.Watch(ctx, "acme", issue.ID, ""); err != nil {
			t.Fatal(err)
		}
		defer watchers[n].Close()
	}
	for n, s := range nodes {
		wait.Go(func() { deleted[n] = s.Delete(ctx, "acme", writer, issue.ID) })
		for range 3 {
			wait.Go(func() {
				if _, err := s.Report(ctx, "acme", triage.System(), report); err != nil {
					t.Errorf("a report: %v", err)
				}
			})
		}
		for name, do := range writes(ctx, s, issue.ID, sess.ID, others[1+n], others[3]) {
			wait.Go(func() {
				err := do()
				if err != nil && !errors.Is(err, callwright.ErrNotFound) && !(name == "a merge" && errors.Is(err, callwright.ErrInvalidState)) {
					t.Errorf("%s: %v", name, err)
				}
			})
		}
	}
	wait.Wait()
	winner := 0
	if deleted[0] != nil {
		winner = 1
	}
	if deleted[winner] != nil || !errors.Is(deleted[1-winner], callwright.ErrNotFound) {
		t.Errorf("the deletions gave %v and %v", deleted[0], deleted[1])
	}
	if _, err := s.Get(ctx, "acme", issue.ID); !errors.Is(err, callwright.ErrNotFound) {
		t.Errorf("it gave %v", err)
	}
	for err = nil; err == nil; {
		_, err = watchers[winner].Next(ctx) // returns immediately on the deleting node
	}
	if !errors.Is(err, callwright.ErrNotFound) {
		t.Errorf("the watcher ended with %v", err)
	}
	wantWhole(t, d, s, others[:])
	again, err := s.Report(ctx, "acme", triage.System(), report)
	if err != nil || again.ID == issue.ID || again.Number <= issue.Number {
		t.Errorf("the next report came to %+v, %v", again, err)
	}
}

// writes returns functions, by name, that change an issue during its deletion. One function relates another issue, whose id is in relates,
// to it. Another one merges the issue whose id is in merges into it.
func writes(ctx context.Context, s *triage.Service, issue, session, relates, merges string) map[string]func() error {
	return map[string]func() error{
		"a comment": func() error {
			_, err := s.Comment(ctx, "acme", writer, issue, triage.CommentDraft{Detail: "x"})
			return err
		},
		"a step": func() error {
			_, err := s.Append(ctx, "acme", issue, session, triage.Step{Type: triage.TypeThought})
			return err
		},
		"a session": func() error {
			_, err := s.StartSession(ctx, "acme", writer, issue, triage.SessionDraft{AgentName: "Bob"})
			return err
		},
		"a relation": func() error {
			_, _, err := s.Relate(ctx, "acme", writer, relates, issue, triage.RelatedTo)
			return err
		},
		"a merge": func() error { _, err := s.Merge(ctx, "acme", writer, merges, issue); return err },
		"a view":  func() error { return s.View(ctx, "acme", "viewer", issue) },
	}
}

// wantWhole checks that issues have and count no relations, and are not merged.
func wantWhole(t *testing.T, d desk, s *triage.Service, ids []string) {
	t.Helper()
	for _, id := range ids {
		i, err := s.Get(t.Context(), "acme", id)
		if err != nil {
			t.Fatal(err)
		}
		relations, err := d.store.RelationsOf(t.Context(), "acme", id)
		if err != nil || i.Relations != 0 || len(relations) != 0 || i.MergedInto != "" {
			t.Errorf("%s counts %d relations, has %+v, %v, and is merged into %q", i.Title, i.Relations, relations, err, i.MergedInto)
		}
	}
}

// deleteEachOther concurrently deletes all but one of several issues that are all related to each other. It checks that the remaining issue
// has no relations, and that its feed contains all entries about its former relations.
func deleteEachOther(t *testing.T, d desk) {
	const circle = 8
	s := d.service(t)
	var ids [circle]string
	for n := range ids {
		i, err := s.Create(t.Context(), "acme", writer, triage.Draft{Title: "One of a circle"})
		if err != nil {
			t.Fatal(err)
		}
		ids[n] = i.ID
		for _, other := range ids[:n] {
			if _, _, err := s.Relate(t.Context(), "acme", writer, i.ID, other, triage.Blocks); err != nil {
				t.Fatal(err)
			}
		}
	}
	var wait sync.WaitGroup
	for _, id := range ids[1:] {
		wait.Go(func() {
			if err := s.Delete(t.Context(), "acme", writer, id); err != nil {
				t.Errorf("a deletion gave %v", err)
			}
		})
	}
	wait.Wait()
	wantWhole(t, d, s, ids[:1])
	page, err := s.Activity(t.Context(), "acme", ids[0], triage.PageRequest{})
	if want := 1 + 2*(circle-1); err != nil || len(page.Items) != want {
		t.Errorf("the feed of the one left has %d entries, %v; want %d", len(page.Items), err, want)
	}
}
