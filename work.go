package callwright

import (
	"context"
	"encoding/json"
	"fmt"
	"log/slog"
	"strings"
	"time"
	"unicode/utf8"
)

// Atomic is the unit of work.
type Atomic interface {
	// Do runs fn in one transaction, which its context carries: stores and Work.Enqueue that are called with that
	// context take part in it. It commits when fn returns nil and rolls back on an error or a panic. A call inside
	// another joins the outer transaction and leaves the ending to it. fn may run twice, when the database asks for
	// a transaction to be tried again: it must not do what can't be undone, such as sending or dialing.
	Do(ctx context.Context, fn func(ctx context.Context) error) error
}

// MaxTaskArgs is the size of the largest Args of a task, in bytes.
const MaxTaskArgs = 4 << 10

// Task is one step of durable work.
type Task struct {
	Kind        string          // names the handler, such as "call.place"
	Key         string          // names what the step is about, such as a call's id; handlers do not take it apart
	Args        json.RawMessage // what the handler needs beyond Key, as JSON of at most MaxTaskArgs bytes; nil: nothing
	Org         OrgID           // whose it is
	Unique      bool            // while a task of this kind, organization and key waits or runs, another is not added
	RunAt       time.Time       // not before; zero: at once
	MaxAttempts int             // how often a failing handler is run in all; 0: the adapter's default, which handlers are told
}

// Check returns CodeBadRequest for a task that Work does not take: one whose texts are not UTF-8 without NUL characters,
// or whose Args are no JSON or longer than MaxTaskArgs.
func (t Task) Check() error {
	for _, text := range []string{t.Kind, t.Key, string(t.Org), string(t.Args)} {
		if !utf8.ValidString(text) || strings.IndexByte(text, 0) >= 0 {
			return Errorf(CodeBadRequest, "a task's texts must be UTF-8 without NUL characters")
		}
	}
	switch {
	case len(t.Args) > MaxTaskArgs:
		return Errorf(CodeBadRequest, "a task's arguments must have at most %d bytes, not %d", MaxTaskArgs, len(t.Args))
	case t.Args != nil && !json.Valid(t.Args):
		return Errorf(CodeBadRequest, "a task's arguments must be JSON")
	}
	return nil
}

// Handler runs a task. It may be called again for a task that it has finished (delivery is at least once) and must
// then change nothing: read the state, act, compare-and-set. attempt counts from 1. After an error the task runs again
// later; an error with a RetryAfter delays it by that time and does not count as an attempt. The context ends when the
// worker stops or the step takes too long, so a step is short: a long process is rows that several steps advance.
type Handler func(ctx context.Context, task Task, attempt int) error

// Work is durable work: what is enqueued in a transaction that commits runs at least once, on some node, even after
// kill -9; what is enqueued in one that rolls back never runs.
type Work interface {
	// Enqueue adds a task, in the transaction of the context if it carries one. It returns the error of Task.Check.
	// Uniqueness goes by kind, organization and key: while a unique task waits, another with other Args is not added.
	Enqueue(ctx context.Context, task Task) error
	// Handle registers the handler of a kind. All handlers are registered before work starts. The handler gets Args as
	// they were enqueued, byte by byte; a task that an older version of the adapter enqueued without them has none.
	Handle(kind string, h Handler)
	// Every runs h on one of the nodes each interval, starting one interval after the work starts.
	Every(kind string, interval time.Duration, h Handler)
}

// TaskKind is a kind of task whose arguments are of type T, which encoding/json writes and reads.
type TaskKind[T any] string

// Enqueue adds a task of this kind with the given arguments. The task's own Kind and Args are replaced.
func (k TaskKind[T]) Enqueue(ctx context.Context, w Work, t Task, args T) error {
	raw, err := json.Marshal(args)
	if err != nil {
		return ErrInternal.Because(fmt.Errorf("arguments of the task %s: %w", k, err))
	}
	t.Kind, t.Args = string(k), raw
	return w.Enqueue(ctx, t)
}

// Handle registers the handler of this kind. A task whose arguments cannot be read, such as one that another version of
// the program enqueued, is logged as an error and ends: no later attempt could read them either.
func (k TaskKind[T]) Handle(w Work, log *slog.Logger, h func(ctx context.Context, task Task, args T, attempt int) error) {
	w.Handle(string(k), func(ctx context.Context, task Task, attempt int) error {
		var args T
		if err := json.Unmarshal(task.Args, &args); err != nil {
			log.ErrorContext(ctx, "a task was dropped: its arguments cannot be read",
				"kind", task.Kind, "key", task.Key, "org", task.Org, "error", err)
			return nil
		}
		return h(ctx, task, args, attempt)
	})
}
