package run

import (
	"context"

	"github.com/callwright/callwright"
	"github.com/callwright/callwright/agenttest/engine"
)

// Group is what the runs of a group need to know of it.
type Group struct {
	Budget engine.Limit // of all its runs together
	Spend  engine.Spend // of its runs that have ended
	Cancel bool         // its runs that are under way are to end as Cancelled
	Quiet  bool         // it tells the failures of its runs itself, once it has ended
}

// Groups knows the groups of runs; package group implements it. Methods take part in the transaction of ctx.
type Groups interface {
	// Group returns a group. CodeNotFound: it is absent.
	Group(ctx context.Context, org callwright.OrgID, id string) (Group, error)
	// Hold locks a group until the transaction of ctx ends. CodeNotFound: it is absent. It is only called in a transaction.
	Hold(ctx context.Context, org callwright.OrgID, id string) error
	// Free returns how many runs of a group may begin now, and locks a group that limits them, so that no other node counts its runs
	// or its spending at the same time. It is only called in a transaction.
	Free(ctx context.Context, org callwright.OrgID, id string) (int, error)
	// Ended counts a run that has ended in its group, which may end with it, and returns the group. refused: the budget of the group
	// has refused the run. It is only called in a transaction, and once for each run.
	Ended(ctx context.Context, r Run, refused bool) (Group, error)
}
