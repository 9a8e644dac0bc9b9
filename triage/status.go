package triage

import (
	"slices"

	"github.com/callwright/callwright"
)

// Status is where the work on an issue stands.
type Status string

// The states. The last two are those in which nothing is left to do.
const (
	StatusBacklog    Status = "backlog"
	StatusTodo       Status = "todo"
	StatusInProgress Status = "in_progress"
	StatusInReview   Status = "in_review"
	StatusDone       Status = "done"
	StatusClosed     Status = "closed"
)

// Statuses are all of them, in their order: lists sort by their place.
func Statuses() []Status {
	return []Status{StatusBacklog, StatusTodo, StatusInProgress, StatusInReview, StatusDone, StatusClosed}
}

// Open says whether something is left to do.
func (s Status) Open() bool { return s != StatusDone && s != StatusClosed }

// Event is what moves an issue.
type Event string

// The events. People may set every state by hand; the others are decisions.
const (
	EventAccept  Event = "accept"  // of an issue that waits in the backlog: it is to be worked on
	EventDecline Event = "decline" // of an issue that waits in the backlog: it is not
	EventMerge   Event = "merge"   // another issue goes on in its place
)

// moves is where each event takes an issue from each state in which it is possible.
var moves = map[Event]map[Status]Status{
	EventAccept:  {StatusBacklog: StatusTodo},
	EventDecline: {StatusBacklog: StatusClosed},
	EventMerge: {
		StatusBacklog: StatusClosed, StatusTodo: StatusClosed, StatusInProgress: StatusClosed, StatusInReview: StatusClosed,
		StatusDone: StatusClosed, StatusClosed: StatusClosed,
	},
}

// Move is the state after an event; CodeInvalidState when it is not possible in this one.
func (s Status) Move(e Event) (Status, error) {
	to, ok := moves[e][s]
	if !ok {
		return "", callwright.Errorf(callwright.CodeInvalidState, "an issue that is %s can't be moved by %s", s, e)
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

// SessionStatuses are all of them.
func SessionStatuses() []SessionStatus {
	return []SessionStatus{
		SessionPending, SessionActive, SessionAwaitingInput, SessionComplete, SessionError, SessionCancelled,
	}
}

// sessionMoves is where a session may go from each state.
var sessionMoves = map[SessionStatus][]SessionStatus{
	SessionPending:       {SessionActive, SessionAwaitingInput, SessionComplete, SessionError, SessionCancelled},
	SessionActive:        {SessionAwaitingInput, SessionComplete, SessionError, SessionCancelled},
	SessionAwaitingInput: {SessionActive, SessionComplete, SessionError, SessionCancelled},
}

// Ended says whether the state is final.
func (s SessionStatus) Ended() bool { return len(sessionMoves[s]) == 0 }

// Working says whether an agent in this state has the next word.
func (s SessionStatus) Working() bool { return s == SessionPending || s == SessionActive }

// May says whether a session may go from this state to another, or stay, which one that has ended may not.
func (s SessionStatus) May(to SessionStatus) bool {
	return s == to && !s.Ended() || slices.Contains(sessionMoves[s], to)
}
