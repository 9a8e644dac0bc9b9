package conversation

import (
	"sync"
	"time"
)

// callTime measures the time of the call: the time of the newest frame plus the clock's time since that frame, at most 20 ms. It follows
// the frames at any pace, with a finer resolution.
type callTime struct {
	mu      sync.Mutex
	elapsed time.Duration
	at      time.Time
}

// set stores the call's time at the newest frame (elapsed), and the clock's time at which that frame arrived (now).
func (t *callTime) set(elapsed time.Duration, now time.Time) {
	t.mu.Lock()
	defer t.mu.Unlock()
	t.elapsed, t.at = elapsed, now
}

// now returns the time of the call for a time of the clock.
func (t *callTime) now(now time.Time) time.Duration {
	t.mu.Lock()
	defer t.mu.Unlock()
	return t.elapsed + max(0, min(now.Sub(t.at), frameTime))
}
