// Package callwrighttest contains the conformance suites for the ports of the root package, and helpers for other suites. An adapter must
// pass the suite of its port.
package callwrighttest

import (
	"context"
	"encoding/json"
	"errors"
	"log/slog"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/callwright/callwright"
)

// Harness is an adapter of callwright.Work and callwright.Atomic under test.
type Harness struct {
	Atomic callwright.Atomic
	Work   callwright.Work
	// Start starts the work and returns. It registers a t.Cleanup that stops the work when the test ends. The suite calls Start once, after
	// it has registered the handlers.
	Start func(t *testing.T)
}

// queue is the queue of the tests that use a single queue.
const queue callwright.Queue = "queue"

// patience limits how long a suite waits for a required event.
const patience = 20 * time.Second

var errRollback = errors.New("roll back")

// RunWork tests callwright.Work together with the callwright.Atomic in whose transactions it takes part. newHarness must return an adapter
// without tasks. The suite waits up to 20 s of real time whenever it expects tasks to run.
func RunWork(t *testing.T, newHarness func(t *testing.T) Harness) {
	t.Helper()
	tests := map[string]func(*testing.T, Harness){
		"runs what is committed":               runsCommitted,
		"never runs what is rolled back":       skipsRolledBack,
		"rolls back on a panic":                skipsPanicked,
		"joins the outer transaction":          joinsOuter,
		"tries again after an error":           triesAgain,
		"gives up after its attempts":          givesUp,
		"waits without counting an attempt":    testSnooze,
		"waits until its time":                 waitsForRunAt,
		"adds a unique task once":              addsUniqueOnce,
		"tells organizations' tasks apart":     keepsOrganizationsApart,
		"runs periodic work":                   runsPeriodic,
		"survives a handler that panics":       survivesPanic,
		"gives a handler's task back as set":   givesTaskBack,
		"keeps arguments byte for byte":        keepsArgs,
		"refuses arguments that are too long":  refusesArgs,
		"tells unique tasks apart by key":      ignoresArgsForUniqueness,
		"drops arguments that no one can read": dropsUnreadableArgs,
		"keeps queues apart":                   keepsQueuesApart,
		"keeps room for other organizations":   keepsRoom,
	}
	for name, test := range tests {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			test(t, newHarness(t))
		})
	}
}

// ran records the tasks that its handlers have run, with their attempts and times.
type ran struct {
	mu    sync.Mutex
	tasks []callwright.Task
	tries []int
	times []time.Time
	news  chan struct{}
}

func newRan() *ran { return &ran{news: make(chan struct{}, 1000)} }

func (r *ran) handler(fail func(attempt int) error) callwright.Handler {
	return func(_ context.Context, task callwright.Task, attempt int) error {
		r.mu.Lock()
		r.tasks, r.tries, r.times = append(r.tasks, task), append(r.tries, attempt), append(r.times, time.Now())
		r.mu.Unlock()
		r.news <- struct{}{}
		if fail == nil {
			return nil
		}
		return fail(attempt)
	}
}

// wait waits for n more runs, for at most patience in total.
func (r *ran) wait(t *testing.T, n int) {
	t.Helper()
	limit := time.After(patience)
	for range n {
		select {
		case <-r.news:
		case <-limit:
			t.Fatalf("a task did not run within %s; %d runs so far", patience, r.count())
		}
	}
}

func (r *ran) count() int {
	r.mu.Lock()
	defer r.mu.Unlock()
	return len(r.tasks)
}

func (r *ran) keys() []string {
	r.mu.Lock()
	defer r.mu.Unlock()
	keys := make([]string, 0, len(r.tasks))
	for _, task := range r.tasks {
		keys = append(keys, task.Key)
	}
	return keys
}

func enqueue(t *testing.T, h Harness, task callwright.Task) {
	t.Helper()
	if err := h.Work.Enqueue(t.Context(), task); err != nil {
		t.Fatalf("enqueue: %v", err)
	}
}

