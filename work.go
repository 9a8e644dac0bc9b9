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

// Atomic runs transactions.
type Atomic interface {
	// Do runs fn in one transaction, which the context of fn carries: stores and Work.Enqueue take part in the transaction when
	// they are called with that context. Do commits when fn returns nil and rolls back on an error or a panic. It returns the error
	// of fn, so that errors.Is finds it, and propagates a panic to its caller. A nested call joins the outer transaction, which
	// commits or rolls back for both. The database may ask for a retry, so fn may run twice: it must have no irreversible effects,
	// such as sending or dialing.
	Do(ctx context.Context, fn func(ctx context.Context) error) error
}

// MaxTaskArgs is the maximum size of the Args of a task, in bytes.
const MaxTaskArgs = 4 << 10

// Task is one step of durable work.
type Task struct {
	Kind        string          // names the handler, for example "call.place"
	Key         string          // identifies the subject, for example a call's id; handlers do not parse it
	Args        json.RawMessage // the handler's arguments, JSON of at most MaxTaskArgs bytes; nil: none
	Org         OrgID           // owns the subject
	Unique      bool            // no other task of this kind, organization and key is added while this one waits or runs
	RunAt       time.Time       // the earliest time to run; zero: immediately
	MaxAttempts int             // maximum number of attempts; 0: the adapter's default, at least 2; handlers receive the number in force
}

// Check returns CodeBadRequest for an invalid task: without a Kind, with texts that are not UTF-8 or contain NUL characters, or
// with Args that are not JSON or longer than MaxTaskArgs.
func (t Task) Check() error {
	if t.Kind == "" {
		return Errorf(CodeBadRequest, "a task must have a kind")
	}
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

// Handler runs a task. Delivery is at least once: a handler may be called again for a finished task, and must then change nothing
// (read the state, act, compare-and-set). attempt counts from 1. After an error or a panic, which does not end the worker, the task
// runs again later; the second attempt begins within 20 seconds. An error with a RetryAfter delays the task by that time and does
// not count as an attempt: the next call has the same number. The context ends when the worker stops or the step takes too long, so
// a step must be short: a long process is state that several steps advance.
type Handler func(ctx context.Context, task Task, attempt int) error

// Work runs durable tasks. A task of a committed transaction runs at least once, on some node, even after kill -9. A task of a
// rolled-back transaction never runs.
//
// Hanging handlers delay as little other work as possible. Tasks of one queue never wait for tasks of another. Within a queue,
// hanging tasks of one organization, in any number, leave workers for the other organizations; node.Shares is one way to do so. A
// task that is postponed for this reason has made no attempt.
type Work interface {
	// Enqueue adds a task, in the transaction of the context if it carries one. It returns the error of Task.Check. Uniqueness is
	// by kind, organization and key: a unique task is not added even if its Args differ. A unique task that is not added is no
	// error. Tasks may be enqueued before the work starts; they run after the start, in any order.
	Enqueue(ctx context.Context, task Task) error
	// Handle registers the handler of a kind, whose tasks go through a queue. Call it before the work starts. A kind has one
	// handler: a later one replaces it. Without a handler every attempt at a task of the kind fails.
	//
	// The handler receives Kind, Key, Org and Args byte for byte as they were enqueued. Args is nil for a task without arguments.
	// Tasks that were stored before the adapter had arguments have none.
	Handle(q Queue, kind string, h Handler)
	// Every runs h once per interval, on one node, through a queue. The interval must be at least one second. The first run is one
	// interval after the work starts.
	Every(q Queue, kind string, interval time.Duration, h Handler)
}

// TaskKind is a kind of task whose arguments are of type T, encoded with encoding/json.
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

// keyReader is implemented by arguments that releases before Task.Args stored in the key of the task.
type keyReader interface {
	// UnmarshalKey reads the arguments from such a key.
	UnmarshalKey(key string) error
}

// read reads the arguments of a task.
func (k TaskKind[T]) read(t Task) (args T, err error) {
	if old, ok := any(&args).(keyReader); ok && len(t.Args) == 0 {
		return args, old.UnmarshalKey(t.Key)
	}
	return args, json.Unmarshal(t.Args, &args)
}

// Handle registers the handler of this kind, whose tasks go through a queue; a nil log discards. A task with unreadable arguments,
// for example of another version of the program, is logged as an error and ends, because no later attempt could read them.
// Arguments with a method UnmarshalKey(string) error read the key of a task without Args.
func (k TaskKind[T]) Handle(w Work, q Queue, log *slog.Logger, h func(ctx context.Context, task Task, args T, attempt int) error) {
	if log == nil {
		log = slog.New(slog.DiscardHandler)
	}
	w.Handle(q, string(k), func(ctx context.Context, task Task, attempt int) error {
		args, err := k.read(task)
		if err != nil {
			log.ErrorContext(ctx, "a task was dropped: its arguments cannot be read",
				"kind", task.Kind, "key", task.Key, "org", task.Org, "error", err)
			return nil
		}
		return h(ctx, task, args, attempt)
	})
}
