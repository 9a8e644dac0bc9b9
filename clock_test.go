package callwright_test

import (
	"testing"
	"testing/synctest"
	"time"

	"github.com/callwright/callwright"
)

// setClock is a Clock that returns the time set by the test.
type setClock struct{ now time.Time }

func (c *setClock) Now() time.Time { return c.now }

// TestSteadyClock checks that a steady clock never goes back or jumps when its source clock is set two hours back or forward.
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

func TestParseTime(t *testing.T) {
	t.Parallel()
	for text, want := range map[string]string{
		"2026-03-02T09:15:00Z": "2026-03-02T09:15:00Z", "2026-03-02T09:15:00.25+02:00": "2026-03-02T07:15:00.25Z",
		"2026-03-02T09:15:00 02:00": "2026-03-02T07:15:00Z", "2026-03-02": "2026-03-02T00:00:00Z",
		"": "", "2026-3-2": "", "2026-02-30": "", "2026-03-02T09:15": "", "0000-01-01": "", "0001-01-01T00:00:00+02:00": "",
		"2026-03-02 09:15:00Z": "", "yesterday": "",
	} {
		at, isDate, ok := callwright.ParseTime(text)
		if ok != (want != "") || ok && (at.Format(time.RFC3339Nano) != want || isDate != (len(text) == 10) || at.Location() != time.UTC) {
			t.Errorf("%q: %v, date %t, %t; want %q", text, at, isDate, ok, want)
		}
	}
}
