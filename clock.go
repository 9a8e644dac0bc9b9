package callwright

import "time"

// Clock tells the time. Domains ask it instead of the machine, so that a test can stand still or leap.
type Clock interface {
	// Now is the present, in UTC, truncated to microseconds: what both databases keep.
	Now() time.Time
}

// SystemClock is the machine's clock.
type SystemClock struct{}

// Now is the machine's time in UTC, truncated to microseconds.
func (SystemClock) Now() time.Time { return time.Now().UTC().Truncate(time.Microsecond) }
