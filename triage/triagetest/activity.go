// Package triagetest contains the conformance suites of the ports of package triage, and the test doubles Analyst and Resolver.
package triagetest

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"pgregory.net/rapid"

	"github.com/callwright/callwright"
	"github.com/callwright/callwright/triage"
)

// RunActivity tests triage.Service over a store and its transactions: readers and watchers must receive every entry once and in order while
// others write, and concurrent changes of an issue must not break it. newStore returns an empty store and its transactions.
func RunActivity(t *testing.T, newStore func(t *testing.T) (triage.Store, callwright.Atomic)) {
	t.Helper()
	tests := map[string]func(*testing.T, desk){
		"pages have every older entry once": pageThroughFeed,
		"pages have no more than fits":      pageThroughLargeFeed,
		"watchers hear of everything once":  watchFeed,
		"one of many editors wins":          editAtOnce,
		"merges in a circle come to an end": mergeAtOnce,
		"what rolls back was never there":   rollBack,
		"deletes while others write":        deleteAtOnce,
		"deletes what is related at once":   deleteEachOther,
	}
	for name, test := range tests {
		t.Run("activity: "+name, func(t *testing.T) {
			t.Parallel()
			store, atomic := newStore(t)
			test(t, desk{store: store, atomic: atomic})
		})
	}
}

// desk creates services over one store. Several such services behave like several nodes.
type desk struct {
	store  triage.Store
	atomic callwright.Atomic
}

// service returns a new service that the end of the test closes.
func (d desk) service(t *testing.T) *triage.Service {
	t.Helper()
	cursors, err := triage.NewCursors(1, map[byte][]byte{1: []byte("the same key of every node, 32 or more bytes")})
	if err != nil {
		t.Fatal(err)
	}
	s, err := triage.New(triage.Config{Store: d.store, Atomic: d.atomic, Work: noWork{}, Cursors: cursors})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(s.Close)
	return s
}

// noWork is a callwright.Work that never runs tasks. The suite needs none.
type noWork struct{}

func (noWork) Enqueue(context.Context, callwright.Task) error                    { return nil }
func (noWork) Handle(callwright.Queue, string, callwright.Handler)               {}
func (noWork) Every(callwright.Queue, string, time.Duration, callwright.Handler) {}

// writer is the actor of all changes in the suite.
var writer = triage.Actor{Kind: triage.ActorUser, ID: "writer", Label: "Writer"}

// pageThroughLargeFeed checks that a page of large entries contains at most triage.MaxRead bytes or a single entry, and that the pages
// contain every entry in order.
func pageThroughLargeFeed(t *testing.T, d desk) {
	s := d.service(t)
	issue, err := s.Create(t.Context(), "acme", writer, triage.Draft{Title: "Heavy"})
	if err != nil {
		t.Fatal(err)
	}
	const most, quarter = triage.MaxRead, triage.MaxRead / 4
	sizes := []int{1, most + 1, 1, most, most, quarter - 100, quarter, quarter, quarter, 7}
	entries := make([]triage.Entry, len(sizes))
	for i, size := range sizes {
		entries[i] = anEntry(fmt.Sprint("e", i), issue.CreatedAt.Add(time.Duration(i+1)*time.Microsecond))
		entries[i].Org, entries[i].IssueID, entries[i].Detail = "acme", issue.ID, strings.Repeat("x", size)
	}
	if err := d.store.AppendEntries(t.Context(), "acme", issue.ID, entries); err != nil {
		t.Fatal(err)
	}
	var seen []int
	for request := (triage.PageRequest{Limit: 100}); ; {
		page, err := s.Activity(t.Context(), "acme", issue.ID, request)
		if err != nil || len(page.Items) == 0 {
			t.Fatalf("a page of %d entries, %v", len(page.Items), err)
		}
		size := 0
		for _, e := range page.Items {
			seen, size = append(seen, len(e.Detail)), size+e.Size()
		}
		if size > triage.MaxRead && len(page.Items) > 1 {
			t.Errorf("a page of %d entries has %d bytes", len(page.Items), size)
		}
		if request.Cursor = page.Next; page.Next == "" {
			break
		}
	}
	slices.Reverse(sizes)
	if !slices.Equal(seen, append(sizes, len("Heavy"))) { // the oldest entry records the creation of the issue
		t.Errorf("saw entries of %d bytes, want %d", seen, sizes)
	}
}

