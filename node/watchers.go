package node

import (
	"context"
	"sync"
	"time"

	"github.com/callwright/callwright"
)

// watchRetry is the RetryAfter of the error if too many watchers are open.
const watchRetry = 5 * time.Second

// Watchers limits the number of open watchers (see Watcher) in a process, and wakes them. Set its fields before the first Open.
type Watchers struct {
	Total int // maximum of open watchers of all organizations
	Share int // maximum of open watchers of one organization

	mu     sync.Mutex
	by     map[string]map[*Watcher]bool // open watchers by key
	open   int
	openOf map[callwright.OrgID]int
	closed bool
}

// errWatchClosed is the error of a closed Watcher, and of a Watcher whose Watchers are closed.
var errWatchClosed = callwright.Errorf(callwright.CodeUnavailable, "the watcher is closed")

// Open opens a watcher of a key, such as a record's id. A watcher uses no goroutine and must be closed. Open returns CodeTooManyRequests
// with a RetryAfter if Total or Share is reached, and CodeUnavailable after Close.
func (w *Watchers) Open(org callwright.OrgID, key string) (*Watcher, error) {
	w.mu.Lock()
	defer w.mu.Unlock()
	switch {
	case w.closed:
		return nil, errWatchClosed
	case w.openOf[org] >= w.Share:
		return nil, tooManyWatchers("an organization may have at most %d open streams of this kind on a server: close one", w.Share)
	case w.open >= w.Total:
		return nil, tooManyWatchers("this server may have at most %d open streams of this kind: try again later", w.Total)
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

// Wake wakes the watchers of the given keys. It is only a hint: it may precede the commit of a change, or occur without a change.
func (w *Watchers) Wake(keys ...string) {
	w.mu.Lock()
	defer w.mu.Unlock()
	for _, key := range keys {
		for watch := range w.by[key] {
			select {
			case watch.news <- struct{}{}:
			default: // a wake-up is already pending
			}
		}
	}
}

// Close closes all watchers and prevents new ones.
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

// Watcher waits until it is woken for its key. Only Close is safe for concurrent use.
type Watcher struct {
	of     *Watchers
	org    callwright.OrgID
	key    string
	news   chan struct{} // contains a token if the watcher was woken
	closed chan struct{}
	once   sync.Once
}

// Wait waits until the watcher is woken or the given duration is over, and reports whether it was woken. It returns CodeUnavailable if the
// watcher or its Watchers are closed, and the error of ctx unchanged if ctx ends.
func (w *Watcher) Wait(ctx context.Context, most time.Duration) (woken bool, err error) {
	return w.wait(ctx, most, w.news)
}

// Rest waits for a duration. A wake-up during the pause does not end Rest: the next Wait then returns immediately. Rest returns the same
// errors as Wait.
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

// Err returns CodeUnavailable if the watcher or its Watchers are closed, or else nil.
func (w *Watcher) Err() error {
	select {
	case <-w.closed:
		return errWatchClosed
	default:
		return nil
	}
}

// Close closes the watcher and ends a waiting Wait. Repeated calls have no effect.
func (w *Watcher) Close() {
	w.of.unlist(w)
	w.end()
}

func (w *Watcher) end() { w.once.Do(func() { close(w.closed) }) }
