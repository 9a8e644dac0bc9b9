package llm

import (
	"context"
	"iter"
	"sync"
)

// Counter passes requests to a Model, counts them, and records which models answered them. It has none of the optional interfaces of the
// Model.
type Counter struct {
	model Model

	mu    sync.Mutex
	calls int
	uses  []Use
}

// NewCounter returns a Counter of requests to m, which must not be nil.
func NewCounter(m Model) *Counter { return &Counter{model: m} }

// Calls returns the number of replies and answers that were requested, including those that have failed or were stopped.
func (c *Counter) Calls() int {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.calls
}

// Uses returns the uses of the models in the requests that have ended. It returns nil if there are none.
func (c *Counter) Uses() []Use {
	c.mu.Lock()
	defer c.mu.Unlock()
	return AddUses(nil, c.uses...)
}

// Name implements Model.
func (c *Counter) Name() string { return c.model.Name() }

// begin counts a request.
func (c *Counter) begin() {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.calls++
}

// end records an ended request. A request that failed because its context ended was interrupted, and is no failure of the model.
func (c *Counter) end(ctx context.Context, u Use, err error) {
	if err != nil && ctx.Err() == nil {
		u.Failed, u.Uncounted = 1, 0
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	c.uses = AddUses(c.uses, u)
}

// Reply implements Model. It counts the reply when the consumer starts to read it.
func (c *Counter) Reply(ctx context.Context, r ReplyRequest) iter.Seq2[ReplyPart, error] {
	return func(yield func(ReplyPart, error) bool) {
		c.begin()
		var reply Answer // only who replied, and the usage
		var failed error
		defer func() { c.end(ctx, UseOf(c.model, r.Model, reply.Model, reply.Cause, reply.Usage), failed) }()
		for part, err := range c.model.Reply(ctx, r) {
			failed = err
			if part.Cause != "" {
				reply.Model, reply.Cause = part.Model, part.Cause
			}
			if part.Usage != nil {
				reply.Usage = reply.Usage.Add(*part.Usage)
			}
			if !yield(part, err) {
				return
			}
		}
	}
}

// Answer implements Model.
func (c *Counter) Answer(ctx context.Context, q Question) (Answer, error) {
	c.begin()
	a, err := c.model.Answer(ctx, q)
	c.end(ctx, UseOf(c.model, q.Model, a.Model, a.Cause, a.Usage), err)
	return a, err
}
