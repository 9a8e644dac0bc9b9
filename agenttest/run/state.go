package run

import (
	"slices"

	"github.com/callwright/callwright"
)

// State is the state of a run, and of a group of runs.
type State string

// The states. The last four are final.
const (
	Pending   State = "PENDING"
	Running   State = "RUNNING"
	Passed    State = "PASSED"
	Failed    State = "FAILED"
	Error     State = "ERROR" // something other than the agent was at fault: it counts neither as passed nor as failed
	Cancelled State = "CANCELLED"
)

// States returns all states.
func States() []State { return []State{Pending, Running, Passed, Failed, Error, Cancelled} }

// Ended reports whether a state is final.
func (s State) Ended() bool { return len(moves[s]) == 0 }

// moves maps each state to the states that can follow.
var moves = map[State][]State{
	Pending: {Running, Cancelled},
	Running: {Running, Passed, Failed, Error, Cancelled}, // to itself: another node has taken over
}

// Move returns the state that follows; CodeInvalidState: the step is not allowed.
func (s State) Move(to State) (State, error) {
	if slices.Contains(moves[s], to) {
		return to, nil
	}
	return s, callwright.Errorf(callwright.CodeInvalidState, "what is %s cannot become %s", s, to)
}
