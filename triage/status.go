package triage

import (
	"slices"

	"github.com/callwright/callwright"
)

// Status is the state of the work on an issue.
type Status string

// The states of an issue. In the last two, no work is left.
const (
	StatusBacklog    Status = "backlog"
	StatusTodo       Status = "todo"
	StatusInProgress Status = "in_progress"
	StatusInReview   Status = "in_review"
	StatusDone       Status = "done"
	StatusClosed     Status = "closed"
)

// Statuses lists all states in order. Lists that are sorted by status use their indexes.
func Statuses() []Status {
	return []Status{StatusBacklog, StatusTodo, StatusInProgress, StatusInReview, StatusDone, StatusClosed}
}

// Open reports whether work is left to do.
func (s Status) Open() bool { return s != StatusDone && s != StatusClosed }

// Event is a decision that moves an issue to another state.
type Event string

// The values of Event. Users may also set any state without an event.
const (
	EventAccept  Event = "accept"  // accepts an issue of the backlog
	EventDecline Event = "decline" // declines an issue of the backlog
	EventMerge   Event = "merge"   // closes the issue as a duplicate of another
)

// moves maps an event and the current state to the next state. Other combinations are illegal.
var moves = map[Event]map[Status]Status{
	EventAccept:  {StatusBacklog: StatusTodo},
	EventDecline: {StatusBacklog: StatusClosed},
	EventMerge: {
		StatusBacklog: StatusClosed, StatusTodo: StatusClosed, StatusInProgress: StatusClosed, StatusInReview: StatusClosed,
		StatusDone: StatusClosed, StatusClosed: StatusClosed,
	},
}

// Move returns the state after an event. It returns CodeInvalidState if the event is illegal in state s.
func (s Status) Move(e Event) (Status, error) {
	to, ok := moves[e][s]
	if !ok {
		return "", callwright.Errorf(callwright.CodeInvalidState, "an issue in state %s does not allow the event %s", s, e)
	}
	return to, nil
}

// SessionStatus is the state of an agent session.
type SessionStatus string

// The states of a session. The last three are final.
const (
	SessionPending       SessionStatus = "pending"
	SessionActive        SessionStatus = "active"
	SessionAwaitingInput SessionStatus = "awaiting_input"
	SessionComplete      SessionStatus = "complete"
	SessionError         SessionStatus = "error"
	SessionCancelled     SessionStatus = "cancelled"
)

// SessionStatuses lists all states.
func SessionStatuses() []SessionStatus {
	return []SessionStatus{
		SessionPending, SessionActive, SessionAwaitingInput, SessionComplete, SessionError, SessionCancelled,
	}
}

// sessionMoves lists the legal next states of each state.
var sessionMoves = map[SessionStatus][]SessionStatus{
	SessionPending:       {SessionActive, SessionAwaitingInput, SessionComplete, SessionError, SessionCancelled},
	SessionActive:        {SessionAwaitingInput, SessionComplete, SessionError, SessionCancelled},
	SessionAwaitingInput: {SessionActive, SessionComplete, SessionError, SessionCancelled},
}

// Ended reports whether the state is final.
func (s SessionStatus) Ended() bool { return len(sessionMoves[s]) == 0 }

// Working reports whether the agent must act next.
func (s SessionStatus) Working() bool { return s == SessionPending || s == SessionActive }

// May reports whether a session may move from state s to another state, or stay in s. An ended session may do neither.
func (s SessionStatus) May(to SessionStatus) bool {
	return s == to && !s.Ended() || slices.Contains(sessionMoves[s], to)
}
