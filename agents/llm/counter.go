package llm

import (
	"context"
	"iter"
	"sync/atomic"
)

// Counter passes requests to a Model and counts them. It has none of the optional interfaces of the Model.
type Counter struct {
	model Model
	calls atomic.Int64
}

// NewCounter returns a Counter of requests to m, which must not be nil.
func NewCounter(m Model) *Counter { return &Counter{model: m} }

// Calls returns the number of replies and answers that were requested, including those that have failed or were stopped.
func (c *Counter) Calls() int { return int(c.calls.Load()) }

// Name implements Model.
func (c *Counter) Name() string { return c.model.Name() }

// Reply implements Model. It counts the reply when the consumer starts to read it.
func (c *Counter) Reply(ctx context.Context, r ReplyRequest) iter.Seq2[ReplyPart, error] {
	return func(yield func(ReplyPart, error) bool) {
		c.calls.Add(1)
		c.model.Reply(ctx, r)(yield)
	}
}

// Answer implements Model.
func (c *Counter) Answer(ctx context.Context, q Question) (Answer, error) {
	c.calls.Add(1)
	return c.model.Answer(ctx, q)
}
