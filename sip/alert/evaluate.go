package alert

import (
	"cmp"
	"fmt"
	"maps"
	"math"
	"time"

	"github.com/callwright/callwright"
	"github.com/callwright/callwright/sip/health"
)

// Trunk identifies the trunk of an alert.
type Trunk struct {
	ID        string
	Org       callwright.OrgID
	Number    callwright.PhoneNumber
	Direction string
}

// Measured contains the values that were measured for a trunk.
type Measured struct {
	Unreachable   bool          // at least one server is unreachable, even if calls use another
	Ended, Failed int           // numbers of attempts within Thresholds.Window
	ResponseTime  time.Duration // mean response time of the last answered probes
	Samples       int           // number of these probes
	LookedAt      time.Time     // time of the previous measurement; zero if none
}

// Limits that suppress notices about flapping trunks, and about values that are due to chance.
const (
	ClearFor = 2 * time.Minute  // time for which the threshold must not be crossed before a raised alert is resolved
	Quiet    = 10 * time.Minute // time for which a resolved alert is not raised again

	MinAttempts = 5 // minimum number of attempts in the window for a failure rate
	MinSamples  = 5 // minimum number of answered probes for a mean response time
)

// Window returns the period over which the failure rate is calculated, with the default applied.
func (t Thresholds) Window() time.Duration { return cmp.Or(t.FailureRateWindow, 15*time.Minute) }

// Evaluate returns the states of a trunk's alerts after a measurement, and the notices to send: at most one for each kind. Raised and
// resolved notices of a kind alternate. If more than health.MaxGap has passed since the previous measurement, the times for which
// thresholds have been crossed, or not crossed, count from now.
func (c Config) Evaluate(t Trunk, states States, m Measured, now time.Time) (States, []Notice) {
	next := maps.Clone(states)
	if next == nil {
		next = States{}
	}
	asleep := now.Sub(m.LookedAt) > health.MaxGap
	var notices []Notice
	for _, r := range c.Thresholds.readings(m) {
		s := states[r.kind]
		if asleep {
			s = s.afterGap(now)
		}
		s, edge := s.step(r.thresholdCrossed, r.lasting, now)
		if edge {
			notices = append(notices, t.notice(s, r, now))
		}
		next[r.kind] = s
		if s == (State{}) {
			delete(next, r.kind)
		}
	}
	return next, notices
}

// Due returns the time by which a trunk's alerts must be evaluated again: the next time at which an alert is raised or resolved if the
// measurements do not change. ok is false if there is no such time.
func (c Config) Due(states States) (at time.Time, ok bool) {
	for _, r := range c.Thresholds.readings(Measured{}) {
		if next := states[r.kind].due(r.lasting); !next.IsZero() && (!ok || next.Before(at)) {
			at, ok = next, true
		}
	}
	return at, ok
}

// due returns the time at which the alert is next raised or resolved if the measurements do not change, or the zero time.
func (s State) due(lasting time.Duration) time.Time {
	switch {
	case s.Raised && !s.ClearSince.IsZero():
		return s.ClearSince.Add(ClearFor)
	case !s.Raised && !s.Since.IsZero():
		at, quiet := s.Since.Add(lasting), s.ResolvedAt.Add(Quiet)
		if quiet.After(at) {
			return quiet
		}
		return at
	default:
		return time.Time{}
	}
}

// reading is a measured value and its threshold.
type reading struct {
	kind             Kind
	thresholdCrossed bool
	lasting          time.Duration // time for which the threshold must be crossed
	value, threshold float64       // in the unit of Notice.Value
}

func (t Thresholds) readings(m Measured) []reading {
	rate := 0.0
	if m.Ended >= MinAttempts {
		rate = 100 * float64(m.Failed) / float64(m.Ended)
	}
	var mean time.Duration
	if m.Samples >= MinSamples {
		mean = m.ResponseTime
	}
	return []reading{
		{
			kind: Unreachable, thresholdCrossed: t.Unreachable > 0 && m.Unreachable, lasting: t.Unreachable,
			threshold: t.Unreachable.Minutes(),
		},
		{
			kind: FailureRate, thresholdCrossed: t.FailureRate > 0 && rate >= t.FailureRate,
			value: rate, threshold: t.FailureRate,
		},
		{
			kind: ResponseTime, thresholdCrossed: t.ResponseTime > 0 && mean >= t.ResponseTime,
			value: milliseconds(mean), threshold: milliseconds(t.ResponseTime),
		},
	}
}

func milliseconds(d time.Duration) float64 { return float64(d) / float64(time.Millisecond) }

// afterGap returns the state after a gap between measurements: running durations restart at now.
func (s State) afterGap(now time.Time) State {
	if !s.Since.IsZero() {
		s.Since = now
	}
	if !s.ClearSince.IsZero() {
		s.ClearSince = now
	}
	return s
}

// step returns the state after a measurement. edge reports whether this step raises or resolves the alert.
func (s State) step(crossed bool, lasting time.Duration, now time.Time) (next State, edge bool) {
	switch {
	case !crossed:
		s.Since = time.Time{}
		if s.Raised && s.ClearSince.IsZero() {
			s.ClearSince = now
		}
	default:
		s.ClearSince = time.Time{}
		if s.Since.IsZero() {
			s.Since = now
		}
	}
	switch {
	case s.Raised && !crossed && now.Sub(s.ClearSince) >= ClearFor:
		s.Raised, s.ResolvedAt, s.ClearSince = false, now, time.Time{}
	case !s.Raised && crossed && now.Sub(s.Since) >= lasting && now.Sub(s.ResolvedAt) >= Quiet:
		s.Raised, s.TriggeredAt, s.ResolvedAt = true, now, time.Time{}
	default:
		return s, false
	}
	s.Edges++
	return s, true
}

// notice returns the notice that the alert was raised or resolved, as state s says.
func (t Trunk) notice(s State, r reading, now time.Time) Notice {
	n := Notice{
		ID: fmt.Sprintf("%s.%s.%d", t.ID, r.kind, s.Edges), Org: t.Org, Kind: r.kind, Number: t.Number,
		Direction: t.Direction, Value: r.value, Threshold: r.threshold, TriggeredAt: s.TriggeredAt,
	}
	if r.kind == Unreachable && s.Raised {
		n.Value = now.Sub(s.Since).Minutes()
	}
	if !s.Raised {
		n.ResolvedAt = &now
	}
	n.Value = math.Round(100*n.Value) / 100
	return n
}
