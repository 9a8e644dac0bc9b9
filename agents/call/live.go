package call

import (
	"context"
	"errors"
	"sync"
)

// Why a running call is ended from here: the causes of its context.
var (
	errStopped     = errors.New("stopped by its owner")
	errDraining    = errors.New("the server is stopping")
	errMaxDuration = errors.New("the call reached its longest duration")
)

// live is the calls that run on this node. Each has a slot, which is taken before anything else is, so that a node that
// is full or stopping refuses a call while that is still free.
type live struct {
	mu    sync.Mutex
	limit int // 0: none
	begun bool
	over  bool
	calls map[string]context.CancelCauseFunc
	idle  chan struct{} // closed when over and empty
}

func newLive(limit int) live {
	return live{limit: limit, calls: map[string]context.CancelCauseFunc{}, idle: make(chan struct{})}
}

// slot is the place of one call.
type slot struct {
	live *live
	id   string
	//nolint:containedctx // the life of a call, which outlives the request or the task that begins it
	ctx context.Context
}

// open lets calls begin.
func (l *live) open() {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.begun = true
}

// shut lets no further call begin.
func (l *live) shut() {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.over = true
	if len(l.calls) == 0 {
		close(l.idle)
	}
}

// take reserves a place for a call; false when the node is full, not started or stopping, or has the call already.
func (l *live) take(id string) (*slot, bool) {
	l.mu.Lock()
	defer l.mu.Unlock()
	full := l.limit > 0 && len(l.calls) >= l.limit
	if !l.begun || l.over || full || l.calls[id] != nil {
		return nil, false
	}
	ctx, cancel := context.WithCancelCause(context.Background())
	l.calls[id] = cancel
	return &slot{live: l, id: id, ctx: ctx}, true
}

// run runs the call in a goroutine of its own and gives the place back at its end.
func (s *slot) run(f func(ctx context.Context)) {
	go func() {
		defer s.free()
		f(s.ctx)
	}()
}

// free gives the place back.
func (s *slot) free() {
	l := s.live
	l.mu.Lock()
	defer l.mu.Unlock()
	l.calls[s.id](nil)
	delete(l.calls, s.id)
	if l.over && len(l.calls) == 0 {
		close(l.idle)
	}
}

// end asks a call that runs here to end.
func (l *live) end(id string, why error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	if cancel := l.calls[id]; cancel != nil {
		cancel(why)
	}
}

// endAll asks every call to end.
func (l *live) endAll(why error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	for _, cancel := range l.calls {
		cancel(why)
	}
}

func (l *live) count() int {
	l.mu.Lock()
	defer l.mu.Unlock()
	return len(l.calls)
}
