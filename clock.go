package callwright

import (
	"strings"
	"time"
)

// Clock returns the current time. Domains read the time from a Clock, not from the machine, so that tests can control it.
type Clock interface {
	// Now returns the current time in UTC, truncated to microseconds, the precision of the databases.
	Now() time.Time
}

// SteadyClock returns a clock that starts at c's current time and then follows the monotonic clock. A later adjustment of c does not change
// it. Use one SteadyClock for all times of a process that are compared with each other.
func SteadyClock(c Clock) Clock { return steadyClock{start: c.Now(), since: time.Now()} }

type steadyClock struct {
	start time.Time
	since time.Time // when start was read, with a monotonic reading
}

// Now returns start plus the elapsed monotonic time, truncated to microseconds.
func (c steadyClock) Now() time.Time {
	return c.start.Add(time.Since(c.since)).Truncate(time.Microsecond)
}

// SystemClock is the machine's clock.
type SystemClock struct{}

// Now returns the machine's time in UTC, truncated to microseconds.
func (SystemClock) Now() time.Time { return time.Now().UTC().Truncate(time.Microsecond) }

// TimeFormats describes the formats that ParseTime accepts, for error messages.
const TimeFormats = "a date such as 2026-03-02 or a date-time such as 2026-03-02T09:15:00Z"

// ParseTime parses the time of a filter: an RFC 3339 date-time, or a date, which means its first moment in UTC. It returns the time in UTC;
// isDate is true for a date. ok is false for an invalid text and for a year before 1. ParseTime accepts a space in place of the plus of a
// time zone, because an unescaped plus in a query becomes a space.
func ParseTime(text string) (t time.Time, isDate, ok bool) {
	text = strings.Replace(text, " ", "+", 1)
	t, err := time.Parse(time.RFC3339, text)
	if err != nil {
		t, err = time.Parse(time.DateOnly, text)
		isDate = true
	}
	t = t.UTC()
	return t, isDate, err == nil && t.Year() > 0
}
