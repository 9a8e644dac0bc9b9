package failover_test

import (
	"strconv"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"pgregory.net/rapid"

	"github.com/callwright/callwright/sip/failover"
)

var start = time.Date(2026, 5, 4, 3, 2, 1, 0, time.UTC)

func TestBreakerLetsOneTry(t *testing.T) {
	t.Parallel()
	var b failover.Breaker
	if !b.Allow("a", start) {
		t.Fatal("a server that never failed is left out")
	}
	b.Failed("a", start)
	if b.Allow("a", start.Add(failover.OpenFor-1)) {
		t.Error("tried too early")
	}
	if !b.Allow("b", start) {
		t.Error("another server is left out too")
	}
	var allowed atomic.Int32
	var calls sync.WaitGroup
	for range 50 {
		calls.Go(func() {
			if b.Allow("a", start.Add(failover.OpenFor)) {
				allowed.Add(1)
			}
		})
	}
	calls.Wait()
	if n := allowed.Load(); n != 1 {
		t.Errorf("%d calls tried it, want one", n)
	}
	b.Succeeded("a")
	for range 2 {
		if !b.Allow("a", start.Add(failover.OpenFor)) {
			t.Error("the trial's success did not close the circuit")
		}
	}
}

// TestBreaker compares a Breaker with a simple model: after a failure no call for OpenFor, then one call per OpenFor, until a success.
func TestBreaker(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		var b failover.Breaker
		now, closed, last := start, true, start
		for range rapid.IntRange(0, 50).Draw(t, "steps") {
			now = now.Add(time.Duration(rapid.IntRange(0, 20).Draw(t, "seconds")) * time.Second)
			switch rapid.IntRange(0, 3).Draw(t, "what") {
			case 0:
				b.Failed("a", now)
				closed, last = false, now
			case 1:
				b.Succeeded("a")
				closed = true
			default:
				want := closed || now.Sub(last) >= failover.OpenFor
				if got := b.Allow("a", now); got != want {
					t.Fatalf("allowed: %t, want %t", got, want)
				}
				if want {
					last = now
				}
			}
		}
	})
}

// TestBreakerIsBounded checks that a full Breaker deletes the earliest failures.
func TestBreakerIsBounded(t *testing.T) {
	t.Parallel()
	var b failover.Breaker
	const bound, more = 10_000, 100
	for i := range bound + more {
		b.Failed(strconv.Itoa(i), start.Add(time.Duration(i)))
	}
	for i := range bound + more {
		if got, want := b.Allow(strconv.Itoa(i), start), i < more; got != want {
			t.Fatalf("server %d allowed: %t", i, got)
		}
	}
}
