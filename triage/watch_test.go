package triage_test

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/callwright/callwright"
	"github.com/callwright/callwright/adapters/memstore"
	"github.com/callwright/callwright/adapters/memstore/triagestore"
	"github.com/callwright/callwright/triage"
)

// watch returns a watcher of an issue. The end of the test closes the watcher.
func (h house) watch(id, after string) *triage.Watcher {
	h.t.Helper()
	w, err := h.Watch(h.t.Context(), "acme", id, after)
	if err != nil {
		h.t.Fatal(err)
	}
	h.t.Cleanup(w.Close)
	return w
}

// categorize changes an issue's category, which adds an entry to the issue's feed unless the issue has this category already.
func (h house) categorize(ctx context.Context, id, category string) {
	h.t.Helper()
	if _, err := h.Update(ctx, "acme", ada, id, triage.Change{Category: &category}); err != nil {
		h.t.Error(err)
	}
}

// next returns the categories in a watcher's next entries, and the time that it waited for them. It waits at most 10 seconds.
func next(t *testing.T, w *triage.Watcher) ([]string, time.Duration) {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), 10*time.Second)
	defer cancel()
	since := time.Now()
	entries, err := w.Next(ctx)
	if err != nil {
		t.Errorf("waited %s: %v", time.Since(since), err)
	}
	var heard []string
	for _, e := range entries {
		heard = append(heard, fmt.Sprint(e.Metadata["to"]))
	}
	return heard, time.Since(since)
}

// wantHeard checks the categories in a watcher's next entries, and that they arrive after at least and at most the given durations.
func wantHeard(t *testing.T, w *triage.Watcher, least, most time.Duration, want ...string) {
	t.Helper()
	heard, took := next(t, w)
	if !slices.Equal(heard, want) || took < least || took > most {
		t.Errorf("heard %v after %s, want %v within %s to %s", heard, took, want, least, most)
	}
}

func TestWatchWakesAtOnce(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		h := open(t)
		i, other := h.issue(triage.Draft{}), h.issue(triage.Draft{})
		w := h.watch(i.ID, "")
		go func() {
			time.Sleep(300 * time.Millisecond)
			h.categorize(t.Context(), other.ID, "another issue's")
			h.categorize(t.Context(), i.ID, "a")
			h.categorize(t.Context(), i.ID, "a")
		}()
		wantHeard(t, w, 300*time.Millisecond, 300*time.Millisecond, "a")
		h.categorize(t.Context(), i.ID, "b")
		h.categorize(t.Context(), i.ID, "c")
		wantHeard(t, w, 0, 0, "b", "c")
	})
}

func TestWatchHearsOfOtherNodes(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		h := open(t)
		i := h.issue(triage.Draft{})
		other := openOver(t, h.memory)
		w := h.watch(i.ID, "")
		go func() {
			time.Sleep(2500 * time.Millisecond)
			other.categorize(t.Context(), i.ID, "a")
		}()
		wantHeard(t, w, 2500*time.Millisecond, 3500*time.Millisecond, "a")
	})
}

func TestWatchAnEmbeddersTransaction(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		h := open(t)
		i := h.issue(triage.Draft{})
		w, failure := h.watch(i.ID, ""), errors.New("changed my mind")
		in := func(category string, outcome error) {
			err := h.memory.Do(t.Context(), func(ctx context.Context) error {
				h.categorize(ctx, i.ID, category)
				return outcome
			})
			if !errors.Is(err, outcome) {
				t.Errorf("the transaction ended with %v", err)
			}
		}
		go func() {
			time.Sleep(time.Second)
			in("lost", failure)
			time.Sleep(3 * time.Second)
			in("kept", nil)
		}()
		wantHeard(t, w, 4*time.Second, 5*time.Second, "kept")
	})
}

func TestWatchResumes(t *testing.T) {
	t.Parallel()
	h := open(t)
	i := h.issue(triage.Draft{})
	for n := range 250 {
		h.categorize(t.Context(), i.ID, fmt.Sprint(n))
	}
	page, err := h.Activity(t.Context(), "acme", i.ID, triage.PageRequest{Limit: 100})
	if err != nil {
		t.Fatal(err)
	}
	if heard, _ := next(t, h.watch(i.ID, page.Next)); len(heard) != 99 || heard[0] != "151" || heard[98] != "249" {
		t.Errorf("after the cursor of a page: %v", heard)
	}
	now := h.watch(i.ID, "")
	begin := h.watch(i.ID, now.CursorOf(triage.Entry{CreatedAt: start.Add(-time.Hour), ID: "0"}))
	var heard []triage.Entry
	for _, most := range []int{100, 100, 51} {
		entries, err := begin.Next(t.Context())
		if err != nil || len(entries) != most {
			t.Fatalf("heard of %d, %v; want %d", len(entries), err, most)
		}
		heard = append(heard, entries...)
	}
	if all := h.feed(i.ID); !slices.EqualFunc(heard, all, func(a, b triage.Entry) bool { return a.ID == b.ID }) {
		t.Error("from the beginning: what was heard is not what the feed says")
	}
	middle := h.watch(i.ID, begin.CursorOf(heard[200]))
	if entries, err := middle.Next(t.Context()); err != nil || len(entries) != 50 || entries[0].ID != heard[201].ID {
		t.Errorf("in the middle: %d entries, %v", len(entries), err)
	}
	if middle.Cursor() != begin.Cursor() || now.Cursor() != begin.Cursor() {
		t.Error("those that are at the end are not at the same place")
	}
}

