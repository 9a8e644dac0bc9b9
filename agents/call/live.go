package call

import (
	"context"
	"errors"
	"log/slog"
	"sync"

	"github.com/callwright/callwright"
)

// The causes of a running call's context when this node ends the call.
var (
	errStopped     = errors.New("stopped by its owner")
	errDraining    = &HangupReason{Cause: CauseDrained, Reason: "the server is stopping"}
	errMaxDuration = errors.New("the call reached its longest duration")
	errLost        = errors.New("another node has closed the call")
)

// live holds the calls that run on this node. A call claims a slot first, so that a full or draining node refuses it at no cost.
type live struct {
	mu    sync.Mutex
	limit int // 0: none
	begun bool
	over  bool
	calls map[string]running
	idle  chan struct{} // closed when over and empty
}

// running is a call that holds a slot.
type running struct {
	org    callwright.OrgID
	cancel context.CancelCauseFunc
}

func newLive(limit int) live {
	return live{limit: limit, calls: map[string]running{}, idle: make(chan struct{})}
}

// slot is the right of one call to run here.
type slot struct {
	live *live
	id   string
	//nolint:containedctx // the life of a call, which outlives the request or the task that begins it
	ctx context.Context
}

// open admits calls.
func (l *live) open() {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.begun = true
}

// shut admits no further calls.
func (l *live) shut() {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.over = true
	if len(l.calls) == 0 {
		close(l.idle)
	}
}

// take reserves a slot for a call. It returns false when the node is full, not started or draining, or already runs the call.
func (l *live) take(org callwright.OrgID, id string) (*slot, bool) {
	l.mu.Lock()
	defer l.mu.Unlock()
	full := l.limit > 0 && len(l.calls) >= l.limit
	if _, has := l.calls[id]; has || !l.begun || l.over || full {
		return nil, false
	}
	ctx, cancel := context.WithCancelCause(callwright.WithLog(context.Background(), slog.String("call_id", id)))
	l.calls[id] = running{org: org, cancel: cancel}
	return &slot{live: l, id: id, ctx: ctx}, true
}

// run runs the call in a new goroutine, and frees the slot at its end.
func (s *slot) run(f func(ctx context.Context)) {
	go func() {
		defer s.free()
		f(s.ctx)
	}()
}

// free frees the slot.
func (s *slot) free() {
	l := s.live
	l.mu.Lock()
	defer l.mu.Unlock()
	l.calls[s.id].cancel(nil)
	delete(l.calls, s.id)
	if l.over && len(l.calls) == 0 {
		close(l.idle)
	}
}

// end cancels a call that runs here, with a cause.
func (l *live) end(id string, why error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	if c, ok := l.calls[id]; ok {
		c.cancel(why)
	}
}

// endAll cancels every call.
func (l *live) endAll(why error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	for _, c := range l.calls {
		c.cancel(why)
	}
}

// has reports whether a call runs here.
func (l *live) has(id string) bool {
	l.mu.Lock()
	defer l.mu.Unlock()
	_, ok := l.calls[id]
	return ok
}

// all returns the ids of the calls that run here, with their organizations.
func (l *live) all() map[string]callwright.OrgID {
	l.mu.Lock()
	defer l.mu.Unlock()
	orgs := make(map[string]callwright.OrgID, len(l.calls))
	for id, c := range l.calls {
		orgs[id] = c.org
	}
	return orgs
}

func (l *live) count() int {
	l.mu.Lock()
	defer l.mu.Unlock()
	return len(l.calls)
}