// pageThroughFeed reads a feed in pages of random sizes while entries with the same few timestamps are inserted. It checks that every older
// entry appears exactly once, and that afterwards the pages and a watcher contain all entries in order.
func pageThroughFeed(t *testing.T, d desk) {
	s, ids := d.service(t), new(callwright.UUIDs)
	rapid.Check(t, func(t *rapid.T) {
		issue, err := s.Create(context.Background(), "acme", writer, triage.Draft{Title: "Crowded"})
		if err != nil {
			t.Fatal(err)
		}
		moments := rapid.IntRange(1, 4).Draw(t, "timestamps")
		older := rapid.IntRange(0, 150).Draw(t, "older entries")
		random := rand.New(rand.NewPCG(rapid.Uint64().Draw(t, "order"), 0))
		all := make([]triage.Entry, older+200)
		for i := range all {
			all[i] = triage.Entry{
				ID: ids.New(), Org: "acme", IssueID: issue.ID, Kind: triage.KindIssue, Type: triage.TypeComment, Actor: writer,
				CreatedAt: issue.CreatedAt.Add(time.Duration(random.IntN(moments)) * time.Microsecond),
			}
		}
		random.Shuffle(len(all), func(i, j int) { all[i].ID, all[j].ID = all[j].ID, all[i].ID })
		inserts := &inserts{store: d.store, issue: issue.ID, left: all}
		inserts.next(t, older)
		there := slices.Clone(all[:older])
		seen := walk(t, s, issue.ID, func() {
			inserts.next(t, rapid.IntRange(0, 3).Draw(t, "inserted before the page"))
			inserts.start(rapid.IntRange(0, 3).Draw(t, "inserted meanwhile"))
		}, func() { inserts.finish(t) })
		found := map[string]int{}
		for _, e := range seen {
			found[e.ID]++
		}
		for _, e := range there {
			if found[e.ID] != 1 {
				t.Fatalf("an older entry was seen %d times", found[e.ID])
			}
		}
		everything := slices.Clone(all[:len(all)-len(inserts.left)])
		slices.SortFunc(everything, func(a, b triage.Entry) int { return -inOrder(a, b) })
		now := walk(t, s, issue.ID, func() {}, func() {})
		if comments := slices.DeleteFunc(slices.Clone(now), isFirst); !sameEntries(comments, everything) {
			t.Fatalf("of %d entries %d are in the feed, or in another order", len(everything), len(comments))
		}
		slices.Reverse(now)
		if heard := followFromBeginning(t, s, issue, len(now)); !sameEntries(heard, now) {
			t.Fatalf("a watcher heard of %d entries, of %d, or in another order", len(heard), len(now))
		}
	})
}

// isFirst reports whether an entry records the creation of the issue.
func isFirst(e triage.Entry) bool { return e.Type == triage.TypeCreated }

// sameEntries reports whether two lists contain entries with the same ids in the same order.
func sameEntries(a, b []triage.Entry) bool {
	return slices.EqualFunc(a, b, func(a, b triage.Entry) bool { return a.ID == b.ID })
}

// followFromBeginning watches a feed from its beginning until it has received at least the given number of entries, and returns all
// received entries.
func followFromBeginning(t *rapid.T, s *triage.Service, issue triage.Issue, most int) (heard []triage.Entry) {
	now, err := s.Watch(context.Background(), "acme", issue.ID, "")
	if err != nil {
		t.Fatal(err)
	}
	defer now.Close()
	w, err := s.Watch(context.Background(), "acme", issue.ID, now.CursorOf(triage.Entry{
		ID: issue.ID, CreatedAt: issue.CreatedAt.Add(-time.Second),
	}))
	if err != nil {
		t.Fatal(err)
	}
	defer w.Close()
	for len(heard) < most {
		entries, err := w.Next(context.Background())
		if err != nil {
			t.Fatal(err)
		}
		heard = append(heard, entries...)
	}
	return heard
}

// inOrder compares entries by their positions in the feed: by CreatedAt, then by id.
func inOrder(a, b triage.Entry) int {
	return cmp.Or(a.CreatedAt.Compare(b.CreatedAt), cmp.Compare(a.ID, b.ID))
}

// inserts adds the entries in the field left to a feed, in batches.
type inserts struct {
	store triage.Store
	issue string
	left  []triage.Entry
	wait  sync.WaitGroup
	err   error
}

// start inserts the next n entries in the background. The caller must call finish before the next start.
func (in *inserts) start(n int) {
	n = min(n, len(in.left))
	batch := in.left[:n]
	in.left = in.left[n:]
	if n > 0 {
		in.wait.Go(func() { in.err = in.store.AppendEntries(context.Background(), "acme", in.issue, batch) })
	}
}

