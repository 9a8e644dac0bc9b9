package registration

import (
	"fmt"
	"time"

	"github.com/callwright/callwright/sip"
)

// Phase is where a registration stands on the node that keeps it.
type Phase int

// The phases.
const (
	Waiting  Phase = iota // not registered, to be tried at NextAt
	Asking                // not registered, a REGISTER is under way
	Bound                 // registered until ExpiresAt, to be refreshed at NextAt
	Renewing              // registered, a REGISTER is under way
	Denied                // the server does not accept us; to be asked again at NextAt, which is far off
	Gone                  // not this node's
)

// Kind is what happens to a registration.
type Kind int

// The kinds.
const (
	Due     Kind = iota // NextAt has come
	Granted             // the server keeps us
	Refused             // the server does not accept us, and will not soon
	Failed              // no answer, or none for now
	Lost                // the connection that calls come over is gone
	Removed             // the registration is another node's, or nobody's
)

// Event is what happens to a registration, with what there is to say of it.
type Event struct {
	Kind   Kind
	For    time.Duration // Granted: how long the server keeps us
	After  time.Duration // Refused, Failed: the server wants to be left alone for so long; 0: it does not say
	Reason string        // Refused, Failed, Lost
}

// Machine is one registration.
type Machine struct {
	Phase Phase
	sip.Registration
}

// moves are all legal moves. A Lost is no news where there is no binding.
var moves = map[Phase]map[Kind]Phase{
	Waiting:  {Due: Asking, Lost: Waiting, Removed: Gone},
	Asking:   {Granted: Bound, Refused: Denied, Failed: Waiting, Lost: Asking, Removed: Gone},
	Bound:    {Due: Renewing, Lost: Waiting, Removed: Gone},
	Renewing: {Granted: Bound, Refused: Denied, Failed: Bound, Lost: Asking, Removed: Gone},
	Denied:   {Due: Asking, Lost: Denied, Removed: Gone},
	Gone:     {},
}

// states is a phase as the status shows it.
var states = map[Phase]sip.RegistrationState{
	Waiting: sip.Registering, Asking: sip.Registering, Bound: sip.Registered, Renewing: sip.Registered,
	Denied: sip.Refused, Gone: sip.Registering,
}

// Resume takes a registration over from another node, or from a former life of this one: the connection of its binding
// is gone. chance is random, from 0 to 1.
func Resume(r sip.Registration, now time.Time, chance float64) Machine {
	m := Machine{Phase: Waiting, Registration: r}
	switch r.State {
	case sip.Registered:
		m.Phase = Bound
		m, _ = m.Next(Event{Kind: Lost, Reason: r.Reason}, now, chance)
	case sip.Refused:
		m.Phase = Denied
	case sip.Registering:
	}
	return m
}

// Next is the machine after an event. An illegal one leaves it as it is and is an error. chance is random, from 0 to 1:
// many registrations with one server must not come at once.
func (m Machine) Next(e Event, now time.Time, chance float64) (Machine, error) {
	to, ok := moves[m.Phase][e.Kind]
	if !ok {
		return m, fmt.Errorf("registration: event %d in phase %d", e.Kind, m.Phase)
	}
	bound := m.State == sip.Registered
	m.Phase = to
	switch e.Kind {
	case Granted:
		granted := min(e.For, maxGranted)
		m.ExpiresAt, m.NextAt = now.Add(granted), now.Add(refreshAfter(granted))
		m.Failures, m.Reason = 0, ""
	case Refused:
		m.failed(e, now, patience(m.Failures+1, chance))
	case Failed:
		m.failed(e, now, backoff(m.Failures+1, chance))
		switch {
		case m.Phase == Bound && !now.Before(m.ExpiresAt):
			m.Phase = Waiting
		case m.Phase == Bound && m.ExpiresAt.Before(m.NextAt):
			m.NextAt = m.ExpiresAt
		}
	case Lost:
		if bound {
			m.NextAt, m.Reason = now.Add(time.Duration(chance*float64(rejoin))), e.Reason
		}
	case Due, Removed:
	}
	m.show(now)
	return m, nil
}

// failed counts a REGISTER without success.
func (m *Machine) failed(e Event, now time.Time, wait time.Duration) {
	m.Failures++
	m.Reason = e.Reason
	m.NextAt = now.Add(max(wait, min(e.After, maxRetryAfter)))
}

// show brings what the status shows into line with the phase. Asking a server again that has refused us is no news.
func (m *Machine) show(now time.Time) {
	m.NextAt = m.NextAt.Truncate(time.Microsecond) // what databases keep
	if m.Phase != Bound && m.Phase != Renewing {
		m.ExpiresAt = time.Time{}
	}
	state := states[m.Phase]
	if m.Phase == Asking && m.State == sip.Refused {
		state = m.State
	}
	if state != m.State {
		m.State, m.Since = state, now
	}
}

// The times of a registration.
const (
	maxGranted    = 24 * time.Hour
	rejoin        = 2 * time.Second  // a lost connection is made again within this
	firstBackoff  = time.Second      // doubled with every failure
	maxBackoff    = 5 * time.Minute  //
	firstPatience = 5 * time.Minute  // with a server that refuses us; doubled with every refusal
	maxPatience   = 30 * time.Minute //
	maxRetryAfter = time.Hour        // whatever the server asks for
)

// refreshAfter is when a binding is refreshed: early enough for several attempts.
func refreshAfter(granted time.Duration) time.Duration {
	return max(granted*85/100, time.Second)
}

// backoff is the wait after a failure, at least half of the time that belongs to it (RFC 5626, 4.5).
func backoff(failures int, chance float64) time.Duration {
	d := doubled(firstBackoff, maxBackoff, failures)
	return d/2 + time.Duration(chance*float64(d/2))
}

// patience is the wait after a refusal.
func patience(failures int, chance float64) time.Duration {
	d := doubled(firstPatience, maxPatience, failures)
	return min(d+time.Duration(chance*float64(d/10)), maxPatience)
}

func doubled(first, most time.Duration, failures int) time.Duration {
	const enough = 10 // doublings, and no overflow
	return min(first<<min(max(failures-1, 0), enough), most)
}
