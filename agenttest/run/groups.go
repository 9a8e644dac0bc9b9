package run

import (
	"context"

	"github.com/callwright/callwright"
	"github.com/callwright/callwright/agenttest/engine"
)

// Group contains the facts of a group that its runs need.
type Group struct {
	Budget          engine.Limit // of all its runs together
	Spend           engine.Spend // of its runs that have ended
	Cancel          bool         // its running runs have to end as Cancelled
	ReportsFailures bool         // it reports the failures of its runs after its end, by itself
}

// Groups counts the runs of groups; package group implements it. Methods take part in the transaction of ctx.
type Groups interface {
	// Group returns a group. CodeNotFound: it is absent.
	Group(ctx context.Context, org callwright.OrgID, id string) (Group, error)
	// Hold locks a group until the transaction of ctx ends. CodeNotFound: it is absent. It is only called in a transaction.
	Hold(ctx context.Context, org callwright.OrgID, id string) error
	// Free returns the number of runs of a group that may begin now. It locks a group with limits, so that no other node counts its
	// runs or its spending at the same time. It is only called in a transaction.
	Free(ctx context.Context, org callwright.OrgID, id string) (int, error)
	// Ended counts an ended run in its group, which may end with it, and returns the group. refused: the budget of the group has
	// refused the run. It is only called in a transaction, and once for each run.
	Ended(ctx context.Context, r Run, refused bool) (Group, error)
}
