package health

import (
	"slices"
	"time"
)

// History is the uptime of a trunk over the last days and hours, weighted by time, and its last response times.
type History struct {
	Days    []Day           // oldest first, at most MaxDays
	Hours   []Hour          // oldest first, at most MaxHours
	Samples []time.Duration // of the last answered probes, oldest first, at most MaxSamples
	Until   time.Time       // end of the time that Days and Hours count
}

// Day is the known uptime and downtime of a trunk on one day.
type Day struct {
	Date     time.Time // midnight UTC
	Up, Down time.Duration
}

// Hour is the known uptime and downtime of a trunk in one hour.
type Hour struct {
	Start    time.Time // full hour, UTC
	Up, Down time.Duration
}

// The limits of a History.
const (
	MaxDays    = 30
	MaxHours   = 25 // any 24 hours touch 25 hours
	MaxSamples = 60
	// MaxGap is the time for which a state counts as known after its last observation. Unobserved time beyond it is unknown, and
	// counts neither as uptime nor as downtime.
	MaxGap = 5 * time.Minute
)

// Lasted adds the time from Until to at, in which the trunk was in one state. Time before Until is not added again.
func (h History) Lasted(state State, at time.Time) History {
	from := h.Until
	if !at.After(from) {
		return h
	}
	h.Until, h.Days, h.Hours = at, slices.Clone(h.Days), slices.Clone(h.Hours)
	if state = state.Public(); state != Unchecked && !from.IsZero() {
		for to := earlier(at, from.Add(MaxGap)); from.Before(to); {
			hour := from.UTC().Truncate(time.Hour)
			end := earlier(to, hour.Add(time.Hour))
			h.count(hour, state, end.Sub(from))
			from = end
		}
	}
	oldest := at.UTC().Truncate(day).Add(-(MaxDays - 1) * day)
	h.Days = slices.DeleteFunc(h.Days, func(d Day) bool { return d.Date.Before(oldest) })
	dayAgo := at.Add(-day)
	h.Hours = slices.DeleteFunc(h.Hours, func(one Hour) bool { return !one.Start.Add(time.Hour).After(dayAgo) })
	return h
}

const day = 24 * time.Hour // UTC days always have 24 hours

func earlier(a, b time.Time) time.Time {
	if a.Before(b) {
		return a
	}
	return b
}

// count adds a duration to the last day and hour, or starts new ones.
func (h *History) count(hour time.Time, state State, d time.Duration) {
	date := hour.Truncate(day)
	if len(h.Days) == 0 || h.Days[len(h.Days)-1].Date.Before(date) {
		h.Days = append(h.Days, Day{Date: date})
	}
	if len(h.Hours) == 0 || h.Hours[len(h.Hours)-1].Start.Before(hour) {
		h.Hours = append(h.Hours, Hour{Start: hour})
	}
	lastDay, lastHour := &h.Days[len(h.Days)-1], &h.Hours[len(h.Hours)-1]
	if state == Healthy {
		lastDay.Up += d
		lastHour.Up += d
	} else {
		lastDay.Down += d
		lastHour.Down += d
	}
}

// Answered returns samples with the response time of one more probe.
func Answered(samples []time.Duration, responseTime time.Duration) []time.Duration {
	kept := samples[max(0, len(samples)-MaxSamples+1):]
	return append(slices.Clone(kept), responseTime)
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
	return share(up, known)
}

// LastDay returns the known uptime and downtime of the 24 hours before now. Of the hour in which they begin it counts the share that
// lies within them.
func (h History) LastDay(now time.Time) (up, down time.Duration) {
	begin := now.Add(-day)
	for _, one := range h.Hours {
		within := min(1, max(0, float64(one.Start.Add(time.Hour).Sub(begin))/float64(time.Hour)))
		up += time.Duration(within * float64(one.Up))
		down += time.Duration(within * float64(one.Down))
	}
	return up, down
}

// LastDayUptime is Uptime over the 24 hours before now.
func (h History) LastDayUptime(now time.Time) (percent float64, ok bool) {
	up, down := h.LastDay(now)
	return share(up, up+down)
}

func share(up, known time.Duration) (percent float64, ok bool) {
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
