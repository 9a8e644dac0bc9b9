package pathway

import (
	"context"
	"fmt"
	"sync"
	"time"

	"github.com/callwright/callwright"
)

// MaxTurns is the most turns of chats that one organization has taken at once on a node, so that others get theirs taken too.
const MaxTurns = 1000

// turns are the turns of chats that are being taken here.
type turns struct {
	stopping context.Context //nolint:containedctx // the life of the turns, which outlive the requests for them
	stop     context.CancelFunc

	mu      sync.Mutex
	over    bool
	running map[callwright.OrgID]int // how many, of organizations that have any
	idle    chan struct{}            // closed when over and none is running
}

func newTurns() *turns {
	t := &turns{running: map[callwright.OrgID]int{}, idle: make(chan struct{})}
	t.stopping, t.stop = context.WithCancel(context.Background())
	return t
}

// begin notes that a turn of an organization's chat is taken, until end is called; CodeTooManyRequests when MaxTurns are
// being taken, CodeUnavailable once the service is stopped.
func (t *turns) begin(org callwright.OrgID) (end func(), err error) {
	t.mu.Lock()
	defer t.mu.Unlock()
	if t.over {
		return nil, callwright.Errorf(callwright.CodeUnavailable, "the server is stopping")
	}
	if t.running[org] >= MaxTurns {
		return nil, &callwright.Error{
			Code: callwright.CodeTooManyRequests, RetryAfter: time.Second,
			Message: fmt.Sprintf("%d turns of chats are being taken, and no more are possible at once", MaxTurns),
		}
	}
	t.running[org]++
	return func() {
		t.mu.Lock()
		defer t.mu.Unlock()
		if t.running[org]--; t.running[org] == 0 {
			delete(t.running, org)
		}
		t.settle()
	}, nil
}

// settle says so when the last turn is over. The caller has the lock.
func (t *turns) settle() {
	if t.over && len(t.running) == 0 {
		close(t.idle)
	}
}
