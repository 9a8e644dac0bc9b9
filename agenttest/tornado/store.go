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

// Store keeps sessions and their journals. agenttesttest.RunSessionStore tests one.
//
// Returned values share no memory with the store. Another organization's session looks absent. Limits, Progress and the answers of
// steps are encrypted at rest: they hold what agents say and what people said.
type Store interface {
	// InsertSession adds a session with Revision 1. CodeConflict: its id is taken. ErrActive: the pathway has a session that is
	// Running; of concurrent calls for a pathway exactly one succeeds.
	InsertSession(ctx context.Context, s Session) error
	// Session returns one session. CodeNotFound: it is absent.
	Session(ctx context.Context, org callwright.OrgID, id string) (Session, error)
	// FindSessions returns the sessions that f chooses, newest first.
	FindSessions(ctx context.Context, org callwright.OrgID, f Filter) ([]Session, error)
	// UpdateSession replaces a session whose stored Revision is s.Revision, and adds one to that. CodeConflict: the Revision
	// differs, or s is Running although the stored session has ended. CodeNotFound: it is absent. Only Progress, Usage, Node and
	// EndedAt are replaced.
	UpdateSession(ctx context.Context, s Session) error
	// CancelSession sets Cancel of a session that is Running, and leaves its Revision: the node that holds it still stores its
	// end. CodeInvalidState: it has ended. CodeNotFound: it is absent.
	CancelSession(ctx context.Context, org callwright.OrgID, id string) error

	// WaitingSessions returns sessions of all organizations that are Running, and have no Node, oldest first, at most limit.
	WaitingSessions(ctx context.Context, limit int) ([]Session, error)
	// AbandonedSessions returns sessions of all organizations that are Running on a node that is not among alive, or have no
	// Node, oldest first, at most limit.
	AbandonedSessions(ctx context.Context, alive []string, limit int) ([]Session, error)
	// CancelledSessions returns the ids of the sessions that are Running on a node and have Cancel.
	CancelledSessions(ctx context.Context, node string) ([]string, error)
	// AppendStep adds the step with number n, 0, 1, ..., to the journal of a session. It is stored when AppendStep returns.
	// CodeConflict: the journal has a step with this number, or the session is not Running on this node. CodeNotFound: the
	// session is absent.
	AppendStep(ctx context.Context, org callwright.OrgID, session, node string, n int, step Step) error
	// Steps returns the journal of a session by number; that of an absent session is empty.
	Steps(ctx context.Context, org callwright.OrgID, session string) ([]Step, error)
	// DeleteSteps removes the journal of a session.
	DeleteSteps(ctx context.Context, org callwright.OrgID, session string) error
	// DeleteSessions removes at most limit sessions that ended before a time, with their journals, and returns how many.
	DeleteSessions(ctx context.Context, before time.Time, limit int) (int, error)
}

// Filter chooses a page of sessions; the zero Filter chooses all. All conditions must hold.
type Filter struct {
	Pathway string
	Persona string
	States  []State           // any of these; empty: any
	After   callwright.Keyset // (CreatedAt, ID) of the last session of the page before
	Limit   int
}
