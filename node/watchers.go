package node

import (
	"context"
	"sync"
	"time"

	"github.com/callwright/callwright"
)

// watchRetry is the RetryAfter of full Watchers.
const watchRetry = 5 * time.Second

// Watchers holds the open Watchers of a process, bounds them, and wakes them. Set its fields before the first Open.
type Watchers struct {
	Total int // concurrently open, of all organizations
	Share int // of one organization

	mu     sync.Mutex
	by     map[string]map[*Watcher]bool // by key
	open   int
	openOf map[callwright.OrgID]int
	closed bool
}

// errWatchClosed is the error of a Watcher that is closed, and of Watchers that are.
var errWatchClosed = callwright.Errorf(callwright.CodeUnavailable, "the watcher is closed")

// Open opens a watcher of a key, such as a record's id. It costs no goroutine and must be closed. CodeTooManyRequests, with
// RetryAfter: the maximum of open watchers is reached. CodeUnavailable: Close was called.
func (w *Watchers) Open(org callwright.OrgID, key string) (*Watcher, error) {
	w.mu.Lock()
	defer w.mu.Unlock()
	switch {
	case w.closed:
		return nil, errWatchClosed
	case w.openOf[org] >= w.Share:
		return nil, tooManyWatchers("an organization may have %d streams of this kind open at once on a server: close one", w.Share)
	case w.open >= w.Total:
		return nil, tooManyWatchers("this server may have %d streams of this kind open at once: try again later", w.Total)
	}
	if w.by == nil {
		w.by, w.openOf = map[string]map[*Watcher]bool{}, map[callwright.OrgID]int{}
	}
	if w.by[key] == nil {
		w.by[key] = map[*Watcher]bool{}
	}
	opened := &Watcher{of: w, org: org, key: key, news: make(chan struct{}, 1), closed: make(chan struct{})}
	w.by[key][opened] = true
	w.open++
	w.openOf[org]++
	return opened, nil
}

func tooManyWatchers(format string, most int) error {
	full := callwright.Errorf(callwright.CodeTooManyRequests, format, most)
	full.RetryAfter = watchRetry
	return full
}

// Wake ends the waits of the watchers of some keys. It is a hint, which may come before a change is committed, or in vain.
func (w *Watchers) Wake(keys ...string) {
	w.mu.Lock()
	defer w.mu.Unlock()
	for _, key := range keys {
		for watch := range w.by[key] {
			select {
			case watch.news <- struct{}{}:
			default: // it has not waited since the last time
			}
		}
	}
}

// Close closes all watchers, permanently.
func (w *Watchers) Close() {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.closed = true
	for _, watches := range w.by {
		for watch := range watches {
			watch.end()
		}
	}
}

func (w *Watchers) unlist(watch *Watcher) {
	w.mu.Lock()
	defer w.mu.Unlock()
	if !w.by[watch.key][watch] {
		return
	}
	w.open--
	if w.openOf[watch.org]--; w.openOf[watch.org] == 0 {
		delete(w.openOf, watch.org)
	}
	delete(w.by[watch.key], watch)
	if len(w.by[watch.key]) == 0 {
		delete(w.by, watch.key)
	}
}

// Watcher waits for news of one thing. One goroutine may wait; only Close may be called from others.
type Watcher struct {
	of     *Watchers
	org    callwright.OrgID
	key    string
	news   chan struct{} // holds a token when there may be something new
	closed chan struct{}
	once   sync.Once
}

// Wait waits until there may be news, at most for a time, and reports whether it was woken. It returns the error of ctx unchanged,
// and CodeUnavailable once the watcher or its Watchers are closed.
func (w *Watcher) Wait(ctx context.Context, most time.Duration) (woken bool, err error) {
	return w.wait(ctx, most, w.news)
}

// Rest is Wait, but news do not end it: they end the next Wait.
func (w *Watcher) Rest(ctx context.Context, pause time.Duration) error {
	_, err := w.wait(ctx, pause, nil)
	return err
}

func (w *Watcher) wait(ctx context.Context, most time.Duration, news <-chan struct{}) (woken bool, err error) {
	timer := time.NewTimer(most)
	defer timer.Stop()
	select {
	case <-news:
		return true, w.Err()
	case <-timer.C:
		return false, w.Err()
	case <-w.closed:
		return false, errWatchClosed
	case <-ctx.Done():
		return false, ctx.Err()
	}
}

// Err returns CodeUnavailable once the watcher or its Watchers are closed.
func (w *Watcher) Err() error {
	select {
	case <-w.closed:
		return errWatchClosed
	default:
		return nil
	}
}

// Close ends the watcher and a waiting Wait. Closing again does nothing.
func (w *Watcher) Close() {
	w.of.unlist(w)
	w.end()
}

func (w *Watcher) end() { w.once.Do(func() { close(w.closed) }) }