func (in *inserts) finish(t *rapid.T) {
	in.wait.Wait()
	if in.err != nil {
		t.Fatal(in.err)
	}
}

func (in *inserts) next(t *rapid.T, n int) {
	in.start(n)
	in.finish(t)
}

// walk reads all pages of a feed, newest entry first, and returns every entry. It checks the sizes of the pages and the order of the
// entries. Around each request it calls the functions named "before" and "after".
func walk(t *rapid.T, s *triage.Service, issue string, before, after func()) (seen []triage.Entry) {
	request := triage.PageRequest{}
	for {
		request.Limit = rapid.IntRange(1, 100).Draw(t, "limit")
		before()
		page, err := s.Activity(context.Background(), "acme", issue, request)
		after()
		switch {
		case err != nil:
			t.Fatal(err)
		case len(page.Items) == 0, len(page.Items) > request.Limit:
			t.Fatalf("a page of %d has %d entries", request.Limit, len(page.Items))
		case page.Next != "" && len(page.Items) < request.Limit:
			t.Fatalf("a page of %d that is not the last has %d entries", request.Limit, len(page.Items))
		}
		seen = append(seen, page.Items...)
		if page.Next == "" {
			break
		}
		request.Cursor = page.Next
	}
	for i := 1; i < len(seen); i++ {
		if inOrder(seen[i-1], seen[i]) <= 0 {
			t.Fatalf("entry %d is not older than the one before it", i)
		}
	}
	return seen
}

// watchFeed checks that two watchers receive every entry while several writers write. One watcher is on the writers' node. The other is on
// another node, and reconnects at its cursor after each call of Next.
func watchFeed(t *testing.T, d desk) {
	const writers, each = 4, 20
	here, there := d.service(t), d.service(t)
	ctx, cancel := context.WithTimeout(t.Context(), patience)
	defer cancel()
	issue, err := here.Create(ctx, "acme", writer, triage.Draft{Title: "Watched"})
	if err != nil {
		t.Fatal(err)
	}
	var wait sync.WaitGroup
	heard, failed := make([][]triage.Entry, 2), make([]error, 2+writers)
	for n, s := range []*triage.Service{here, there} {
		w, err := s.Watch(ctx, "acme", issue.ID, "")
		if err != nil {
			t.Fatal(err)
		}
		wait.Go(func() { heard[n], failed[n] = listen(ctx, s, w, writers*each, s == there) })
	}
	for n := range writers {
		wait.Go(func() {
			for i := range each {
				category := fmt.Sprintf("%d of writer %d", i, n)
				if _, err := here.Update(ctx, "acme", writer, issue.ID, triage.Change{Category: &category}); err != nil {
					failed[2+n] = err
					return
				}
			}
		})
	}
	wait.Wait()
	if err := errors.Join(failed...); err != nil {
		t.Fatal(err)
	}
	page, err := here.Activity(ctx, "acme", issue.ID, triage.PageRequest{Limit: 100})
	if err != nil {
		t.Fatal(err)
	}
	want := page.Items[:len(page.Items)-1] // without the entry of the creation, which the watchers don't receive
	slices.Reverse(want)
	if len(want) != writers*each {
		t.Fatalf("the feed has %d entries, not %d", len(want), writers*each)
	}
	for n, entries := range heard {
		if !sameEntries(entries, want) {
			t.Errorf("watcher %d heard of %d entries, of %d, or in another order", n, len(entries), len(want))
		}
	}
}

// patience is the time limit of watchFeed.
const patience = 60 * time.Second

// listen calls Next of a watcher until it has received at least the given number of entries, closes the watcher and returns all received
// entries. If comesBack is set, it replaces the watcher after each call of Next by a new one at the cursor, and checks that the cursor is
// the last entry's.
func listen(ctx context.Context, s *triage.Service, w *triage.Watcher, most int, comesBack bool) (heard []triage.Entry, err error) {
	defer func() { w.Close() }()
	for len(heard) < most {
		entries, err := w.Next(ctx)
		if err != nil {
			return heard, err
		}
		heard = append(heard, entries...)
		if !comesBack {
			continue
		}
		if w.Cursor() != w.CursorOf(entries[len(entries)-1]) {
			return heard, errors.New("the watcher's place is not that of the last entry it gave")
		}
		w.Close()
		if w, err = s.Watch(ctx, "acme", heard[0].IssueID, w.Cursor()); err != nil {
			return heard, err
		}
	}
	return heard, nil
}

