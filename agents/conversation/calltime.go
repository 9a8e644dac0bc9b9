package conversation

import (
	"sync"
	"time"
)

// callTime is the time of the call: the time of the newest frame plus the clock's time since then, at most a frame. It follows the
// frames at any pace, with a finer resolution.
type callTime struct {
	mu      sync.Mutex
	elapsed time.Duration
	at      time.Time
}

// set sets the time of a frame.
func (t *callTime) set(elapsed time.Duration, now time.Time) {
	t.mu.Lock()
	defer t.mu.Unlock()
	t.elapsed, t.at = elapsed, now
}

// now returns the time.
func (t *callTime) now(now time.Time) time.Duration {
	t.mu.Lock()
	defer t.mu.Unlock()
	return t.elapsed + max(0, min(now.Sub(t.at), frameTime))
}
