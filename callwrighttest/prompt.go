package callwrighttest

import (
	"testing"
	"time"

	"go.uber.org/goleak"
)

// ImmediateLimit is the time limit of immediate effects.
const ImmediateLimit = 10 * time.Second

// Sequential runs a case and checks that it leaves no goroutine behind. It cannot tell its own goroutines from others', so the
// suite must not run in parallel with other tests.
func Sequential(t *testing.T, name string, run func(t *testing.T)) {
	t.Helper()
	t.Run(name, func(t *testing.T) {
		before := goleak.IgnoreCurrent()
		t.Cleanup(func() { goleak.VerifyNone(t, before) })
		run(t)
	})
}

// Soon checks that a function returns immediately.
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
