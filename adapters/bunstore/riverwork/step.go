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

// taskArgs is a task as River keeps it. There is one kind of job for all kinds of tasks, so that handlers can be
// registered by name.
type taskArgs struct {
	Task string `json:"kind"           river:"unique"`
	Org  string `json:"org"            river:"unique"`
	Key  string `json:"key"            river:"unique"`
	Args string `json:"args,omitempty"` // JSON as text: PostgreSQL's jsonb would change it, and refuses some of it
}

// Kind names the job in River's tables.
func (taskArgs) Kind() string { return "callwright.task" }

// step runs the handlers of a node's tasks.
type step struct {
	river.WorkerDefaults[taskArgs]

	work     *Work
	stopping <-chan struct{} // closed when handlers that still run are cut off
}

// Work runs a task once. By River's rules, the returned error decides the next state of the task.
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
			return river.JobSnooze(0) // it was cut off, it has not failed: another node takes it
		}
	default:
	}
	s.report(ctx, job, err)
	return storable(err)
}

// report logs a failure: a warning while the task will be tried again, an error when that was the last time.
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

// panicError is the value of a handler's panic, and its stack.
type panicError struct {
	value any
	stack string
}

// Error returns "panic: " and the value of the panic.
func (e *panicError) Error() string { return fmt.Sprint("panic: ", e.value) }

// call runs the handler. A panic is an error like any other.
func (s *step) call(ctx context.Context, job *river.Job[taskArgs]) (err error) {
	defer func() {
		if r := recover(); r != nil {
			err = &panicError{value: r, stack: string(debug.Stack())}
		}
	}()
	handler := s.work.handlers[job.Args.Task]
	if handler == nil {
		return fmt.Errorf("no handler for %q", job.Args.Task)
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

// storable returns an error whose text the database can keep with the task. A text that it refused, such as one with
// the NUL of a peer's message in it, would leave the task running for ever.
func storable(err error) error {
	const longest = 4000
	text := strings.ReplaceAll(err.Error(), "\x00", "\ufffd")
	text = text[:min(len(text), longest)]
	return errors.New(strings.ToValidUTF8(text, "\ufffd"))
}

// backoff computes the time of the next attempt of a failed task: after 1 s, 2 s, 4 s and so on up to 5 minutes, and up to a fifth
// later, so that tasks that failed together don't come back together.
type backoff struct{}

// NextRetry returns the time of the task's next attempt.
func (backoff) NextRetry(job *rivertype.JobRow) time.Time {
	const longest = 5 * time.Minute
	wait := min(time.Second<<min(max(job.Attempt-1, 0), 10), longest)
	return time.Now().Add(wait + rand.N(wait/5)) //nolint:gosec // spreads load, hides nothing
}
