package triagestore_test

import (
	"context"
	"errors"
	"fmt"
	"sync"
	"testing"
	"time"

	"github.com/callwright/callwright"
	"github.com/callwright/callwright/adapters/bunstore"
	"github.com/callwright/callwright/adapters/bunstore/internal/storetest"
	"github.com/callwright/callwright/adapters/bunstore/triagestore"
	"github.com/callwright/callwright/triage"
)

// noWork is a callwright.Work that discards tasks.
type noWork struct{}

func (noWork) Enqueue(context.Context, callwright.Task) error { return nil }

func (noWork) Handle(callwright.Queue, string, callwright.Handler) {}

func (noWork) Every(callwright.Queue, string, time.Duration, callwright.Handler) {}

func triageService(t testing.TB, db *bunstore.DB) *triage.Service {
	t.Helper()
	s, err := triage.New(triage.Config{Store: triagestore.Store{DB: db}, Atomic: db, Work: noWork{}})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(s.Close)
	return s
}

// opened creates an issue with each title, and returns their ids.
func opened(t testing.TB, s *triage.Service, titles ...string) []string {
	t.Helper()
	ids := make([]string, len(titles))
	for n, title := range titles {
		i, err := s.Create(t.Context(), "o", triage.System(), triage.Draft{Title: title})
		if err != nil {
			t.Fatal(err)
		}
		ids[n] = i.ID
	}
	return ids
}

// TestTriageAtOnce changes the same issues concurrently in ways that could deadlock, lose an update or repeat an effect: it comments on,
// relates, merges and reports issues.
func TestTriageAtOnce(t *testing.T) {
	t.Parallel()
	storetest.OnEach(t, func(t *testing.T, open func(*testing.T) *bunstore.DB) {
		const people, comments = 12, 5
		ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
		defer cancel()
		s := triageService(t, open(t))
		ids := opened(t, s, "a", "b", "c", "d")
		a, b, c, d := ids[0], ids[1], ids[2], ids[3]
		var wait sync.WaitGroup
		var relating, merging, reporting [people]error
		var reported [people]triage.Issue
		for n := range people {
			who := triage.Actor{Kind: triage.ActorUser, ID: fmt.Sprint("u", n)}
			one, other, from, into := a, b, c, d
			if n%2 == 0 {
				one, other, from, into = b, a, d, c
			}
			wait.Go(func() {
				for range comments {
					if _, err := s.Comment(ctx, "o", who, a, triage.CommentDraft{Detail: "me, too"}); err != nil {
						t.Errorf("a comment: %v", err)
					}
				}
			})
			wait.Go(func() { _, _, relating[n] = s.Relate(ctx, "o", who, one, other, triage.RelatedTo) })
			wait.Go(func() { _, merging[n] = s.Merge(ctx, "o", who, from, into) })
			wait.Go(func() {
				reported[n], reporting[n] = s.Report(ctx, "o", triage.System(), triage.Report{Key: "k", Title: "r"})
			})
		}
		wait.Wait()
		if err := errors.Join(append(relating[:], reporting[:]...)...); err != nil {
			t.Error(err)
		}
		merged := 0
		for _, err := range merging {
			switch {
			case err == nil:
				merged++
			case !errors.Is(err, callwright.ErrInvalidState):
				t.Errorf("a merge: %v", err)
			}
		}
		for _, i := range reported {
			if i.ID != reported[0].ID || i.Number != triage.FirstNumber+len(ids) {
				t.Errorf("a report came to %s, %s; another to %s", i.ID, i.Name(), reported[0].ID)
			}
		}
		inA, inB := feed(t, s, a), feed(t, s, b)
		if merged != 1 || inA[triage.TypeComment] != people*comments || inA[triage.TypeRelationAdded] != 1 ||
			inB[triage.TypeRelationAdded] != 1 || feed(t, s, c)[triage.TypeMerged] != 1 || feed(t, s, d)[triage.TypeMerged] != 1 {
			t.Errorf("merged %d times, the feeds have %v and %v", merged, inA, inB)
		}
		for id, relations := range map[string]int{a: 1, b: 1, c: 1, d: 1, reported[0].ID: 0} {
			if i, err := s.Get(t.Context(), "o", id); err != nil || i.Relations != relations {
				t.Errorf("%s has %d relations, %v", i.Title, i.Relations, err)
			}
		}
	})
}

// feed returns the number of entries of each type in an issue's feed. It checks that the times of the entries differ, and that the newest
// one is the issue's last activity.
func feed(t *testing.T, s *triage.Service, issue string) map[triage.EntryType]int {
	t.Helper()
	page, err := s.Activity(t.Context(), "o", issue, triage.PageRequest{Limit: 100})
	if err != nil || page.Next != "" {
		t.Fatalf("a page with the cursor %q, %v", page.Next, err)
	}
	i, err := s.Get(t.Context(), "o", issue)
	if err != nil || !i.LastActivityAt.Equal(page.Items[0].CreatedAt) {
		t.Errorf("%s: the last activity is %v, %v; the newest entry of %v", i.Title, i.LastActivityAt, err, page.Items[0].CreatedAt)
	}
	count := map[triage.EntryType]int{}
	for n, e := range page.Items {
		count[e.Type]++
		if n > 0 && !e.CreatedAt.Before(page.Items[n-1].CreatedAt) {
			t.Errorf("%s: entry %d is not older than the one above", i.Title, n)
		}
	}
	return count
}
