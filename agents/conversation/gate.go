package conversation

import (
	"context"
	"sync"
)

// startGate blocks the playout while the call is on hold. The zero value is open.
type startGate struct {
	mu   sync.Mutex
	open chan struct{} // closed when the gate opens; nil while it is open
}

// set closes the gate if closed is true, and opens it otherwise.
func (g *startGate) set(closed bool) {
	g.mu.Lock()
	defer g.mu.Unlock()
	switch {
	case closed && g.open == nil:
		g.open = make(chan struct{})
	case !closed && g.open != nil:
		close(g.open)
		g.open = nil
	}
}

// pass waits until the gate is open. It returns the error of ctx if ctx ends.
func (g *startGate) pass(ctx context.Context) error {
	g.mu.Lock()
	open := g.open
	g.mu.Unlock()
	if open == nil {
		return ctx.Err()
	}
	select {
	case <-open:
		return nil
	case <-ctx.Done():
		return ctx.Err()
	}
}

// expectation stores the Expect step of the brain's last answer. It is safe for concurrent use.
type expectation struct {
	mu   sync.Mutex
	step Expect
}

func (e *expectation) set(step Expect) {
	e.mu.Lock()
	defer e.mu.Unlock()
	e.step = step
}

func (e *expectation) get() Expect {
	e.mu.Lock()
	defer e.mu.Unlock()
	return e.step
}
