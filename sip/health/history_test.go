package health_test

import (
	"math"
	"slices"
	"testing"
	"time"

	"pgregory.net/rapid"

	"github.com/callwright/callwright/sip/health"
)

// second is the state of a trunk during one second. A slice of seconds is a simple reference model of a History.
type second struct {
	at time.Time
	up bool
}

func TestHistoryIsTimeWeighted(t *testing.T) {
	t.Parallel()
	all := []health.State{health.Unchecked, health.Healthy, health.Suspect, health.Unreachable, health.Recovering}
	rapid.Check(t, func(t *rapid.T) {
		var h health.History
		var known []second
		now := start
		h = h.Lasted(health.Healthy, now)
		steps := rapid.SliceOfN(rapid.IntRange(-5, 500), 1, 50).Draw(t, "seconds")
		for _, step := range steps {
			if rapid.IntRange(0, 9).Draw(t, "leap") == 0 {
				step += rapid.IntRange(0, 40*24*3600).Draw(t, "by")
			}
			state := rapid.SampledFrom(all).Draw(t, "state")
			for i := range min(step, int(health.MaxGap/time.Second)) {
				if p := state.Public(); p != health.Unchecked {
					known = append(known, second{now.Add(time.Duration(i) * time.Second), p == health.Healthy})
				}
			}
			h = h.Lasted(state, now.Add(time.Duration(step)*time.Second))
			now = now.Add(time.Duration(max(step, 0)) * time.Second)
			compare(t, h, known, now)
		}
	})
}

// compare checks the uptime of a history against the reference model.
func compare(t *rapid.T, h health.History, known []second, now time.Time) {
	oldest := now.Truncate(24*time.Hour).AddDate(0, 0, 1-health.MaxDays)
	total, up := 0, 0
	for _, s := range known {
		if s.at.Before(oldest) {
			continue
		}
		total++
		if s.up {
			up++
		}
	}
	got, ok := h.Uptime()
	switch {
	case len(h.Days) > health.MaxDays:
		t.Fatalf("%d days", len(h.Days))
	case ok != (total > 0):
		t.Fatalf("known: %t, of %d s", ok, total)
	case ok && (got < 0 || got > 100):
		t.Fatalf("up for %g %%", got)
	case ok && math.Abs(got-100*float64(up)/float64(total)) > 1e-9:
		t.Fatalf("up for %g %%, want %d s of %d", got, up, total)
	}
	compareDay(t, h, known, now)
}

// compareDay checks the last 24 hours of a history against the reference model. It counts a proportional share of the clock hour in which
// they begin, because a History does not record when within an hour the trunk was up.
func compareDay(t *rapid.T, h health.History, known []second, now time.Time) {
	begin := now.Add(-24 * time.Hour)
	first, up, down, partUp, partDown := begin.Truncate(time.Hour), 0.0, 0.0, 0.0, 0.0
	for _, s := range known {
		switch next := s.at.Before(first.Add(time.Hour)); {
		case s.at.Before(first):
		case next && s.up:
			partUp++
		case next:
			partDown++
		case s.up:
			up++
		default:
			down++
		}
	}
	share := 1 - begin.Sub(first).Hours()
	gotUp, gotDown := h.LastDay(now)
	if wantUp, wantDown := up+share*partUp, down+share*partDown; math.Abs(gotUp.Seconds()-wantUp) > 1e-3 || math.Abs(gotDown.Seconds()-wantDown) > 1e-3 {
		t.Fatalf("up for %s and down for %s of the last day, want %g s and %g s", gotUp, gotDown, wantUp, wantDown)
	}
	if len(h.Hours) > health.MaxHours {
		t.Fatalf("%d hours", len(h.Hours))
	}
	got, ok := h.LastDayUptime(now)
	if all := gotUp + gotDown; ok != (all > 0) || ok && math.Abs(got-100*gotUp.Seconds()/all.Seconds()) > 1e-6 {
		t.Fatalf("the last day's uptime is %g %%, %t", got, ok)
	}
}

