package speechtest

import (
	"context"
	"fmt"
	"runtime"
	"sync"
	"testing"
	"time"

	"github.com/callwright/callwright"
	"github.com/callwright/callwright/callwrighttest"
)

// reporter is the part of *testing.T that the suites use. The recorder also implements it, to show which tests a faulty adapter fails.
type reporter interface {
	Helper()
	Context() context.Context
	Error(args ...any)
	Errorf(format string, args ...any)
	Fatal(args ...any)
	Fatalf(format string, args ...any)
}

// suite contains the tests of a port. Each test uses a new adapter.
type suite[T any] []struct {
	name string
	run  func(reporter, T)
}

func (s suite[T]) test(t *testing.T, newOne func(t *testing.T) T) {
	t.Helper()
	for _, test := range s {
		t.Run(test.name, func(t *testing.T) {
			t.Parallel()
			test.run(t, newOne(t))
		})
	}
}

// oneByOne runs the tests sequentially. It fails a test that runs longer than limit or leaves goroutines running.
func (s suite[T]) oneByOne(t *testing.T, limit time.Duration, newOne func(t *testing.T) T) {
	t.Helper()
	for _, test := range s {
		callwrighttest.Sequential(t, test.name, func(t *testing.T) {
			bounded(t, limit, func(r reporter) { test.run(r, newOne(t)) })
		})
	}
}

// bounded runs a test that may hang, because external engines do. After limit it cancels the context of the test, fails the test, and
// ignores further reports.
func bounded(t reporter, limit time.Duration, run func(t reporter)) {
	t.Helper()
	ctx, cancel := context.WithCancel(t.Context())
	defer cancel()
	b := &interruptible{reporter: t, ctx: ctx}
	done := make(chan struct{})
	go func() {
		defer close(done)
		run(b)
	}()
	timer := time.NewTimer(limit)
	defer timer.Stop()
	select {
	case <-done:
	case <-timer.C:
		b.abandon()
		t.Fatalf("hangs: the test goes on after %v", limit)
	}
}

// interruptible passes reports to another reporter until abandon is called.
type interruptible struct {
	reporter

	ctx       context.Context //nolint:containedctx // as a *testing.T has one
	mu        sync.Mutex
	abandoned bool
}

func (a *interruptible) Context() context.Context { return a.ctx }

func (a *interruptible) Error(args ...any) { a.Errorf("%s", fmt.Sprint(args...)) }

func (a *interruptible) Errorf(format string, args ...any) {
	a.reporter.Helper()
	a.mu.Lock()
	defer a.mu.Unlock()
	if !a.abandoned {
		a.reporter.Errorf(format, args...)
	}
}

func (a *interruptible) Fatal(args ...any) {
	a.Error(args...)
	runtime.Goexit()
}

func (a *interruptible) Fatalf(format string, args ...any) {
	a.Errorf(format, args...)
	runtime.Goexit()
}

func (a *interruptible) abandon() {
	a.mu.Lock()
	defer a.mu.Unlock()
	a.abandoned = true
}

// at is the creation time of test data.
var at = time.Date(2026, 3, 2, 9, 8, 7, 123456000, time.UTC)

func later(seconds int) time.Time { return at.Add(time.Duration(seconds) * time.Second) }

// words contains characters that a faulty store may change.
const words = "\u00c9va's\n\"<b>&\\ \U0001F600"

// atOnce calls f concurrently with the numbers from 0 to n-1, and returns the results in this order.
func atOnce(n int, f func(i int) error) []error {
	errs := make([]error, n)
	var running sync.WaitGroup
	for i := range n {
		running.Go(func() { errs[i] = f(i) })
	}
	running.Wait()
	return errs
}

// wantCode checks the code of an error.
func wantCode(t reporter, what string, err error, want callwright.Code) {
	t.Helper()
	if callwright.CodeOf(err) != want {
		t.Errorf("%s gave %v, want %s", what, err, want)
	}
}

// patience is the time within which a function must return, for example after its context has ended.
const patience = 10 * time.Second

// soon checks that f returns within patience.
func soon(t reporter, what string, f func()) {
	t.Helper()
	done := make(chan struct{})
	go func() {
		defer close(done)
		f()
	}()
	limit := time.NewTimer(patience)
	defer limit.Stop()
	select {
	case <-done:
	case <-limit.C:
		t.Fatalf("%s did not return within %v", what, patience)
	}
}