func runsCommitted(t *testing.T, h Harness) {
	r := newRan()
	h.Work.Handle(queue, "k", r.handler(nil))
	h.Start(t)
	err := h.Atomic.Do(t.Context(), func(ctx context.Context) error {
		return h.Work.Enqueue(ctx, callwright.Task{Kind: "k", Key: "1", Org: "o"})
	})
	if err != nil {
		t.Fatal(err)
	}
	r.wait(t, 1)
}

// skipsRolledBack checks that a rolled-back task does not run. It then enqueues a second task and waits for that one, because the first
// would run earlier.
func skipsRolledBack(t *testing.T, h Harness) {
	r := newRan()
	h.Work.Handle(queue, "k", r.handler(nil))
	h.Start(t)
	err := h.Atomic.Do(t.Context(), func(ctx context.Context) error {
		if err := h.Work.Enqueue(ctx, callwright.Task{Kind: "k", Key: "lost", Org: "o"}); err != nil {
			t.Error(err)
		}
		return errRollback
	})
	if !errors.Is(err, errRollback) {
		t.Fatalf("Do gave %v, not the function's own error", err)
	}
	onlyKept(t, h, r)
}

func skipsPanicked(t *testing.T, h Harness) {
	r := newRan()
	h.Work.Handle(queue, "k", r.handler(nil))
	h.Start(t)
	func() {
		defer func() {
			if recover() == nil {
				t.Error("Do swallowed the panic")
			}
		}()
		_ = h.Atomic.Do(t.Context(), func(ctx context.Context) error {
			if err := h.Work.Enqueue(ctx, callwright.Task{Kind: "k", Key: "lost", Org: "o"}); err != nil {
				t.Error(err)
			}
			panic("on purpose")
		})
	}()
	onlyKept(t, h, r)
}

func joinsOuter(t *testing.T, h Harness) {
	r := newRan()
	h.Work.Handle(queue, "k", r.handler(nil))
	h.Start(t)
	err := h.Atomic.Do(t.Context(), func(ctx context.Context) error {
		inner := h.Atomic.Do(ctx, func(ctx context.Context) error {
			return h.Work.Enqueue(ctx, callwright.Task{Kind: "k", Key: "lost", Org: "o"})
		})
		return errors.Join(inner, errRollback)
	})
	if !errors.Is(err, errRollback) {
		t.Fatalf("Do gave %v", err)
	}
	onlyKept(t, h, r)
}

// onlyKept enqueues one task and checks that no other task runs.
func onlyKept(t *testing.T, h Harness, r *ran) {
	t.Helper()
	enqueue(t, h, callwright.Task{Kind: "k", Key: "kept", Org: "o"})
	r.wait(t, 1)
	if keys := r.keys(); len(keys) != 1 || keys[0] != "kept" {
		t.Fatalf("ran %v; only the committed task may run", keys)
	}
}

func triesAgain(t *testing.T, h Harness) {
	r := newRan()
	h.Work.Handle(queue, "k", r.handler(func(attempt int) error {
		if attempt == 1 {
			return errors.New("fails once")
		}
		return nil
	}))
	h.Start(t)
	enqueue(t, h, callwright.Task{Kind: "k", Key: "1", Org: "o"})
	r.wait(t, 2)
	if r.tries[0] != 1 || r.tries[1] != 2 {
		t.Fatalf("attempts %v, want 1 and 2", r.tries)
	}
	if most := r.tasks[0].MaxAttempts; most < 2 {
		t.Errorf("a task that leaves it to the adapter is told to be run %d times at most", most)
	}
}

func givesUp(t *testing.T, h Harness) {
	r := newRan()
	h.Work.Handle(queue, "k", r.handler(func(int) error { return errors.New("fails always") }))
	h.Work.Handle(queue, "after", r.handler(nil))
	h.Start(t)
	enqueue(t, h, callwright.Task{Kind: "k", Key: "1", Org: "o", MaxAttempts: 2})
	r.wait(t, 2)
	enqueue(t, h, callwright.Task{Kind: "after", Key: "2", Org: "o", RunAt: time.Now().Add(3 * time.Second)})
	r.wait(t, 1)
	if got := r.keys(); len(got) != 3 || got[2] != "2" {
		t.Fatalf("ran %v; a task with 2 attempts runs twice", got)
	}
	if most := r.tasks[0].MaxAttempts; most != 2 {
		t.Errorf("a task with 2 attempts is told to be run %d times at most", most)
	}
}

