package health

import (
	"slices"
	"time"
)

// History is how a trunk has been over the last days: time-weighted, and with the last response times.
type History struct {
	Days    []Day           // oldest first, at most MaxDays
	Samples []time.Duration // of the last answered probes, oldest first, at most MaxSamples
	Until   time.Time       // up to when Days counts
}

// Day is how long a trunk was known to be up and down on one day.
type Day struct {
	Date     time.Time // midnight UTC
	Up, Down time.Duration
}

// The bounds of a History.
const (
	MaxDays    = 30
	MaxSamples = 60
	// MaxGap is how long what was last seen of a trunk counts as known. Time beyond it, in which nobody looked, is
	// unknown and counts neither way.
	MaxGap = 5 * time.Minute
)

// Lasted counts the time from Until to at, in which the trunk was in one state. Time that is counted already is not
// counted twice.
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

// count adds to the last day, or begins one.
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

// Answered keeps the response time of a probe.
func (h History) Answered(responseTime time.Duration) History {
	kept := h.Samples[max(0, len(h.Samples)-MaxSamples+1):]
	h.Samples = append(slices.Clone(kept), responseTime)
	return h
}

// Uptime is the part of the known time in which the trunk was up, in percent; ok is false while nothing is known.
func (h History) Uptime() (percent float64, ok bool) {
	var up, known time.Duration
	for _, d := range h.Days {
		up += d.Up
		known += d.Up + d.Down
	}
	if known == 0 {
		return 0, false
	}
	return 100 * (float64(up) / float64(known)), true
}

// Average is the mean of the last response times; ok is false without any.
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

// P95 is the response time that 95 % of the last ones do not exceed (the nearest rank); ok is false without any.
func (h History) P95() (bound time.Duration, ok bool) {
	if len(h.Samples) == 0 {
		return 0, false
	}
	sorted := slices.Sorted(slices.Values(h.Samples))
	return sorted[(len(sorted)*95+99)/100-1], true
}
