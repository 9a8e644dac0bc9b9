package memstore

import (
	"context"
	"fmt"
	"log/slog"
	"maps"
	"sync"
	"time"

	"github.com/callwright/callwright"
	"github.com/callwright/callwright/adapters/memstore/internal/memory"
)

// queued is a task that is waiting or running.
type queued struct {
	callwright.Task
	failures int
	running  bool
}

// tasks contains all waiting and running tasks.
type tasks struct {
	byID   map[int64]queued
	lastID int64
}

// New returns an empty set of tasks.
func (tasks) New() tasks { return tasks{byID: map[int64]queued{}} }

// Clone returns a copy, including lastID. A transaction that fails restores the copy.
func (t tasks) Clone() tasks { return tasks{maps.Clone(t.byID), t.lastID} }

// Work runs tasks within one process; it implements callwright.Work. Tasks are lost when the process exits. Each task runs in its own
// goroutine, so tasks do not wait for each other, even in the same queue.
type Work struct {
	store    *Store
	logger   *slog.Logger
	handlers map[string]callwright.Handler
	periodic []periodic
}

type periodic struct {
	kind     string
	interval time.Duration
	handler  callwright.Handler
}

// defaultAttempts replaces a zero MaxAttempts of a task.
const defaultAttempts = 25

// NewWork returns the work of a store. Tasks run only while Run runs. A nil logger discards the log.
func NewWork(s *Store, logger *slog.Logger) *Work {
	if logger == nil {
		logger = slog.New(slog.DiscardHandler)
	}
	return &Work{store: s, logger: logger, handlers: map[string]callwright.Handler{}}
}

// Enqueue adds a task, in the transaction of ctx if there is one. It does not add a unique task if a task with the same kind, organization
// and key is waiting or running.
func (w *Work) Enqueue(ctx context.Context, t callwright.Task) error {
	if err := t.Check(); err != nil {
		return err
	}
	if t.MaxAttempts == 0 {
		t.MaxAttempts = defaultAttempts
	}
	t.Args = memory.Clone(t.Args)
	err := memory.With(ctx, w.store.core, func(d *tasks) error {
		for _, q := range d.byID {
			if t.Unique && q.Kind == t.Kind && q.Org == t.Org && q.Key == t.Key {
				return nil
			}
		}
		d.lastID++
		d.byID[d.lastID] = queued{Task: t}
		return nil
	})
	w.store.core.Notify()
	return err
}

// Handle registers the handler of a kind. It ignores the queue.
func (w *Work) Handle(_ callwright.Queue, kind string, h callwright.Handler) { w.handlers[kind] = h }

// Every registers a handler that Run calls once per interval. It ignores the queue.
func (w *Work) Every(_ callwright.Queue, kind string, interval time.Duration, h callwright.Handler) {
	w.periodic = append(w.periodic, periodic{kind, interval, h})
}

// Run runs tasks until ctx is canceled, then waits for all running handlers. It always returns nil.
func (w *Work) Run(ctx context.Context) error {
	var running sync.WaitGroup
	defer running.Wait()
	for _, p := range w.periodic {
		running.Go(func() { w.repeat(ctx, p) })
	}
	for ctx.Err() == nil {
		id, task, wait := w.next()
		if id == 0 {
			w.sleep(ctx, wait)
			continue
		}
		running.Go(func() { w.run(ctx, id, task) })
	}
	return nil
}

func (w *Work) repeat(ctx context.Context, p periodic) {
	ticker := time.NewTicker(p.interval)
	defer ticker.Stop()
	for {
		select {
		case <-ctx.Done():
			return
		case <-ticker.C:
			if err := p.handler(ctx, callwright.Task{Kind: p.kind}, 1); err != nil {
				w.logger.ErrorContext(ctx, "periodic work", "kind", p.kind, "error", err)
			}
		}
	}
}

// next marks one due task as running, and returns it. If no task is due, id is 0, and wait is the duration until the next task is due, at
// most one minute.
func (w *Work) next() (id int64, task queued, wait time.Duration) {
	const longest = time.Minute
	now := time.Now()
	wait = longest
	w.change(func(d *tasks) {
		for waiting, q := range d.byID {
			if q.running {
				continue
			}
			if due := q.RunAt.Sub(now); due > 0 {
				wait = min(wait, due)
				continue
			}
			q.running = true
			d.byID[waiting] = q
			id, task, wait = waiting, q, 0
			return
		}
	})
	return id, task, wait
}

// change calls f with the tasks, outside the transaction of any caller.
func (w *Work) change(f func(d *tasks)) {
	_ = memory.With(context.Background(), w.store.core, func(d *tasks) error {
		f(d)
		return nil
	})
}

func (w *Work) sleep(ctx context.Context, d time.Duration) {
	timer := time.NewTimer(d)
	defer timer.Stop()
	select {
	case <-ctx.Done():
	case <-timer.C:
	case <-w.store.core.Wake:
	}
}

// run runs a task once. It then deletes a task that succeeded or has no attempts left, and reschedules any other task.
func (w *Work) run(ctx context.Context, id int64, q queued) {
	err := w.call(ctx, q)
	defer w.store.core.Notify()
	q.running = false
	wait, snoozed := callwright.RetryAfter(err)
	if !snoozed {
		q.failures++
		wait = time.Second << min(q.failures, 10)
	}
	w.change(func(d *tasks) {
		if err == nil || q.failures >= q.MaxAttempts {
			delete(d.byID, id)
		} else {
			q.RunAt = time.Now().Add(wait)
			d.byID[id] = q
		}
	})
	if err != nil && !snoozed {
		w.logger.ErrorContext(ctx, "work failed", "kind", q.Kind, "key", q.Key, "attempt", q.failures, "error", err)
	}
}

func (w *Work) call(ctx context.Context, q queued) (err error) {
	defer func() {
		if r := recover(); r != nil {
			err = fmt.Errorf("panic: %v", r)
		}
	}()
	h := w.handlers[q.Kind]
	if h == nil {
		return fmt.Errorf("no handler is registered for tasks of the kind %q", q.Kind)
	}
	task := q.Task
	task.Args = memory.Clone(task.Args)
	return h(ctx, task, q.failures+1)
}
