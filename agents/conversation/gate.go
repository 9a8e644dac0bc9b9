package conversation

import (
	"context"
	"sync"
)

// startGate stops the playout while the call is on hold. The zero value is open.
type startGate struct {
	mu   sync.Mutex
	open chan struct{} // nil: open
}

// set closes or opens the gate.
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

// pass waits until the gate is open.
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

// hints are the phrases that the brain expects next.
type hints struct {
	mu      sync.Mutex
	phrases []string
}

func (h *hints) set(phrases []string) {
	h.mu.Lock()
	defer h.mu.Unlock()
	h.phrases = phrases
}

func (h *hints) get() []string {
	h.mu.Lock()
	defer h.mu.Unlock()
	return h.phrases
}
