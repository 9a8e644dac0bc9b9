package health

import (
	"slices"
	"time"
)

// History is the uptime of a trunk over the last days, weighted by time, and its last response times.
type History struct {
	Days    []Day           // oldest first, at most MaxDays
	Samples []time.Duration // of the last answered probes, oldest first, at most MaxSamples
	Until   time.Time       // end of the time that Days counts
}

// Day is the known uptime and downtime of a trunk on one day.
type Day struct {
	Date     time.Time // midnight UTC
	Up, Down time.Duration
}

// The limits of a History.
const (
	MaxDays    = 30
	MaxSamples = 60
	// MaxGap is how long a state counts as known after it was last seen. Unobserved time beyond it is unknown, and counts
	// neither as uptime nor as downtime.
	MaxGap = 5 * time.Minute
)

// Lasted adds the time from Until to at, in which the trunk was in one state. Time before Until is not added again.
func (h History) Lasted(state State, at time.Time) History {
	from := h.Until
	if !at.After(from) {
		return h
	}
	h.Until, h.Days = at, slices.Clone(h.Days)
	if state = state.Public(); state != Unchecked && !from.IsZero() {
		for to := earlier(at, from.Add(MaxGap)); from.Before(to); {
			date := from.UTC().Truncate(day)
			end := earlier(to, date.Add(day))
			h.count(date, state, end.Sub(from))
			from = end
		}
	}
	oldest := at.UTC().Truncate(day).Add(-(MaxDays - 1) * day)
	h.Days = slices.DeleteFunc(h.Days, func(d Day) bool { return d.Date.Before(oldest) })
	return h
}

const day = 24 * time.Hour // of UTC, which has no others

func earlier(a, b time.Time) time.Time {
	if a.Before(b) {
		return a
	}
	return b
}

// count adds to the last day, or starts a new one.
func (h *History) count(date time.Time, state State, d time.Duration) {
	if len(h.Days) == 0 || h.Days[len(h.Days)-1].Date.Before(date) {
		h.Days = append(h.Days, Day{Date: date})
	}
	last := &h.Days[len(h.Days)-1]
	if state == Healthy {
		last.Up += d
	} else {
		last.Down += d
	}
}

// Answered adds the response time of a probe.
func (h History) Answered(responseTime time.Duration) History {
	kept := h.Samples[max(0, len(h.Samples)-MaxSamples+1):]
	h.Samples = append(slices.Clone(kept), responseTime)
	return h
}

// Uptime returns the share of uptime in the known time, in percent; ok is false while no time is known.
func (h History) Uptime() (percent float64, ok bool) {
	return h.UptimeSince(time.Time{})
}

// UptimeSince is Uptime over the days that begin at since or later.
func (h History) UptimeSince(since time.Time) (percent float64, ok bool) {
	var up, known time.Duration
	for _, d := range h.Days {
		if d.Date.Before(since) {
			continue
		}
		up += d.Up
		known += d.Up + d.Down
	}
	if known == 0 {
		return 0, false
	}
	return 100 * (float64(up) / float64(known)), true
}

// Average returns the mean of the last response times; ok is false without any.
func (h History) Average() (mean time.Duration, ok bool) {
	if len(h.Samples) == 0 {
		return 0, false
	}
	var sum time.Duration
	for _, s := range h.Samples {
		sum += s
	}
	return sum / time.Duration(len(h.Samples)), true
}

// P95 returns the 95th percentile of the last response times (nearest rank); ok is false without any.
func (h History) P95() (bound time.Duration, ok bool) {
	if len(h.Samples) == 0 {
		return 0, false
	}
	sorted := slices.Sorted(slices.Values(h.Samples))
	return sorted[(len(sorted)*95+99)/100-1], true
}
