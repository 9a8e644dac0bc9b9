package run

import (
	"context"

	"github.com/callwright/callwright"
	"github.com/callwright/callwright/agenttest/engine"
)

// Group contains the data of a group that its runs need.
type Group struct {
	Budget          engine.Limit // limit of all its runs together
	Spend           engine.Spend // spending of its ended runs
	Cancel          bool         // its running runs must end as Cancelled
	ReportsFailures bool         // the group itself reports the failures of its runs, after its end
}

// Groups counts the runs of groups. Package group implements it. Methods take part in the transaction of ctx.
type Groups interface {
	// Group returns a group, or CodeNotFound if the group is absent.
	Group(ctx context.Context, org callwright.OrgID, id string) (Group, error)
	// Hold locks a group until the transaction of ctx ends. It returns CodeNotFound if the group is absent. It must be called in a
	// transaction.
	Hold(ctx context.Context, org callwright.OrgID, id string) error
	// Free returns the number of runs of a group that may start now. It locks a group that has limits, so that other nodes do not count its
	// runs or its spending concurrently. It must be called in a transaction.
	Free(ctx context.Context, org callwright.OrgID, id string) (int, error)
	// Ended counts an ended run in its group, which may finish the group, and returns the group. refused reports that the budget of the
	// group refused the run. Ended must be called in a transaction, and once for each run.
	Ended(ctx context.Context, r Run, refused bool) (Group, error)
}
