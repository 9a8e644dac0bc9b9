package tornado

import (
	"context"
	"time"

	"github.com/callwright/callwright"
)

// ErrActive is the error of a second session on a pathway.
var ErrActive = &callwright.Error{
	Code: callwright.CodeConflict, Field: "pathway_id", Message: "has a running session already: cancel it, or wait for its end",
}

// Store stores sessions and their journals. agenttesttest.RunSessionStore tests it.
//
// Returned values share no memory with the store. They equal what was stored: times are in UTC with microseconds, a nil list stays
// nil, texts may hold any characters, U+0000 included, and answers of steps stay equal byte for byte. Another organization's
// session looks absent. Limits, Progress and the answers of steps are encrypted at rest: they contain speech of agents and people.
// Methods take part in the transaction of ctx: see callwright.Atomic.
type Store interface {
	// InsertSession adds a session with Revision 1, regardless of s. CodeConflict without a field: its id exists in any
	// organization. ErrActive: s is Running, and so is another session on the organization's pathway, with or without a Node or
	// Cancel. Exactly one of concurrent calls for a pathway succeeds.
	InsertSession(ctx context.Context, s Session) error
	// Session returns one session. CodeNotFound: it is absent.
	Session(ctx context.Context, org callwright.OrgID, id string) (Session, error)
	// FindSessions returns the sessions that f selects, in descending order of (CreatedAt, ID).
	FindSessions(ctx context.Context, org callwright.OrgID, f Filter) ([]Session, error)
	// UpdateSession replaces a session whose stored Revision is s.Revision, and increments it. CodeConflict: the Revision differs,
	// or s is Running although the stored session has ended; exactly one of concurrent calls with the same Revision succeeds. Other
	// changes of an ended session are allowed. CodeNotFound: it is absent. Only Progress, Usage, Node and EndedAt are replaced.
	UpdateSession(ctx context.Context, s Session) error
	// CancelSession sets Cancel of a session that is Running, but not its Revision: the node that holds it still stores its end. A
	// repeated call changes nothing. CodeInvalidState: it has ended. CodeNotFound: it is absent.
	CancelSession(ctx context.Context, org callwright.OrgID, id string) error

	// WaitingSessions returns sessions of all organizations that are Running without a Node, in ascending order of (CreatedAt, ID),
	// at most limit.
	WaitingSessions(ctx context.Context, limit int) ([]Session, error)
	// AbandonedSessions returns sessions of all organizations that are Running on a node that is not in alive, or without a Node,
	// in ascending order of (CreatedAt, ID), at most limit.
	AbandonedSessions(ctx context.Context, alive []string, limit int) ([]Session, error)
	// CancelledSessions returns the ids of the sessions of all organizations that are Running on this Node and have Cancel, in any
	// order. An empty node stands for sessions without a Node.
	CancelledSessions(ctx context.Context, node string) ([]string, error)
	// AppendStep adds the step with number n, 0, 1, ..., to the journal of a session, but does not change the session's Revision.
	// The step is durable when AppendStep returns. CodeConflict: the journal has a step with this number, or the session is not
	// Running on this node, which is never empty; exactly one of concurrent calls with a number succeeds. CodeNotFound: the session
	// is absent.
	AppendStep(ctx context.Context, org callwright.OrgID, session, node string, n int, step Step) error
	// Steps returns the journal of a session by number, also after the end of the session; an absent session has no steps.
	Steps(ctx context.Context, org callwright.OrgID, session string) ([]Step, error)
	// DeleteSteps deletes the journal of a session, and so frees its numbers. An absent session is no error.
	DeleteSteps(ctx context.Context, org callwright.OrgID, session string) error
	// DeleteSessions deletes at most limit sessions of all organizations that ended before a time, with their journals, and returns
	// their number.
	DeleteSessions(ctx context.Context, before time.Time, limit int) (int, error)
}

// Filter selects a page of sessions; the zero Filter selects all. All conditions must hold.
type Filter struct {
	Pathway string
	Persona string
	States  []State           // any of these; empty: any
	After   callwright.Keyset // (CreatedAt, ID) of the last session of the previous page
	Limit   int               // at most; 0: none
}
