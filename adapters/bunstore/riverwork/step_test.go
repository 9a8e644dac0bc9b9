package riverwork_test

import (
	"bytes"
	"context"
	"errors"
	"log/slog"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/callwright/callwright"
	"github.com/callwright/callwright/adapters/bunstore"
	"github.com/callwright/callwright/adapters/bunstore/riverwork"
)

// onEach runs a parallel subtest for each kind of database.
func onEach(t *testing.T, test func(t *testing.T, address string)) {
	t.Helper()
	for name, address := range databases {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			test(t, address(t))
		})
	}
}

func enqueue(t testing.TB, work *riverwork.Work, task callwright.Task) {
	t.Helper()
	if err := work.Enqueue(t.Context(), task); err != nil {
		t.Fatal(err)
	}
}

// TestFailureText checks that a task is retried if its handler fails with text that PostgreSQL cannot store.
func TestFailureText(t *testing.T) {
	t.Parallel()
	onEach(t, func(t *testing.T, address string) {
		_, work := open(t, address, nil)
		tries := make(chan int, 10)
		work.Handle(callwright.QueueUpkeep, "k", func(_ context.Context, _ callwright.Task, attempt int) error {
			tries <- attempt
			if attempt == 1 {
				return errors.New("peer said \x00 and \xff" + strings.Repeat("ü", 5000))
			}
			return nil
		})
		start(t, work)
		enqueue(t, work, callwright.Task{Kind: "k", Key: "1", Org: "o"})
		if first, second := next(t, tries), next(t, tries); first != 1 || second != 2 {
			t.Errorf("attempts %d and %d, want 1 and 2", first, second)
		}
	})
}

func TestStepTimeout(t *testing.T) {
	t.Parallel()
	onEach(t, func(t *testing.T, address string) {
		_, work := open(t, address, func(c *riverwork.Config) { c.StepTimeout = 50 * time.Millisecond })
		ends := make(chan error, 10)
		work.Handle(callwright.QueueUpkeep, "k", func(ctx context.Context, _ callwright.Task, _ int) error {
			<-ctx.Done()
			ends <- ctx.Err()
			return nil
		})
		start(t, work)
		enqueue(t, work, callwright.Task{Kind: "k", Key: "1"})
		if err := next(t, ends); !errors.Is(err, context.DeadlineExceeded) {
			t.Errorf("the handler's context ended with %v", err)
		}
	})
}

// TestUnknownKind checks that a task without a handler is logged, and does not block other tasks.
func TestUnknownKind(t *testing.T) {
	t.Parallel()
	onEach(t, func(t *testing.T, address string) {
		lines := make(chan string, 1000)
		_, work := open(t, address, func(c *riverwork.Config) {
			c.Logger = slog.New(slog.NewTextHandler(lineWriter(lines), &slog.HandlerOptions{Level: slog.LevelError}))
		})
		ran := make(chan string, 10)
		work.Handle(callwright.QueueUpkeep, "known", func(_ context.Context, task callwright.Task, _ int) error {
			ran <- task.Key
			return nil
		})
		start(t, work)
		enqueue(t, work, callwright.Task{Kind: "unknown", Key: "1", MaxAttempts: 1})
		enqueue(t, work, callwright.Task{Kind: "known", Key: "2"})
		next(t, ran)
		if line := next(t, lines); !strings.Contains(line, "no handler") || !strings.Contains(line, "kind=unknown") {
			t.Errorf("logged %q", line)
		}
	})
}

// TestPanicIsLogged checks that the first log line after a panic of a handler contains the value and the location of the panic.
func TestPanicIsLogged(t *testing.T) {
	t.Parallel()
	onEach(t, func(t *testing.T, address string) {
		lines := make(chan string, 1000)
		_, work := open(t, address, func(c *riverwork.Config) {
			c.Logger = slog.New(slog.NewTextHandler(lineWriter(lines), nil))
		})
		work.Handle(callwright.QueueUpkeep, "k", func(context.Context, callwright.Task, int) error { panic("on purpose") })
		start(t, work)
		enqueue(t, work, callwright.Task{Kind: "k", Key: "1", MaxAttempts: 1})
		line := next(t, lines)
		if !strings.Contains(line, "panic: on purpose") || !strings.Contains(line, "step_test.go") {
			t.Errorf("logged %q", line)
		}
	})
}

// lineWriter sends each written line to a channel.
type lineWriter chan<- string

