package callwrighttest

import (
	"testing"
	"time"

	"go.uber.org/goleak"
)

// ImmediateLimit is the time limit for effects that must be immediate. It is long, so that slow machines do not fail.
const ImmediateLimit = 10 * time.Second

// Sequential runs a subtest and checks that it leaves no goroutine behind. Goroutines of other tests would count as its own, so the suite
// must not run in parallel with other tests.
func Sequential(t *testing.T, name string, run func(t *testing.T)) {
	t.Helper()
	t.Run(name, func(t *testing.T) {
		before := goleak.IgnoreCurrent()
		t.Cleanup(func() { goleak.VerifyNone(t, before) })
		run(t)
	})
}

// Soon calls a function, and fails the test if the call takes longer than ImmediateLimit. what names the action in the failure.
func Soon(t *testing.T, what string, do func()) {
	t.Helper()
	done := make(chan struct{})
	go func() {
		defer close(done)
		do()
	}()
	select {
	case <-done:
	case <-time.After(ImmediateLimit):
		t.Fatalf("%s hangs", what)
	}
}
