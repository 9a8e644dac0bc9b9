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
	NumberSubmitted  NumberState = "submitted"     // on its way to the carrier
	NumberInProgress NumberState = "in_progress"   // the losing carrier processes it
	NumberConfirmed  NumberState = "foc_confirmed" // the losing carrier has confirmed a date (FOC)
	NumberPorted     NumberState = "ported"
	NumberRejected   NumberState = "rejected"
	NumberCanceled   NumberState = "canceled"
)

// NumberStates returns all states of a number.
func NumberStates() []NumberState {
	return []NumberState{
		NumberPending, NumberSubmitted, NumberInProgress, NumberConfirmed, NumberPorted, NumberRejected, NumberCanceled,
	}
}

// numberMoves maps each state of a number to the states that can follow.
var numberMoves = map[NumberState][]NumberState{
	NumberPending:    {NumberSubmitted, NumberCanceled},
	NumberSubmitted:  {NumberInProgress, NumberConfirmed, NumberPorted, NumberRejected, NumberCanceled},
	NumberInProgress: {NumberConfirmed, NumberPorted, NumberRejected, NumberCanceled},
	NumberConfirmed:  {NumberInProgress, NumberPorted, NumberRejected, NumberCanceled}, // back: the date was withdrawn
}

// Ended reports whether a state is final.
func (s NumberState) Ended() bool {
	return s == NumberPorted || s == NumberRejected || s == NumberCanceled
}

// CanBecome reports whether another state can follow.
func (s NumberState) CanBecome(to NumberState) bool { return slices.Contains(numberMoves[s], to) }

// Number is a number of a request and its progress.
type Number struct {
	Number   callwright.PhoneNumber
	State    NumberState
	PIN      callwright.Secret // of the losing carrier; encrypted at rest, never shown, erased when the request ends
	HasPIN   bool              // a PIN was given
	Failure  *Failure          // reason of its rejection or, before, of its delay; nil: none
	FOC      time.Time         // when the losing carrier has confirmed to release it; zero: not confirmed
	PortedAt time.Time         // zero: it is not ported
	Inbound  Registration
}

// Registration is the registration of a ported number for inbound calls.
type Registration string

// The outcomes of a registration.
const (
	NotRegistered     Registration = ""                // not yet
	Registered        Registration = "registered"      // calls to the number are answered
	WaitsForTrunk     Registration = "waits_for_trunk" // calls to the number are answered once an inbound trunk is attached to it
	Released          Registration = "released"        // the operator has taken the number from the organization
	RegistrationTaken Registration = "conflict"        // another organization has registered the number: the operator must act
)

// Outcome returns the event with which a request whose numbers have these states ends: Ported, Rejected or Withdrawn. The bool is
// false while a number has not ended.
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
