package riverwork

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"math/rand/v2"
	"runtime/debug"
	"strings"
	"time"

	"github.com/riverqueue/river"
	"github.com/riverqueue/river/rivertype"

	"github.com/callwright/callwright"
)

// taskArgs is a task as River stores it. All kinds of tasks use one kind of River job, so that handlers can be registered by name.
type taskArgs struct {
	Task string `json:"kind"           river:"unique"`
	Org  string `json:"org"            river:"unique"`
	Key  string `json:"key"            river:"unique"`
	Args string `json:"args,omitempty"` // JSON as text, because PostgreSQL's jsonb would change or refuse some JSON
}

// Kind returns the kind of the job in River's tables.
func (taskArgs) Kind() string { return "callwright.task" }

// step is River's worker, which runs the handlers of tasks.
type step struct {
	river.WorkerDefaults[taskArgs]

	work     *Work
	stopping <-chan struct{} // closed before the contexts of running handlers are canceled
}

// Work runs a task once, or postpones it if its organization already uses its share of the workers. River derives the next state of the
// task from the returned error.
func (s *step) Work(ctx context.Context, job *river.Job[taskArgs]) error {
	release, putOff := s.seat(job)
	if putOff != nil {
		return putOff
	}
	defer release()
	err := s.call(ctx, job)
	if err == nil {
		return nil
	}
	if wait, ok := callwright.RetryAfter(err); ok {
		return river.JobSnooze(wait)
	}
	select {
	case <-s.stopping:
		if errors.Is(err, context.Canceled) {
			return river.JobSnooze(0) // an interrupted task has not failed: another node runs it
		}
	default:
	}
	s.report(ctx, job, err)
	return storable(err)
}

// report logs a failure: as a warning if the task will be retried, and as an error after the last attempt or a panic.
func (s *step) report(ctx context.Context, job *river.Job[taskArgs], err error) {
	level := slog.LevelWarn
	if job.Attempt >= job.MaxAttempts {
		level = slog.LevelError
	}
	attributes := []any{
		"kind", job.Args.Task, "key", job.Args.Key, "org", job.Args.Org,
		"attempt", job.Attempt, "of", job.MaxAttempts, "error", err,
	}
	if coded, ok := errors.AsType[*callwright.Error](err); ok && coded.Unwrap() != nil {
		attributes = append(attributes, "cause", coded.Unwrap())
	}
	if panicked, ok := errors.AsType[*panicError](err); ok {
		level, attributes = slog.LevelError, append(attributes, "stack", panicked.stack)
	}
	s.work.cfg.Logger.Log(ctx, level, "work failed", attributes...)
}

// panicError holds the value of a handler's panic and its stack trace.
type panicError struct {
	value any
	stack string
}

// Error returns "panic: " and the value of the panic.
func (e *panicError) Error() string { return fmt.Sprint("panic: ", e.value) }

// call runs the handler of a task. It converts a panic to a panicError.
func (s *step) call(ctx context.Context, job *river.Job[taskArgs]) (err error) {
	defer func() {
		if r := recover(); r != nil {
			err = &panicError{value: r, stack: string(debug.Stack())}
		}
	}()
	handler := s.work.handlers[job.Args.Task]
	if handler == nil {
		return fmt.Errorf("no handler is registered for tasks of the kind %q", job.Args.Task)
	}
	var args []byte
	if job.Args.Args != "" {
		args = []byte(job.Args.Args)
	}
	return handler(ctx, callwright.Task{
		Kind: job.Args.Task, Key: job.Args.Key, Args: args, Org: callwright.OrgID(job.Args.Org),
		Unique: len(job.UniqueKey) > 0, MaxAttempts: job.MaxAttempts,
	}, job.Attempt)
}

// storable returns an error whose text the database can store with the task. If the database refused the text, for example because a peer's
// message contains a NUL character, the task would stay in the running state forever.
func storable(err error) error {
	const longest = 4000
	text := strings.ReplaceAll(err.Error(), "\x00", "\ufffd")
	text = text[:min(len(text), longest)]
	return errors.New(strings.ToValidUTF8(text, "\ufffd"))
}

// backoff computes the time of the next attempt of a failed task. The wait is 1 s, 2 s, 4 s and so on up to 5 minutes. A random jitter of
// up to a fifth is added, so that tasks that failed together do not run again together.
type backoff struct{}

// NextRetry returns the time of the task's next attempt.
func (backoff) NextRetry(job *rivertype.JobRow) time.Time {
	const longest = 5 * time.Minute
	wait := min(time.Second<<min(max(job.Attempt-1, 0), 10), longest)
	return time.Now().Add(wait + rand.N(wait/5)) //nolint:gosec // spreads load, hides nothing
}
