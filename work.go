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
	// Do runs fn in one transaction, which the context of fn carries. Stores and Work.Enqueue join the transaction if they are called with
	// that context. Do commits if fn returns nil, and rolls back after an error or a panic. It returns the error of fn, so that errors.Is
	// finds it, and propagates a panic to its caller. A nested call joins the outer transaction, which commits or rolls back for both. The
	// database may require a retry, so fn may run twice: it must have no irreversible effects, such as sending or dialing.
	Do(ctx context.Context, fn func(ctx context.Context) error) error
}

// MaxTaskArgs is the maximum size of the Args of a task, in bytes.
const MaxTaskArgs = 4 << 10

// Task is one step of durable work.
type Task struct {
	Kind        string          // selects the handler, for example "call.place"
	Key         string          // identifies the subject, for example a call's id; handlers do not parse it
	Args        json.RawMessage // the handler's arguments, JSON of at most MaxTaskArgs bytes; nil means none
	Org         OrgID           // owner of the subject
	Unique      bool            // while this task waits or runs, no other task with its kind, organization and key is added
	RunAt       time.Time       // the earliest time to run; zero means immediately
	MaxAttempts int             // maximum number of attempts; 0 means the adapter's default, at least 2; handlers receive the number in force
}

// Check returns CodeBadRequest for an invalid task: an empty Kind, a text that is not UTF-8 or contains a NUL character, or Args that are
// not JSON or longer than MaxTaskArgs.
func (t Task) Check() error {
	if t.Kind == "" {
		return Errorf(CodeBadRequest, "a task must have a kind")
	}
	for _, text := range []string{t.Kind, t.Key, string(t.Org), string(t.Args)} {
		if !utf8.ValidString(text) || strings.IndexByte(text, 0) >= 0 {
			return Errorf(CodeBadRequest, "the kind, key, organization and arguments of a task must be UTF-8 without NUL characters")
		}
	}
	switch {
	case len(t.Args) > MaxTaskArgs:
		return Errorf(CodeBadRequest, "a task's arguments must have at most %d bytes, not %d", MaxTaskArgs, len(t.Args))
	case t.Args != nil && !json.Valid(t.Args):
		return Errorf(CodeBadRequest, "a task's arguments must be valid JSON")
	}
	return nil
}

// Handler runs a task. Delivery is at least once: the handler may be called again for a finished task, and must then change nothing (read
// the state, act, compare-and-set). attempt counts from 1. After an error or a panic, the task runs again later; the second attempt begins
// within 20 seconds. A panic does not stop the worker. If the error has a RetryAfter, the task is delayed by that duration and the attempt
// is not counted: the next call receives the same number. The context is canceled when the worker stops or the step exceeds its time limit.
// A step must be short: implement a long process as a state that several steps advance.
type Handler func(ctx context.Context, task Task, attempt int) error

// Work runs durable tasks. A task of a committed transaction runs at least once, on some node, even after kill -9. A task of a rolled-back
// transaction never runs.
//
// Hanging handlers delay as little other work as possible. Tasks of one queue never wait for tasks of another queue. Within a queue, the
// hanging tasks of one organization, however many, leave workers for the other organizations; node.Shares can be used to implement this.
// Postponing a task for this reason does not count as an attempt.
type Work interface {
	// Enqueue adds a task, in the transaction of the context if there is one. It returns the error of Task.Check. Uniqueness is by kind,
	// organization and key: a duplicate of a unique task is not added even if its Args differ, and Enqueue then returns nil. Tasks may be
	// enqueued before the work starts; they run after the start, in any order.
	Enqueue(ctx context.Context, task Task) error
	// Handle registers the handler of a kind, whose tasks use the queue q. Call it before the work starts. A kind has one handler: a later
	// call replaces it. If a kind has no handler, every attempt at its tasks fails.
	//
	// The handler receives Kind, Key, Org and Args byte for byte as they were enqueued. Args is nil for a task without arguments. Tasks
	// that were stored before the adapter supported arguments have none.
	Handle(q Queue, kind string, h Handler)
	// Every runs the handler h once per interval, on one node, in the queue q. The interval must be at least one second. The first run
	// starts one interval after the work starts.
	Every(q Queue, kind string, interval time.Duration, h Handler)
}

// TaskKind is a kind of task whose arguments are of type T, encoded with encoding/json.
type TaskKind[T any] string

// Enqueue adds a task of this kind with the given arguments. It replaces Kind and Args of t.
func (k TaskKind[T]) Enqueue(ctx context.Context, w Work, t Task, args T) error {
	raw, err := json.Marshal(args)
	if err != nil {
		return ErrInternal.Because(fmt.Errorf("arguments of the task %s: %w", k, err))
	}
	t.Kind, t.Args = string(k), raw
	return w.Enqueue(ctx, t)
}

// keyReader is implemented by types of arguments that earlier releases stored in the key of the task, because they had no Task.Args.
type keyReader interface {
	// UnmarshalKey reads the arguments from the key of a task.
	UnmarshalKey(key string) error
}

// read decodes the arguments of a task from the task's Args. If Args is empty and *T is a keyReader, read decodes the task's Key.
func (k TaskKind[T]) read(t Task) (args T, err error) {
	if old, ok := any(&args).(keyReader); ok && len(t.Args) == 0 {
		return args, old.UnmarshalKey(t.Key)
	}
	return args, json.Unmarshal(t.Args, &args)
}

// Handle registers the handler of this kind, whose tasks use the queue q. A nil log discards all lines. A task with unreadable arguments,
// for example of another version of the program, is logged as an error and not retried, because no later attempt could read them. If *T has
// a method UnmarshalKey(string) error, that method decodes the key of a task without Args.
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