func TestHistoryKeepsItsPast(t *testing.T) {
	t.Parallel()
	before := health.History{}.Lasted(health.Healthy, start).Lasted(health.Healthy, start.Add(time.Minute))
	before.Samples = append(make([]time.Duration, 0, 2), time.Second)
	kept := health.History{
		Days: slices.Clone(before.Days), Hours: slices.Clone(before.Hours), Samples: slices.Clone(before.Samples), Until: before.Until,
	}
	before.Lasted(health.Unreachable, start.Add(2*time.Minute))
	health.Answered(before.Samples, time.Minute)
	if !slices.Equal(before.Days, kept.Days) || !slices.Equal(before.Hours, kept.Hours) || !slices.Equal(before.Samples[:2], []time.Duration{time.Second, 0}) {
		t.Errorf("it was %+v and is %+v", kept, before)
	}
}

func TestSamples(t *testing.T) {
	t.Parallel()
	var none health.History
	if _, ok := none.Average(); ok {
		t.Error("there is a mean of nothing")
	}
	if _, ok := none.P95(); ok {
		t.Error("there is a bound of nothing")
	}
	rapid.Check(t, func(t *rapid.T) {
		var h health.History
		all := rapid.SliceOfN(rapid.IntRange(1, 5000), 1, 3*health.MaxSamples).Draw(t, "milliseconds")
		for _, ms := range all {
			h.Samples = health.Answered(h.Samples, time.Duration(ms)*time.Millisecond)
		}
		last := slices.Clone(all[max(0, len(all)-health.MaxSamples):])
		if len(h.Samples) != len(last) {
			t.Fatalf("%d samples, want %d", len(h.Samples), len(last))
		}
		sum := 0
		for _, ms := range last {
			sum += ms
		}
		mean, _ := h.Average()
		if want := time.Duration(sum) * time.Millisecond / time.Duration(len(last)); mean != want {
			t.Fatalf("mean %s, want %s", mean, want)
		}
		bound, _ := h.P95()
		within, below := 0, 0
		for _, ms := range last {
			if d := time.Duration(ms) * time.Millisecond; d < bound {
				below++
			} else if d == bound {
				within++
			}
		}
		if n := len(last); 100*(below+within) < 95*n || 100*below >= 95*n || within == 0 {
			t.Fatalf("%d of %d are below %s, %d are at it", below, n, bound, within)
		}
	})
}

// TestLastDay checks a trunk that was down for the whole clock hour in which the last 24 hours begin, and up afterwards.
func TestLastDay(t *testing.T) {
	t.Parallel()
	midnight := start.Truncate(24 * time.Hour)
	h := health.History{}.Lasted(health.Healthy, midnight)
	for now := midnight.Add(time.Minute); !now.After(midnight.Add(24*time.Hour + 15*time.Minute)); now = now.Add(time.Minute) {
		state := health.Healthy
		if !now.After(midnight.Add(time.Hour)) {
			state = health.Unreachable
		}
		h = h.Lasted(state, now)
	}
	if up, down := h.LastDay(h.Until); up != 23*time.Hour+15*time.Minute || down != 45*time.Minute || len(h.Hours) != health.MaxHours {
		t.Errorf("up for %s and down for %s, in %d hours", up, down, len(h.Hours))
	}
	if up, down := h.LastDay(h.Until.Add(45 * time.Minute)); up != 23*time.Hour+15*time.Minute || down != 0 {
		t.Errorf("later up for %s and down for %s", up, down)
	}
	for range 46 {
		h = h.Lasted(health.Healthy, h.Until.Add(time.Minute))
	}
	if first := h.Hours[0].Start; !first.Equal(midnight.Add(time.Hour)) {
		t.Errorf("the first hour is that of %s", first)
	}
}
