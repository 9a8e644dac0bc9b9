package callwright

import (
	"strings"
	"time"
)

// Clock tells the time. Domains ask a Clock instead of the machine, so that tests can control the time.
type Clock interface {
	// Now returns the present in UTC, truncated to microseconds, which is the precision of the databases.
	Now() time.Time
}

// SteadyClock returns a clock that starts at c's present and counts the time that passes from then on. It does not step when
// c is set, so the times of one process that are compared with each other come from one SteadyClock.
func SteadyClock(c Clock) Clock { return steadyClock{start: c.Now(), since: time.Now()} }

type steadyClock struct {
	start time.Time
	since time.Time // the same moment, by the monotonic clock
}

// Now returns the start and the time that has passed since.
func (c steadyClock) Now() time.Time {
	return c.start.Add(time.Since(c.since)).Truncate(time.Microsecond)
}

// SystemClock is the machine's clock.
type SystemClock struct{}

// Now returns the machine's time in UTC, truncated to microseconds.
func (SystemClock) Now() time.Time { return time.Now().UTC().Truncate(time.Microsecond) }

// TimeFormats says what ParseTime reads.
const TimeFormats = "a date such as 2026-03-02 or a date-time such as 2026-03-02T09:15:00Z"

// ParseTime reads the instant that a filter names, in UTC: an RFC 3339 date-time, or a date, which stands for its start in
// UTC. It takes a space for the plus of a time zone, because a query that does not escape the plus has one.
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
