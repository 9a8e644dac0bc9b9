package registration

import (
	"fmt"
	"time"

	"github.com/callwright/callwright/sip"
)

// Phase is the state of a registration on the node that holds it.
type Phase int

// The phases.
const (
	Waiting     Phase = iota // not registered; REGISTER is due at NextAt
	Registering              // not registered; a REGISTER is under way
	Bound                    // registered until ExpiresAt; the refresh is due at NextAt
	Refreshing               // registered; a REGISTER is under way
	Denied                   // refused by the server; the retry is due at NextAt, after a long wait
	Ended                    // given up by this node
)

// Kind is the kind of an event.
type Kind int

// The kinds.
const (
	Due     Kind = iota // NextAt has come
	Granted             // the server has accepted the binding
	Refused             // the server has refused permanently
	Failed              // no response, or a temporary refusal
	Lost                // the binding's connection is lost
	Removed             // the registration was deleted, or belongs to another node
)

// Event is something that happens to a registration.
type Event struct {
	Kind   Kind
	For    time.Duration // Granted: lifetime of the binding
	After  time.Duration // Refused, Failed: the server's Retry-After; 0: none
	Reason string        // Refused, Failed, Lost
}

// Machine is the state machine of one registration. It is immutable: Next returns a new one.
type Machine struct {
	Phase Phase
	sip.Registration
}

// moves is the transition table. Without a binding, Lost changes nothing.
var moves = map[Phase]map[Kind]Phase{
	Waiting:     {Due: Registering, Lost: Waiting, Removed: Ended},
	Registering: {Granted: Bound, Refused: Denied, Failed: Waiting, Lost: Registering, Removed: Ended},
	Bound:       {Due: Refreshing, Lost: Waiting, Removed: Ended},
	Refreshing:  {Granted: Bound, Refused: Denied, Failed: Bound, Lost: Registering, Removed: Ended},
	Denied:      {Due: Registering, Lost: Denied, Removed: Ended},
	Ended:       {},
}

// states maps phases to the states of the trunk's status.
var states = map[Phase]sip.RegistrationState{
	Waiting: sip.Registering, Registering: sip.Registering, Bound: sip.Registered, Refreshing: sip.Registered,
	Denied: sip.Refused, Ended: sip.Registering,
}

// Resume returns the machine of a stored registration, from another node or from before a restart: the connection of its
// binding is lost. chance is a random number from 0 to 1.
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

// Next returns the machine after an event. An illegal event is an error and changes nothing. chance is a random number
// from 0 to 1 that spreads registrations with the same server over time.
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
		m.failed(e, now, timeout(m.Failures+1, chance))
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

// show updates the status to the phase. A retry after a refusal keeps the status Refused.
func (m *Machine) show(now time.Time) {
	m.NextAt = m.NextAt.Truncate(time.Microsecond) // as databases do
	if m.Phase != Bound && m.Phase != Refreshing {
		m.ExpiresAt = time.Time{}
	}
	state := states[m.Phase]
	if m.Phase == Registering && m.State == sip.Refused {
		state = m.State
	}
	if state != m.State {
		m.State, m.Since = state, now
	}
}

// The times of a registration.
const (
	maxGranted    = 24 * time.Hour
	rejoin        = 2 * time.Second  // the longest wait after a lost connection
	firstBackoff  = time.Second      // after a failure; doubled with each further one
	maxBackoff    = 5 * time.Minute  //
	firstPatience = 5 * time.Minute  // after a refusal; doubled with each further one
	maxPatience   = 30 * time.Minute //
	maxRetryAfter = time.Hour        // the longest Retry-After that is honored
)

// refreshAfter returns the time until a refresh, which leaves room for several attempts.
func refreshAfter(granted time.Duration) time.Duration {
	return max(granted*85/100, time.Second)
}

// backoff returns the wait after a failure, at random from half to all of its time (RFC 5626, 4.5).
func backoff(failures int, chance float64) time.Duration {
	d := doubled(firstBackoff, maxBackoff, failures)
	return d/2 + time.Duration(chance*float64(d/2))
}

// timeout returns the wait after a refusal.
func timeout(failures int, chance float64) time.Duration {
	d := doubled(firstPatience, maxPatience, failures)
	return min(d+time.Duration(chance*float64(d/10)), maxPatience)
}

func doubled(first, most time.Duration, failures int) time.Duration {
	const enough = 10 // doublings, and no overflow
	return min(first<<min(max(failures-1, 0), enough), most)
}
