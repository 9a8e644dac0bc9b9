package pathway

import (
	"context"
	"fmt"
	"sync"
	"time"

	"github.com/callwright/callwright"
)

// MaxTurns bounds the concurrent chat turns of one organization on a node.
const MaxTurns = 1000

// restartTime is the RetryAfter of turns refused by a stopping server.
const restartTime = 5 * time.Second

// turns counts the running chat turns of this node.
type turns struct {
	stopping context.Context //nolint:containedctx // the life of the turns, which outlive the requests for them
	stop     context.CancelFunc

	mu      sync.Mutex
	over    bool
	running map[callwright.OrgID]int // by organization, without zeros
	idle    chan struct{}            // closed when over and none is running
}

func newTurns() *turns {
	t := &turns{running: map[callwright.OrgID]int{}, idle: make(chan struct{})}
	t.stopping, t.stop = context.WithCancel(context.Background())
	return t
}

// begin counts a turn until end is called. CodeTooManyRequests: the organization has MaxTurns. CodeUnavailable: the service
// is closed.
func (t *turns) begin(org callwright.OrgID) (end func(), err error) {
	t.mu.Lock()
	defer t.mu.Unlock()
	if t.over {
		return nil, &callwright.Error{Code: callwright.CodeUnavailable, RetryAfter: restartTime, Message: "the server is stopping"}
	}
	if t.running[org] >= MaxTurns {
		return nil, &callwright.Error{
			Code: callwright.CodeTooManyRequests, RetryAfter: time.Second,
			Message: fmt.Sprintf("at most %d chat turns can run at once", MaxTurns),
		}
	}
	t.running[org]++
	return func() {
		t.mu.Lock()
		defer t.mu.Unlock()
		if t.running[org]--; t.running[org] == 0 {
			delete(t.running, org)
		}
		t.closeIdle()
	}, nil
}

// closeIdle closes idle after the last turn. The caller holds the lock.
func (t *turns) closeIdle() {
	if t.over && len(t.running) == 0 {
		close(t.idle)
	}
}
