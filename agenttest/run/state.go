package run

import (
	"slices"

	"github.com/callwright/callwright"
)

// State is the state of a run or of a group of runs.
type State string

// These constants are the states of a run or a group. The last four are final.
const (
	Pending   State = "PENDING"
	Running   State = "RUNNING"
	Passed    State = "PASSED"
	Failed    State = "FAILED"
	Error     State = "ERROR" // the run failed for a reason other than the agent, and counts neither as passed nor as failed
	Cancelled State = "CANCELLED"
)

// States returns all states, in the order of their declaration.
func States() []State { return []State{Pending, Running, Passed, Failed, Error, Cancelled} }

// Ended reports whether a state is final.
func (s State) Ended() bool { return len(moves[s]) == 0 }

// moves maps each state to the states that may follow it.
var moves = map[State][]State{
	Pending: {Running, Cancelled},
	Running: {Running, Passed, Failed, Error, Cancelled}, // Running to Running: another node has claimed the run
}

// Move returns the new state if s may change to it. Otherwise it returns s and CodeInvalidState.
func (s State) Move(to State) (State, error) {
	if slices.Contains(moves[s], to) {
		return to, nil
	}
	return s, callwright.Errorf(callwright.CodeInvalidState, "a run in state %s cannot become %s", s, to)
}
