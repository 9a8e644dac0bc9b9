package pathway

import (
	"context"
	"fmt"
	"sync"
	"time"

	"github.com/callwright/callwright"
)

// MaxTurns bounds the concurrent chat turns of each organization on a node.
const MaxTurns = 1000

// restartTime is the RetryAfter of turns that a stopping server refuses.
const restartTime = 5 * time.Second

// turns counts this node's running chat turns.
type turns struct {
	stopping context.Context //nolint:containedctx // the life of the turns, which outlive the requests for them
	stop     context.CancelFunc

	mu      sync.Mutex
	over    bool
	running map[callwright.OrgID]int // number of running turns by organization; contains no zeros
	idle    chan struct{}            // closed when over is set and no turn is running
}

func newTurns() *turns {
	t := &turns{running: map[callwright.OrgID]int{}, idle: make(chan struct{})}
	t.stopping, t.stop = context.WithCancel(context.Background())
	return t
}

// begin counts a turn as running until end is called. It returns CodeTooManyRequests if the organization has MaxTurns running turns, and
// CodeUnavailable if the service is closed.
func (t *turns) begin(org callwright.OrgID) (end func(), err error) {
	t.mu.Lock()
	defer t.mu.Unlock()
	if t.over {
		return nil, &callwright.Error{Code: callwright.CodeUnavailable, RetryAfter: restartTime, Message: "the server is stopping"}
	}
	if t.running[org] >= MaxTurns {
		return nil, &callwright.Error{
			Code: callwright.CodeTooManyRequests, RetryAfter: time.Second,
			Message: fmt.Sprintf("an organization can run at most %d chat turns at once: try again when one has ended", MaxTurns),
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

// closeIdle closes idle if the service is closed and no turn is running. The caller holds the mutex.
func (t *turns) closeIdle() {
	if t.over && len(t.running) == 0 {
		close(t.idle)
	}
}
