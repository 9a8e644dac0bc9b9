package rtpmedia_test

import (
	"testing"
	"time"

	"pgregory.net/rapid"

	"github.com/callwright/callwright/adapters/sipua/rtpmedia"
)

func TestSchedule(t *testing.T) {
	t.Parallel()
	s := rtpmedia.NewSchedule(5 * ms)
	for _, c := range []struct {
		now                time.Duration
		first, count, late int64
		wait               time.Duration
	}{
		{0, 0, 0, 0, 5 * ms},
		{5 * ms, 0, 1, 0, 20 * ms},
		{24 * ms, 1, 0, 0, ms},
		{26 * ms, 1, 1, 0, 19 * ms},     // a frame 1 ms late does not delay the next frame
		{64 * ms, 2, 1, 0, ms},          // 19 ms late
		{85 * ms, 3, 2, 1, 20 * ms},     // two frames together
		{1085 * ms, 52, 3, 49, 20 * ms}, // after a second without a wake-up: three frames, the others are omitted
		{1085 * ms, 55, 0, 0, 20 * ms},
	} {
		first, count, late := s.Due(c.now)
		if first != c.first || count != c.count || late != c.late {
			t.Errorf("at %s: %d frames from %d, %d late; want %d from %d, %d late", c.now, count, first, late, c.count, c.first, c.late)
		}
		if wait := s.Wait(c.now); wait != c.wait {
			t.Errorf("at %s: wait %s, want %s", c.now, wait, c.wait)
		}
	}
}

// TestScheduleNeverDrifts checks that irregular wake-ups cause no early, repeated or postponed frame, and bursts of at most three frames.
func TestScheduleNeverDrifts(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		s, now, next := rtpmedia.NewSchedule(0), time.Duration(0), int64(0)
		for range rapid.IntRange(1, 100).Draw(t, "wakes") {
			now += s.Wait(now) + time.Duration(rapid.IntRange(0, 150).Draw(t, "late"))*ms
			first, count, _ := s.Due(now)
			if count < 1 || count > 3 || first < next || time.Duration(first+count-1)*20*ms > now {
				t.Fatalf("at %s: %d frames from %d, after %d", now, count, first, next)
			}
			if next = first + count; time.Duration(next)*20*ms <= now {
				t.Fatalf("at %s frame %d is due and was left for later", now, next)
			}
		}
	})
}
