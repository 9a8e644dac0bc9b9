package callwright

import (
	"context"
	"time"
)

// Atomic is the unit of work.
type Atomic interface {
	// Do runs fn in one transaction, which its context carries: stores and Work.Enqueue that are called with that
	// context take part in it. It commits when fn returns nil and rolls back on an error or a panic. A call inside
	// another joins the outer transaction and leaves the ending to it. fn may run twice, when the database asks for
	// a transaction to be tried again: it must not do what can't be undone, such as sending or dialing.
	Do(ctx context.Context, fn func(ctx context.Context) error) error
}

// Task is one step of durable work.
type Task struct {
	Kind        string    // names the handler, such as "call.place"
	Key         string    // what the step is about, such as a call's id; the handler's only argument
	Org         OrgID     // whose it is
	Unique      bool      // while a task of this kind, organization and key waits or runs, another is not added
	RunAt       time.Time // not before; zero: at once
	MaxAttempts int       // how often a failing handler is run in all; 0: the adapter's default, which handlers are told
}

// Handler runs a task. It may be called again for a task that it has finished (delivery is at least once) and must
// then change nothing: read the state, act, compare-and-set. attempt counts from 1. An error has the task run again
// later: with a RetryAfter after that time, and without counting as an attempt. The context ends when the worker stops or the step takes too long, so a step
// is short: a long process is rows that several steps advance.
type Handler func(ctx context.Context, task Task, attempt int) error

// Work is durable work: what is enqueued in a transaction that commits runs at least once, on some node, even after
// kill -9; what is enqueued in one that rolls back never runs.
type Work interface {
	// Enqueue adds a task, in the transaction of the context if it carries one.
	Enqueue(ctx context.Context, task Task) error
	// Handle registers the handler of a kind. All handlers are registered before work starts.
	Handle(kind string, h Handler)
	// Every runs h on one of the nodes each interval, starting one interval after the work starts.
	Every(kind string, interval time.Duration, h Handler)
}
