package porting

import (
	"slices"
	"time"

	"github.com/callwright/callwright"
)

// NumberState is the state of one number of a request.
type NumberState string

// The states of a number. The last three are final.
const (
	NumberPending    NumberState = "pending"       // the letter is not signed
	NumberSubmitted  NumberState = "submitted"     // signed, but not yet accepted by the losing carrier
	NumberInProgress NumberState = "in_progress"   // the losing carrier processes it
	NumberConfirmed  NumberState = "foc_confirmed" // the losing carrier has confirmed a date (FOC)
	NumberPorted     NumberState = "ported"
	NumberRejected   NumberState = "rejected"
	NumberCanceled   NumberState = "canceled"
)

// NumberStates returns every NumberState, in the order of the constants.
func NumberStates() []NumberState {
	return []NumberState{
		NumberPending, NumberSubmitted, NumberInProgress, NumberConfirmed, NumberPorted, NumberRejected, NumberCanceled,
	}
}

// numberMoves maps each state of a number to the states that may follow. Final states have no entry.
var numberMoves = map[NumberState][]NumberState{
	NumberPending:    {NumberSubmitted, NumberCanceled},
	NumberSubmitted:  {NumberInProgress, NumberConfirmed, NumberPorted, NumberRejected, NumberCanceled},
	NumberInProgress: {NumberConfirmed, NumberPorted, NumberRejected, NumberCanceled},
	NumberConfirmed:  {NumberInProgress, NumberPorted, NumberRejected, NumberCanceled}, // a withdrawn date leads back to NumberInProgress
}

// Ended reports whether a state is final.
func (s NumberState) Ended() bool {
	return s == NumberPorted || s == NumberRejected || s == NumberCanceled
}

// CanBecome reports whether a number may move from s to another state. It returns false if both are equal.
func (s NumberState) CanBecome(to NumberState) bool { return slices.Contains(numberMoves[s], to) }

// Number is a number of a request and its progress.
type Number struct {
	Number   callwright.PhoneNumber
	State    NumberState
	PIN      callwright.Secret // PIN at the losing carrier; encrypted at rest, never shown, erased when the request ends
	HasPIN   bool              // a PIN was supplied; stays set after PIN is erased
	Failure  *Failure          // reason why it was rejected, is delayed, or is not registered; may be nil
	FOC      time.Time         // time at which the losing carrier releases it; zero if not confirmed
	PortedAt time.Time         // zero if not ported
	Inbound  Registration
}

// Registration describes whether a ported number receives inbound calls.
type Registration string

// The registrations. Only Registered numbers receive calls.
const (
	NotRegistered     Registration = ""                // not yet
	Registered        Registration = "registered"      // calls to the number are answered
	WaitsForTrunk     Registration = "waits_for_trunk" // calls to the number are answered once an inbound trunk is attached to it
	Released          Registration = "released"        // the operator has taken the number from the organization
	RegistrationTaken Registration = "conflict"        // another organization has registered the number: the operator must act
)

// Outcome returns the event that ends a request whose numbers have these states: Ported if any number is ported, otherwise Rejected if any
// is rejected, otherwise Withdrawn. The bool is false if states is empty or a number has not ended.
func Outcome(states []NumberState) (Event, bool) {
	ported, rejected := false, false
	for _, s := range states {
		if !s.Ended() {
			return "", false
		}
		ported = ported || s == NumberPorted
		rejected = rejected || s == NumberRejected
	}
	switch {
	case len(states) == 0:
		return "", false
	case ported:
		return Ported, true
	case rejected:
		return Rejected, true
	}
	return Withdrawn, true
}
