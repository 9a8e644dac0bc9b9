package callwright

import "time"

// Clock tells the time. Domains ask a Clock instead of the machine, so that tests can control the time.
type Clock interface {
	// Now returns the present in UTC, truncated to microseconds, which is the precision of the databases.
	Now() time.Time
}

// SystemClock is the machine's clock.
type SystemClock struct{}

// Now returns the machine's time in UTC, truncated to microseconds.
func (SystemClock) Now() time.Time { return time.Now().UTC().Truncate(time.Microsecond) }
