package tornado

import (
	"context"
	"time"

	"github.com/callwright/callwright"
)

// ErrActive reports that the pathway already has a running session.
var ErrActive = &callwright.Error{
	Code: callwright.CodeConflict, Field: "pathway_id", Message: "has a running session already: cancel it, or wait until it ends",
}

// Store stores sessions and their journals. agenttesttest.RunSessionStore tests it.
//
// Returned values share no memory with the store. They equal the stored values: times are in UTC with microseconds, a nil list stays nil,
// texts may contain any characters, U+0000 included, and answers of steps stay equal byte for byte. The session of another organization
// counts as absent. Limits, Progress and the answers of steps are encrypted at rest, because they contain speech of agents and people.
// Methods take part in the transaction of ctx: see callwright.Atomic.
type Store interface {
	// InsertSession adds a session and sets its Revision to 1. The error is CodeConflict without a field if the id exists in any
	// organization. It is ErrActive if s is Running and the organization's pathway already has a Running session, with or without a Node or
	// Cancel. Of concurrent calls for a pathway, exactly one succeeds.
	InsertSession(ctx context.Context, s Session) error
	// Session returns one session. The error is CodeNotFound if it is absent.
	Session(ctx context.Context, org callwright.OrgID, id string) (Session, error)
	// FindSessions returns the sessions that match f, in descending order of (CreatedAt, ID).
	FindSessions(ctx context.Context, org callwright.OrgID, f Filter) ([]Session, error)
	// UpdateSession replaces Progress, Usage, Node and EndedAt of a session whose stored Revision is s.Revision, and increments the
	// Revision. The error is CodeNotFound if the session is absent. It is CodeConflict if the Revision differs, or if s is Running although
	// the stored session has ended. Other changes of an ended session are allowed. Of concurrent calls with the same Revision, exactly one
	// succeeds.
	UpdateSession(ctx context.Context, s Session) error
	// CancelSession sets Cancel of a Running session. It leaves the Revision unchanged, so that the node that holds the session can still
	// store its end. Repeated calls have no effect. The error is CodeInvalidState if the session has ended, and CodeNotFound if it is
	// absent.
	CancelSession(ctx context.Context, org callwright.OrgID, id string) error

	// WaitingSessions returns at most limit sessions of all organizations that are Running without a Node, in ascending order of
	// (CreatedAt, ID).
	WaitingSessions(ctx context.Context, limit int) ([]Session, error)
	// AbandonedSessions returns at most limit sessions of all organizations that are Running without a Node, or on a Node that the
	// parameter alive does not list. Their order is ascending by (CreatedAt, ID).
	AbandonedSessions(ctx context.Context, alive []string, limit int) ([]Session, error)
	// CancelledSessions returns the ids of the sessions of all organizations that are Running on this Node with Cancel set, in any order.
	// An empty node selects sessions without a Node.
	CancelledSessions(ctx context.Context, node string) ([]string, error)
	// AppendStep adds step number n (0, 1, ...) to the journal of a session, and leaves the session's Revision unchanged. The step is
	// durable when AppendStep returns. The error is CodeNotFound if the session is absent. It is CodeConflict if the journal contains a
	// step with this number, or if the session is not Running on the given node. node is never empty. Of concurrent calls with the same
	// number, exactly one succeeds.
	AppendStep(ctx context.Context, org callwright.OrgID, session, node string, n int, step Step) error
	// Steps returns the journal of a session in the order of the numbers, even after the end of the session. An absent session has no
	// steps.
	Steps(ctx context.Context, org callwright.OrgID, session string) ([]Step, error)
	// DeleteSteps deletes the journal of a session, so that its numbers may be used again. It returns nil if the session is absent.
	DeleteSteps(ctx context.Context, org callwright.OrgID, session string) error
	// DeleteSessions deletes at most limit sessions of all organizations that ended before the given time, with their journals. It returns
	// the number of deleted sessions.
	DeleteSessions(ctx context.Context, before time.Time, limit int) (int, error)
}

// Filter selects a page of sessions that meet all of its conditions. A zero condition accepts every session.
type Filter struct {
	Pathway string
	Persona string
	States  []State           // allowed states; empty allows all
	After   callwright.Keyset // (CreatedAt, ID) of the last session of the previous page
	Limit   int               // maximum number of sessions; 0 selects none
}
