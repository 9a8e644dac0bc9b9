package registration

import (
	"fmt"
	"time"

	"github.com/callwright/callwright/sip"
)

// Phase is the state of a registration on the node to which it belongs.
type Phase int

// The phases of a registration.
const (
	Waiting     Phase = iota // not registered; REGISTER is due at NextAt
	Registering              // not registered; a REGISTER is in progress
	Bound                    // registered until ExpiresAt; a refresh is due at NextAt
	Refreshing               // registered; a REGISTER is in progress
	Denied                   // refused by the server; a retry is due at NextAt, after a long wait
	Ended                    // no longer maintained by this node
)

// Kind distinguishes the events of a registration.
type Kind int

// The kinds of a registration's events.
const (
	Due     Kind = iota // NextAt has passed
	Granted             // the server has accepted the binding
	Refused             // the server has refused permanently
	Failed              // no response, or a temporary refusal
	Lost                // the binding's connection is lost
	Removed             // the registration was deleted, or belongs to another node
)

// Event is an event that changes the state of a registration.
type Event struct {
	Kind   Kind
	For    time.Duration // for Granted: lifetime of the binding
	After  time.Duration // for Refused and Failed: the server's Retry-After; 0 if absent
	Reason string        // for Refused, Failed and Lost
}

// Machine is the state machine of one registration. It is an immutable value: Next returns a new Machine.
type Machine struct {
	Phase Phase
	sip.Registration
}

// moves is the transition table. In phases without a binding, Lost changes nothing.
var moves = map[Phase]map[Kind]Phase{
	Waiting:     {Due: Registering, Lost: Waiting, Removed: Ended},
	Registering: {Granted: Bound, Refused: Denied, Failed: Waiting, Lost: Registering, Removed: Ended},
	Bound:       {Due: Refreshing, Lost: Waiting, Removed: Ended},
	Refreshing:  {Granted: Bound, Refused: Denied, Failed: Bound, Lost: Registering, Removed: Ended},
	Denied:      {Due: Registering, Lost: Denied, Removed: Ended},
	Ended:       {},
}

// states maps phases to the stored states of a registration.
var states = map[Phase]sip.RegistrationState{
	Waiting: sip.Registering, Registering: sip.Registering, Bound: sip.Registered, Refreshing: sip.Registered,
	Denied: sip.Refused, Ended: sip.Registering,
}

// Resume returns the machine of a stored registration of another node, or of this node before a restart. In both cases the connection of
// its binding is lost. chance is a random number from 0 to 1.
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

// Next returns the machine after an event. If the event is illegal, Next returns an error and the unchanged machine. chance is a random
// number from 0 to 1 that spreads the registrations with a server over time.
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

// failed counts an unsuccessful REGISTER, and schedules the next one after wait or the server's Retry-After, whichever is longer.
func (m *Machine) failed(e Event, now time.Time, wait time.Duration) {
	m.Failures++
	m.Reason = e.Reason
	m.NextAt = now.Add(max(wait, min(e.After, maxRetryAfter)))
}

// show updates State, Since and ExpiresAt to the phase. During a retry after a refusal, State remains sip.Refused.
func (m *Machine) show(now time.Time) {
	m.NextAt = m.NextAt.Truncate(time.Microsecond) // the precision of databases
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

// The times and limits of a registration.
const (
	maxGranted    = 24 * time.Hour
	rejoin        = 2 * time.Second  // maximum wait after a lost connection
	firstBackoff  = time.Second      // maximum wait after the first failure; doubles with each further one
	maxBackoff    = 5 * time.Minute  // maximum wait after further failures
	firstPatience = 5 * time.Minute  // minimum wait after the first refusal; doubles with each further one
	maxPatience   = 30 * time.Minute // maximum wait after further refusals
	maxRetryAfter = time.Hour        // longer Retry-Afters are shortened to this
)

// refreshAfter returns the time until the refresh of a binding: 85 percent of its lifetime, which leaves time for several attempts.
func refreshAfter(granted time.Duration) time.Duration {
	return max(granted*85/100, time.Second)
}

// backoff returns the wait after a number of consecutive failures: a random time from half to all of the doubled base (RFC 5626, section
// 4.5).
func backoff(failures int, chance float64) time.Duration {
	d := doubled(firstBackoff, maxBackoff, failures)
	return d/2 + time.Duration(chance*float64(d/2))
}

// timeout returns the wait after a number of consecutive failures, of which the last was a refusal. It is random, up to 10 percent above
// the doubled base.
func timeout(failures int, chance float64) time.Duration {
	d := doubled(firstPatience, maxPatience, failures)
	return min(d+time.Duration(chance*float64(d/10)), maxPatience)
}

func doubled(first, most time.Duration, failures int) time.Duration {
	const enough = 10 // doublings that reach any limit without an overflow
	return min(first<<min(max(failures-1, 0), enough), most)
}
