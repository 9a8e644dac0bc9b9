package conversation

import (
	"sync"
	"time"
)

// callTime is the call's time: the newest frame's, and what the clock says has passed since, a frame at most. So it goes
// with the frames, however fast they come, and is finer than they are.
type callTime struct {
	mu      sync.Mutex
	elapsed time.Duration
	at      time.Time
}

// set takes the time of a frame.
func (t *callTime) set(elapsed time.Duration, now time.Time) {
	t.mu.Lock()
	defer t.mu.Unlock()
	t.elapsed, t.at = elapsed, now
}

// now is the time.
func (t *callTime) now(now time.Time) time.Duration {
	t.mu.Lock()
	defer t.mu.Unlock()
	return t.elapsed + max(0, min(now.Sub(t.at), frameTime))
}