func testSnooze(t *testing.T, h Harness) {
	r := newRan()
	var once sync.Once
	h.Work.Handle(queue, "k", r.handler(func(int) (err error) {
		once.Do(func() { err = &callwright.Error{Code: callwright.CodeUnavailable, RetryAfter: time.Second} })
		return err
	}))
	h.Start(t)
	enqueue(t, h, callwright.Task{Kind: "k", Key: "1", Org: "o", MaxAttempts: 1})
	r.wait(t, 2)
	if r.tries[0] != 1 || r.tries[1] != 1 {
		t.Fatalf("attempts %v, want 1 twice: waiting is none", r.tries)
	}
}

func waitsForRunAt(t *testing.T, h Harness) {
	r := newRan()
	h.Work.Handle(queue, "k", r.handler(nil))
	h.Start(t)
	at := time.Now().Add(2 * time.Second)
	enqueue(t, h, callwright.Task{Kind: "k", Key: "later", Org: "o", RunAt: at})
	r.wait(t, 1)
	if r.times[0].Before(at) {
		t.Fatalf("ran %s too early", at.Sub(r.times[0]))
	}
}

func addsUniqueOnce(t *testing.T, h Harness) {
	r := newRan()
	h.Work.Handle(queue, "k", r.handler(nil))
	later := time.Now().Add(2 * time.Second)
	for range 3 {
		enqueue(t, h, callwright.Task{Kind: "k", Key: "1", Org: "o", Unique: true, RunAt: later})
	}
	enqueue(t, h, callwright.Task{Kind: "k", Key: "end", Org: "o", RunAt: later.Add(time.Second)})
	h.Start(t)
	r.wait(t, 2)
	// An adapter that starts after the tasks are due may run them concurrently, in any order.
	if keys := r.keys(); len(keys) != 2 || keys[0] == keys[1] {
		t.Fatalf("ran %v, want 1 and end once", keys)
	}
	// After its run, the task may be enqueued again. The loop tries repeatedly, because the adapter may store the end of the run a little
	// later.
	limit := time.After(patience)
	for r.count() < 3 {
		enqueue(t, h, callwright.Task{Kind: "k", Key: "1", Org: "o", Unique: true})
		select {
		case <-r.news:
		case <-time.After(patience / 40):
		case <-limit:
			t.Fatal("what has run can't be added again")
		}
	}
}

func keepsOrganizationsApart(t *testing.T, h Harness) {
	r := newRan()
	h.Work.Handle(queue, "k", r.handler(nil))
	enqueue(t, h, callwright.Task{Kind: "k", Key: "1", Org: "a", Unique: true})
	enqueue(t, h, callwright.Task{Kind: "k", Key: "1", Org: "b", Unique: true})
	h.Start(t)
	r.wait(t, 2)
}

func runsPeriodic(t *testing.T, h Harness) {
	r := newRan()
	h.Work.Every(queue, "tick", time.Second, r.handler(nil))
	h.Start(t)
	r.wait(t, 2)
}

func survivesPanic(t *testing.T, h Harness) {
	r := newRan()
	h.Work.Handle(queue, "k", r.handler(func(attempt int) error {
		if attempt == 1 {
			panic("on purpose")
		}
		return nil
	}))
	h.Start(t)
	enqueue(t, h, callwright.Task{Kind: "k", Key: "1", Org: "o"})
	r.wait(t, 2)
}

func givesTaskBack(t *testing.T, h Harness) {
	r := newRan()
	h.Work.Handle(queue, "k", r.handler(nil))
	h.Start(t)
	enqueue(t, h, callwright.Task{Kind: "k", Key: "a key / with 'quotes'", Org: "o"})
	r.wait(t, 1)
	if got := r.tasks[0]; got.Kind != "k" || got.Key != "a key / with 'quotes'" || got.Org != "o" {
		t.Fatalf("handler got %+v", got)
	}
}

