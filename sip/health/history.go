package health

import (
	"slices"
	"time"
)

// History contains the uptime and downtime of a trunk over the last days and hours, and its latest response times.
type History struct {
	Days    []Day           // oldest first, at most MaxDays
	Hours   []Hour          // oldest first, at most MaxHours
	Samples []time.Duration // response times of the last answered probes, oldest first, at most MaxSamples
	Until   time.Time       // end of the period that Days and Hours cover
}

// Day contains the known uptime and downtime of a trunk on one day.
type Day struct {
	Date     time.Time // midnight UTC
	Up, Down time.Duration
}

// Hour contains the known uptime and downtime of a trunk in one hour.
type Hour struct {
	Start    time.Time // full hour, UTC
	Up, Down time.Duration
}

// Limits of a History.
const (
	MaxDays    = 30
	MaxHours   = 25 // 24 hours may overlap 25 clock hours
	MaxSamples = 60
	// MaxGap is how long a state counts as known after it was last observed. Later unobserved time is unknown, and counts neither as uptime
	// nor as downtime.
	MaxGap = 5 * time.Minute
)

// Lasted returns the history extended to the time at. The trunk was in the given state since Until; after MaxGap the state counts as
// unknown. Days and hours that are too old are deleted. If at is not after Until, Lasted returns the history unchanged.
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

const day = 24 * time.Hour // every UTC day has 24 hours

func earlier(a, b time.Time) time.Time {
	if a.Before(b) {
		return a
	}
	return b
}

// count adds a duration to the day and the hour that begins at hour. It appends them if they are missing.
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

// Answered returns samples with one more response time, without the oldest if there would be more than MaxSamples.
func Answered(samples []time.Duration, responseTime time.Duration) []time.Duration {
	kept := samples[max(0, len(samples)-MaxSamples+1):]
	return append(slices.Clone(kept), responseTime)
}

// Uptime returns the percentage of uptime in the known time of all Days. ok is false if no time is known.
func (h History) Uptime() (percent float64, ok bool) {
	return h.UptimeSince(time.Time{})
}

// UptimeSince returns the percentage of uptime in the known time of the days that do not begin before the time since. ok is false if no
// time is known.
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

// LastDay returns the known uptime and downtime of the 24 hours before now. Of the clock hour in which the 24 hours begin, it counts a
// proportional share.
func (h History) LastDay(now time.Time) (up, down time.Duration) {
	begin := now.Add(-day)
	for _, one := range h.Hours {
		within := min(1, max(0, float64(one.Start.Add(time.Hour).Sub(begin))/float64(time.Hour)))
		up += time.Duration(within * float64(one.Up))
		down += time.Duration(within * float64(one.Down))
	}
	return up, down
}

// LastDayUptime returns the percentage of uptime in the known time of the 24 hours before now. ok is false if no time is known.
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

// Average returns the mean of Samples. ok is false if there are none.
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

// P95 returns the 95th percentile of Samples by nearest rank. ok is false if there are none.
func (h History) P95() (bound time.Duration, ok bool) {
	if len(h.Samples) == 0 {
		return 0, false
	}
	sorted := slices.Sorted(slices.Values(h.Samples))
	return sorted[(len(sorted)*95+99)/100-1], true
}