func TestWatchEnds(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		h := open(t)
		i := h.issue(triage.Draft{})
		closed, ended, served := h.watch(i.ID, ""), h.watch(i.ID, ""), h.watch(i.ID, "")
		ctx, cancel := context.WithCancel(t.Context())
		errs := map[*triage.Watcher]error{}
		var mu sync.Mutex
		var wait sync.WaitGroup
		for w, ctx := range map[*triage.Watcher]context.Context{closed: t.Context(), ended: ctx, served: t.Context()} {
			wait.Go(func() {
				_, err := w.Next(ctx)
				mu.Lock()
				defer mu.Unlock()
				errs[w] = err
			})
		}
		synctest.Wait()
		closed.Close()
		closed.Close()
		cancel()
		synctest.Wait()
		mu.Lock()
		if !errors.Is(errs[closed], callwright.ErrUnavailable) || errs[ended] != context.Canceled || errs[served] != nil { //nolint:errorlint // as it is
			t.Errorf("after one was closed and the context of another ended: %v", errs)
		}
		mu.Unlock()
		h.Close()
		wait.Wait()
		if !errors.Is(errs[served], callwright.ErrUnavailable) {
			t.Errorf("after the service was closed: %v", errs[served])
		}
		h.Close()
		if _, err := served.Next(t.Context()); !errors.Is(err, callwright.ErrUnavailable) {
			t.Errorf("a watcher of a closed service: %v", err)
		}
		if _, err := h.Watch(t.Context(), "acme", i.ID, ""); !errors.Is(err, callwright.ErrUnavailable) {
			t.Errorf("watching with a closed service: %v", err)
		}
		h.categorize(t.Context(), i.ID, "the rest of the service goes on")
	})
}

func TestWatchersAreLimited(t *testing.T) {
	t.Parallel()
	h := open(t, func(c *triage.Config) { c.Watchers = 2 })
	i, other := h.issue(triage.Draft{}), h.issue(triage.Draft{})
	first := h.watch(i.ID, "")
	h.watch(other.ID, "")
	full := func(when string) {
		_, err := h.Watch(t.Context(), "acme", i.ID, "")
		if wait, ok := callwright.RetryAfter(err); !errors.Is(err, callwright.ErrTooManyRequests) || !ok || wait <= 0 {
			t.Errorf("%s: %v, to be tried again after %s", when, err, wait)
		}
	}
	full("a third watcher")
	first.Close()
	first.Close() // a second Close frees no second slot
	h.watch(other.ID, "")
	full("a third watcher again")
}

// TestWatchersOfOneOrganization checks that an organization at its limit of watchers does not prevent watchers of another organization.
func TestWatchersOfOneOrganization(t *testing.T) {
	t.Parallel()
	h := open(t)
	i := h.issue(triage.Draft{})
	var watchers []*triage.Watcher
	for range triage.MaxWatchers {
		watchers = append(watchers, h.watch(i.ID, ""))
	}
	if _, err := h.Watch(t.Context(), "acme", i.ID, ""); !errors.Is(err, callwright.ErrTooManyRequests) {
		t.Errorf("one more gave %v", err)
	}
	foreign, err := h.Create(t.Context(), "other", ada, triage.Draft{Title: "Theirs"})
	if err != nil {
		t.Fatal(err)
	}
	w, err := h.Watch(t.Context(), "other", foreign.ID, "")
	if err != nil {
		t.Fatalf("another organization is given %v", err)
	}
	w.Close()
	watchers[0].Close()
	h.watch(i.ID, "")
}

// deaf is a store that fails to read entries in forward order, as watchers do.
type deaf struct{ triage.Store }

var errDeaf = errors.New("the store is gone")

func (deaf) EntriesAfter(context.Context, callwright.OrgID, string, callwright.Keyset, int) ([]triage.Entry, error) {
	return nil, errDeaf
}

func TestWatchTellsThatTheStoreFails(t *testing.T) {
	t.Parallel()
	memory := memstore.New()
	h := openOver(t, memory, func(c *triage.Config) { c.Store = deaf{triagestore.Store{Store: memory}} })
	w := h.watch(h.issue(triage.Draft{}).ID, "")
	before := w.Cursor()
	if _, err := w.Next(t.Context()); !errors.Is(err, errDeaf) || w.Cursor() != before {
		t.Errorf("got %v, want %v", err, errDeaf)
	}
}
