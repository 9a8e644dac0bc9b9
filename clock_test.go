package callwright_test

import (
	"testing"
	"testing/synctest"
	"time"

	"github.com/callwright/callwright"
)

// setClock shows a time that a test sets.
type setClock struct{ now time.Time }

func (c *setClock) Now() time.Time { return c.now }

// TestSteadyClock sets the clock that a steady one was made of.
func TestSteadyClock(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		start := time.Date(2026, 5, 4, 3, 2, 1, 0, time.UTC)
		clock := &setClock{now: start}
		steady := callwright.SteadyClock(clock)
		for _, step := range []time.Duration{0, -2 * time.Hour, 2 * time.Hour} {
			clock.now = start.Add(step)
			before := steady.Now()
			time.Sleep(1500 * time.Nanosecond)
			if now := steady.Now(); now.Before(before) || now.Sub(start) > time.Millisecond || now != now.Truncate(time.Microsecond) {
				t.Errorf("after a step of %v it shows %v, before %v", step, now, before)
			}
		}
	})
}
