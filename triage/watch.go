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
	watchGone   = 15          // looks in vain after which a watcher asks whether the issue is still there
	watchLater  = 5 * time.Second
)

// MaxWatchers bounds the open Watchers of one organization in one process.
const MaxWatchers = 100

// Watcher follows an issue's feed. One goroutine may use it; only Close may be called from others.
type Watcher struct {
	service   *Service
	org       callwright.OrgID
	issue     string
	place     callwright.Keyset // of the last entry it has given
	woken     bool              // since it last had entries or asked for the issue
	vain      int               // looks without entries since then
	news      chan struct{}     // holds a token when there may be something new
	closed    chan struct{}
	closeOnce sync.Once
}

// Watch follows an issue's feed after a cursor of Activity or of a Watcher, or from now on without one. A Watcher
// costs no goroutine and must be closed. At the limit of Config.Watchers or MaxWatchers it is CodeTooManyRequests;
// after Close of the service CodeUnavailable.
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

// Next waits for entries after the last one that it returned: 1 to 100, oldest first, none twice and none left out.
// It returns the error of ctx unchanged when ctx ends, CodeUnavailable once the watcher or the service is closed, and
// CodeNotFound once the issue is deleted: at once on the node that deletes it, within 15 seconds of waiting on others.
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
			w.place, w.woken, w.vain = entries[len(entries)-1].Keyset(), false, 0
			return entries, nil
		}
		if err := w.there(ctx); err != nil {
			return nil, err
		}
		if err := w.wait(ctx); err != nil {
			return nil, err
		}
	}
}

// there returns CodeNotFound when the issue was deleted. It asks the store only after a wake-up without entries and
// once in watchGone looks.
func (w *Watcher) there(ctx context.Context) error {
	w.vain++
	if !w.woken && w.vain < watchGone {
		return nil
	}
	w.woken, w.vain = false, 0
	_, err := w.service.cfg.Store.Issue(ctx, w.org, w.issue)
	if ctx.Err() != nil {
		return ctx.Err()
	}
	return err
}

// wait blocks until the next look is due.
func (w *Watcher) wait(ctx context.Context) error {
	timer := time.NewTimer(watchEvery)
	defer timer.Stop()
	select {
	case <-w.news:
		w.woken = true
	case <-timer.C:
	case <-w.closed:
		return errClosed
	case <-ctx.Done():
		return ctx.Err()
	}
	return nil
}

var errClosed = callwright.Errorf(callwright.CodeUnavailable, "the watcher is closed")

// Cursor returns the place after which Next continues. A Watcher opened with it misses nothing.
func (w *Watcher) Cursor() string { return w.service.sealFeed(w.org, w.issue, w.place) }

// CursorOf returns the place after an entry that Next returned.
func (w *Watcher) CursorOf(e Entry) string { return w.service.sealFeed(w.org, w.issue, e.Keyset()) }

// Close ends the watcher and a waiting Next. Closing again does nothing.
func (w *Watcher) Close() {
	w.service.hub.remove(w)
	w.end()
}

func (w *Watcher) end() { w.closeOnce.Do(func() { close(w.closed) }) }

// Close ends all watchers, for good. The rest of the service keeps working.
func (s *Service) Close() { s.hub.close() }

// hub wakes the watchers of this node. A wake-up is a hint: entries are read from the store.
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
		full := callwright.Errorf(callwright.CodeTooManyRequests, "too many concurrent watchers")
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

// wake makes the watchers of issues look now.
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