// editAtOnce checks that only one of several editors changes a version that all of them have read.
func editAtOnce(t *testing.T, d desk) {
	const editors = 16
	s := d.service(t)
	issue, err := s.Create(t.Context(), "acme", writer, triage.Draft{Title: "Contested"})
	if err != nil {
		t.Fatal(err)
	}
	results := make([]error, editors)
	var wait sync.WaitGroup
	for n := range editors {
		wait.Go(func() {
			title := fmt.Sprintf("As editor %d has it", n)
			_, results[n] = s.Update(t.Context(), "acme", writer, issue.ID, triage.Change{Version: issue.Version, Title: &title})
		})
	}
	wait.Wait()
	winner := -1
	for n, err := range results {
		switch {
		case err == nil && winner < 0:
			winner = n
		case err == nil:
			t.Errorf("editors %d and %d both won", winner, n)
		case !errors.Is(err, callwright.ErrConflict):
			t.Errorf("editor %d: %v, want a conflict", n, err)
		}
	}
	got, err := s.Get(t.Context(), "acme", issue.ID)
	if err != nil || got.Title != fmt.Sprintf("As editor %d has it", winner) || got.Version != issue.Version+1 {
		t.Errorf("%q, version %d, %v; editor %d has won", got.Title, got.Version, err, winner)
	}
}

// mergeAtOnce concurrently merges each issue of a circle into both of its neighbors. It checks that at least one and at most half of the
// issues remain unmerged.
func mergeAtOnce(t *testing.T, d desk) {
	const circle = 8
	s := d.service(t)
	var ids [circle]string
	for n := range ids {
		i, err := s.Create(t.Context(), "acme", writer, triage.Draft{Title: "One of a circle"})
		if err != nil {
			t.Fatal(err)
		}
		ids[n] = i.ID
	}
	var wait sync.WaitGroup
	for n, id := range ids {
		for _, into := range []string{ids[(n+1)%circle], ids[(n+circle-1)%circle]} {
			wait.Go(func() {
				_, err := s.Merge(t.Context(), "acme", writer, id, into)
				if err != nil && !errors.Is(err, callwright.ErrInvalidState) {
					t.Errorf("merge: %v", err)
				}
			})
		}
	}
	wait.Wait()
	left := 0
	for n, id := range ids {
		i, err := s.Get(t.Context(), "acme", id)
		if err != nil {
			t.Fatal(err)
		}
		if i.MergedInto == "" {
			left++
		} else if i.MergedInto != ids[(n+1)%circle] && i.MergedInto != ids[(n+circle-1)%circle] || i.Status != triage.StatusClosed {
			t.Errorf("issue %d is %s and was merged into %q", n, i.Status, i.MergedInto)
		}
	}
	if left == 0 || left > circle/2 {
		t.Errorf("%d of %d issues go on", left, circle)
	}
}

// rollBack checks that a failing transaction of the caller undoes an update and a creation, and that watchers receive only the entry of a
// later transaction that is committed.
func rollBack(t *testing.T, d desk) {
	s, failure := d.service(t), errors.New("changed my mind")
	before, err := s.Create(t.Context(), "acme", writer, triage.Draft{Title: "There"})
	if err != nil {
		t.Fatal(err)
	}
	w, err := d.service(t).Watch(t.Context(), "acme", before.ID, "")
	if err != nil {
		t.Fatal(err)
	}
	var opened string
	in := func(outcome error, title string) {
		err := d.atomic.Do(t.Context(), func(ctx context.Context) error {
			i, err := s.Create(ctx, "acme", writer, triage.Draft{Title: title})
			if err != nil {
				return err
			}
			opened = i.ID
			if _, err := s.Update(ctx, "acme", writer, before.ID, triage.Change{Category: &title}); err != nil {
				return err
			}
			return outcome
		})
		if !errors.Is(err, outcome) {
			t.Fatalf("the transaction ended with %v, want %v", err, outcome)
		}
	}
	in(failure, "lost")
	if _, err := s.Get(t.Context(), "acme", opened); !errors.Is(err, callwright.ErrNotFound) {
		t.Errorf("what was opened is there: %v", err)
	}
	if got, err := s.Get(t.Context(), "acme", before.ID); err != nil || got.Revision != before.Revision || got.Category != "" {
		t.Errorf("what was changed is %+v, %v; want %+v", got, err, before)
	}
	in(nil, "kept")
	if _, err := s.Get(t.Context(), "acme", opened); err != nil {
		t.Errorf("what was kept is lost: %v", err)
	}
	entries, err := w.Next(t.Context())
	if err != nil || len(entries) != 1 || entries[0].Metadata["to"] != "kept" {
		t.Errorf("the watcher heard of %+v, %v; want what was kept alone", entries, err)
	}
}
