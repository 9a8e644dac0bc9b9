package agenttest

import (
	"slices"

	"github.com/callwright/callwright"
)

// State is the state of a run, of a batch and of a simulation set.
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

// move returns the next state; CodeInvalidState for an illegal move.
func (s State) move(to State) (State, error) {
	if slices.Contains(moves[s], to) {
		return to, nil
	}
	return s, callwright.Errorf(callwright.CodeInvalidState, "what is %s cannot become %s", s, to)
}
