package triage

import (
	"context"
	"sync"
	"time"

	"github.com/callwright/callwright"
)

// How watchers look. What this node writes wakes them at once; what others do, they find by looking.
const (
	watchEvery  = time.Second // without being woken
	watchAtOnce = 100         // entries
	watchLater  = 5 * time.Second
)

// MaxWatchers is how many Watchers of one organization may be open at once, in one process.
const MaxWatchers = 100

// Watcher follows an issue's feed. It is for one goroutine; only Close may come from another.
type Watcher struct {
	service   *Service
	org       callwright.OrgID
	issue     string
	place     callwright.Keyset // of the last entry it has given
	news      chan struct{}     // holds a token when there may be something new
	closed    chan struct{}
	closeOnce sync.Once
}

// Watch follows an issue's feed: what comes after a cursor of Activity or of a Watcher, or, without one, from now on. It
// costs no goroutine. Close it. CodeTooManyRequests when as many as the configuration allows are open, or MaxWatchers of
// one organization, CodeUnavailable when the service is closed.
func (s *Service) Watch(ctx context.Context, org callwright.OrgID, id, after string) (*Watcher, error) {
	place, err := s.openFeed(org, id, after)
	if err != nil {
		return nil, err
	}
	if _, err := s.cfg.Store.Issue(ctx, org, id); err != nil {
		return nil, err
	}
	if after == "" {
		newest, err := s.cfg.Store.Entries(ctx, org, id, callwright.Keyset{}, 1)
		if err != nil {
			return nil, err
		}
		for _, e := range newest {
			place = e.Keyset()
		}
	}
	w := &Watcher{
		service: s, org: org, issue: id, place: place, news: make(chan struct{}, 1), closed: make(chan struct{}),
	}
	if err := s.hub.add(w, s.cfg.Watchers); err != nil {
		return nil, err
	}
	return w, nil
}

// Next waits for entries after the last that it gave: one to 100, the oldest first, none twice and none left out. It gives
// the error of ctx as it is when that ends, and CodeUnavailable once the watcher or the service is closed.
func (w *Watcher) Next(ctx context.Context) ([]Entry, error) {
	for {
		select {
		case <-w.closed:
			return nil, errClosed
		default:
		}
		entries, err := w.service.cfg.Store.EntriesAfter(ctx, w.org, w.issue, w.place, watchAtOnce)
		switch {
		case ctx.Err() != nil:
			return nil, ctx.Err()
		case err != nil:
			return nil, err
		case len(entries) > 0:
			w.place = entries[len(entries)-1].Keyset()
			return entries, nil
		}
		if err := w.wait(ctx); err != nil {
			return nil, err
		}
	}
}

// wait waits until it is time to look.
func (w *Watcher) wait(ctx context.Context) error {
	timer := time.NewTimer(watchEvery)
	defer timer.Stop()
	select {
	case <-w.news:
	case <-timer.C:
	case <-w.closed:
		return errClosed
	case <-ctx.Done():
		return ctx.Err()
	}
	return nil
}

var errClosed = callwright.Errorf(callwright.CodeUnavailable, "watching has ended")

// Cursor is the place after which Next goes on: whoever watches from there misses nothing.
func (w *Watcher) Cursor() string { return w.service.sealFeed(w.org, w.issue, w.place) }

// CursorOf is the place after an entry that Next gave.
func (w *Watcher) CursorOf(e Entry) string { return w.service.sealFeed(w.org, w.issue, e.Keyset()) }

// Close ends the watcher, and a Next that waits. Closing again does nothing.
func (w *Watcher) Close() {
	w.service.hub.remove(w)
	w.end()
}

func (w *Watcher) end() { w.closeOnce.Do(func() { close(w.closed) }) }

// Close ends all watchers, for good. The rest of the service goes on.
func (s *Service) Close() { s.hub.close() }

// hub tells those who watch issues on this node that there may be something new. It is a hint: what is new is read from
// the store.
type hub struct {
	mu       sync.Mutex
	watchers map[string]map[*Watcher]bool // by issue
	open     int
	openOf   map[callwright.OrgID]int
	closed   bool
}

func (h *hub) add(w *Watcher, most int) error {
	h.mu.Lock()
	defer h.mu.Unlock()
	switch {
	case h.closed:
		return errClosed
	case h.open >= most || h.openOf[w.org] >= MaxWatchers:
		full := callwright.Errorf(callwright.CodeTooManyRequests, "as many watch issues as can at once")
		full.RetryAfter = watchLater
		return full
	}
	if h.watchers == nil {
		h.watchers, h.openOf = map[string]map[*Watcher]bool{}, map[callwright.OrgID]int{}
	}
	if h.watchers[w.issue] == nil {
		h.watchers[w.issue] = map[*Watcher]bool{}
	}
	h.watchers[w.issue][w] = true
	h.open++
	h.openOf[w.org]++
	return nil
}

func (h *hub) remove(w *Watcher) {
	h.mu.Lock()
	defer h.mu.Unlock()
	if !h.watchers[w.issue][w] {
		return
	}
	h.open--
	if h.openOf[w.org]--; h.openOf[w.org] == 0 {
		delete(h.openOf, w.org)
	}
	delete(h.watchers[w.issue], w)
	if len(h.watchers[w.issue]) == 0 {
		delete(h.watchers, w.issue)
	}
}

// wake has those who watch issues look now.
func (h *hub) wake(issues ...string) {
	h.mu.Lock()
	defer h.mu.Unlock()
	for _, id := range issues {
		for w := range h.watchers[id] {
			select {
			case w.news <- struct{}{}:
			default: // it has not yet looked since the last time
			}
		}
	}
}

func (h *hub) close() {
	h.mu.Lock()
	defer h.mu.Unlock()
	h.closed = true
	for _, watchers := range h.watchers {
		for w := range watchers {
			w.end()
		}
	}
}