func (w lineWriter) Write(line []byte) (int, error) {
	w <- string(bytes.Clone(line))
	return len(line), nil
}

// TestStop stops a node while two handlers run. The task of the handler that returns in time is finished. The interrupted task runs again
// on another node, without counting as a second attempt.
func TestStop(t *testing.T) {
	t.Parallel()
	onEach(t, func(t *testing.T, address string) {
		db, work := open(t, address, func(c *riverwork.Config) { c.StopTimeout = 300 * time.Millisecond })
		began, stop := make(chan string, 10), make(chan struct{})
		work.Handle(callwright.QueueUpkeep, "quick", func(context.Context, callwright.Task, int) error {
			began <- "quick"
			<-stop
			return nil
		})
		work.Handle(callwright.QueueUpkeep, "slow", func(ctx context.Context, _ callwright.Task, _ int) error {
			began <- "slow"
			<-ctx.Done()
			return ctx.Err()
		})
		ctx, cancel := context.WithCancel(t.Context())
		var running sync.WaitGroup
		running.Go(func() {
			if err := work.Run(ctx); err != nil {
				t.Error(err)
			}
		})
		enqueue(t, work, callwright.Task{Kind: "quick", Key: "1"})
		enqueue(t, work, callwright.Task{Kind: "slow", Key: "2"})
		next(t, began)
		next(t, began)
		cancel()
		close(stop)
		running.Wait()

		again := another(t, db)
		ran := make(chan string, 10)
		for _, kind := range []string{"quick", "slow"} {
			again.Handle(callwright.QueueUpkeep, kind, func(_ context.Context, task callwright.Task, attempt int) error {
				if attempt != 1 {
					t.Errorf("%s: attempt %d; being cut off is no failure", task.Kind, attempt)
				}
				ran <- task.Kind
				return nil
			})
		}
		start(t, again)
		if kind := next(t, ran); kind != "slow" {
			t.Errorf("%s ran again", kind)
		}
	})
}

// another returns the work of a second node on the same database.
func another(t *testing.T, db *bunstore.DB) *riverwork.Work {
	t.Helper()
	work, err := riverwork.New(riverwork.Config{SQL: db.SQL(), Tx: db.Tx, Atomic: db, PostgresDSN: db.PostgresDSN()})
	if err != nil {
		t.Fatal(err)
	}
	return work
}

func TestEnqueueRefuses(t *testing.T) {
	t.Parallel()
	onEach(t, func(t *testing.T, address string) {
		db, work := open(t, address, nil)
		for _, task := range []callwright.Task{
			{Kind: "k\x00"}, {Kind: "k", Key: "\x00"}, {Kind: "k", Org: "a\xff"},
		} {
			if err := work.Enqueue(t.Context(), task); !errors.Is(err, callwright.ErrBadRequest) {
				t.Errorf("%+v: got %v, want a bad request", task, err)
			}
		}
		ctx, cancel := context.WithCancel(t.Context())
		cancel()
		err := work.Enqueue(ctx, callwright.Task{Kind: "k"})
		if !errors.Is(err, callwright.ErrUnavailable) || !errors.Is(err, context.Canceled) {
			t.Errorf("with a context that has ended: %v", err)
		}
		err = db.Do(t.Context(), func(ctx context.Context) error {
			tx, _ := db.Tx(ctx)
			if err := tx.Rollback(); err != nil {
				t.Error(err)
			}
			return work.Enqueue(ctx, callwright.Task{Kind: "k"})
		})
		if callwright.CodeOf(err) != callwright.CodeInternal || callwright.MessageOf(err) != callwright.ErrInternal.Message {
			t.Errorf("in a transaction that is over: %v", err)
		}
	})
}

func TestNewRefuses(t *testing.T) {
	t.Parallel()
	db, _ := open(t, "sqlite::memory:", nil)
	for name, c := range map[string]riverwork.Config{
		"no database":        {Tx: db.Tx, Atomic: db},
		"no transactions":    {SQL: db.SQL(), Atomic: db},
		"no Atomic":          {SQL: db.SQL(), Tx: db.Tx},
		"rescue before time": {SQL: db.SQL(), Tx: db.Tx, Atomic: db, StepTimeout: time.Minute, RescueAfter: time.Minute},
	} {
		if _, err := riverwork.New(c); err == nil {
			t.Errorf("%s was accepted", name)
		}
	}
	if err := riverwork.Migrate(t.Context(), riverwork.Config{}); err == nil {
		t.Error("migrated nothing")
	}
}