// keepsArgs checks that arguments reach the handler unchanged, including details that databases tend to change: the order of members, white
// space, numbers, and an escaped NUL. A task without arguments must arrive without arguments.
func keepsArgs(t *testing.T, h Harness) {
	r := newRan()
	h.Work.Handle(queue, "k", r.handler(nil))
	h.Start(t)
	args := `{"b": 1.50,  "a":"\u0000 \\u0000 'ü' \u2028", "b2": 12345678901234567890, "n":null}`
	enqueue(t, h, callwright.Task{Kind: "k", Key: "1", Org: "o", Args: json.RawMessage(args)})
	r.wait(t, 1)
	enqueue(t, h, callwright.Task{Kind: "k", Key: "2", Org: "o"})
	r.wait(t, 1)
	if got := string(r.tasks[0].Args); got != args {
		t.Errorf("the handler got %s\nwant            %s", got, args)
	}
	if got := r.tasks[1].Args; got != nil {
		t.Errorf("the handler of a task without arguments got %q", got)
	}
}

func refusesArgs(t *testing.T, h Harness) {
	text := func(length int) json.RawMessage { return json.RawMessage(`"` + strings.Repeat("x", length-2) + `"`) }
	r := newRan()
	h.Work.Handle(queue, "k", r.handler(nil))
	for name, args := range map[string]json.RawMessage{
		"too long": text(callwright.MaxTaskArgs + 1), "empty": {}, "not JSON": json.RawMessage("{"), "not UTF-8": json.RawMessage("\"\xff\""),
	} {
		err := h.Work.Enqueue(t.Context(), callwright.Task{Kind: "k", Key: name, Org: "o", Args: args})
		if !errors.Is(err, callwright.ErrBadRequest) {
			t.Errorf("arguments that are %s give %v, want a bad request", name, err)
		}
	}
	enqueue(t, h, callwright.Task{Kind: "k", Key: "longest", Org: "o", Args: text(callwright.MaxTaskArgs)})
	h.Start(t)
	r.wait(t, 1)
	if keys := r.keys(); len(keys) != 1 || keys[0] != "longest" || len(r.tasks[0].Args) != callwright.MaxTaskArgs {
		t.Errorf("ran %v", keys)
	}
}

func ignoresArgsForUniqueness(t *testing.T, h Harness) {
	r := newRan()
	h.Work.Handle(queue, "k", r.handler(nil))
	for _, task := range []callwright.Task{{Key: "1", Args: json.RawMessage("1")}, {Key: "1", Args: json.RawMessage("2")}, {Key: "2"}} {
		task.Kind, task.Org, task.Unique = "k", "o", true
		enqueue(t, h, task)
	}
	h.Start(t)
	r.wait(t, 2)
	for _, task := range r.tasks {
		if want := map[string]string{"1": "1", "2": ""}[task.Key]; string(task.Args) != want {
			t.Errorf("task %s ran with the arguments %q, want %q", task.Key, task.Args, want)
		}
	}
}

// dropsUnreadableArgs checks that a typed handler does not run tasks whose arguments it cannot decode, for example because another version
// enqueued them.
func dropsUnreadableArgs(t *testing.T, h Harness) {
	type args struct{ Number int }
	kind := callwright.TaskKind[args]("k")
	r := newRan()
	got := make(chan args, 1)
	kind.Handle(h.Work, queue, slog.New(slog.DiscardHandler), func(ctx context.Context, task callwright.Task, a args, attempt int) error {
		got <- a
		return r.handler(nil)(ctx, task, attempt)
	})
	enqueue(t, h, callwright.Task{Kind: "k", Key: "without", Org: "o"})
	enqueue(t, h, callwright.Task{Kind: "k", Key: "text", Org: "o", Args: json.RawMessage(`"5"`)})
	h.Start(t)
	if err := kind.Enqueue(t.Context(), h.Work, callwright.Task{Key: "good", Org: "o"}, args{Number: 5}); err != nil {
		t.Fatal(err)
	}
	r.wait(t, 1)
	if keys := r.keys(); len(keys) != 1 || keys[0] != "good" || (<-got).Number != 5 {
		t.Errorf("ran %v", keys)
	}
}
