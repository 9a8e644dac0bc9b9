package group

import (
	"context"

	"github.com/callwright/callwright"
	"github.com/callwright/callwright/agenttest/run"
)

// Store stores groups of runs. See agenttest.Store for the requirements of all stores of this domain.
type Store interface {
	// InsertBatch adds a group with Revision 1, regardless of b.Revision. It returns CodeConflict if the id exists.
	InsertBatch(ctx context.Context, b Batch) error
	// Batch returns one group, or CodeNotFound if the group is absent.
	Batch(ctx context.Context, org callwright.OrgID, id string) (Batch, error)
	// UpdateBatch replaces a group whose stored Revision is b.Revision, and increments the stored Revision. It returns CodeConflict if the
	// Revision differs, and CodeNotFound if the group is absent.
	UpdateBatch(ctx context.Context, b Batch) error
	// AddCounts adds to the sums of a group (Counts, Usage, Spend), increments its Revision and returns the new group. It locks the group
	// until the transaction of ctx ends, so that concurrent calls wait and none is lost. It returns CodeNotFound if the group is absent. It
	// must be called in a transaction.
	AddCounts(ctx context.Context, org callwright.OrgID, id string, more Sums) (Batch, error)
	// FindBatches returns the groups that f selects, in descending order of (CreatedAt, ID).
	FindBatches(ctx context.Context, org callwright.OrgID, f Filter) ([]Listed, error)
	// CountBatches returns the number of groups that f selects, regardless of Offset and Limit.
	CountBatches(ctx context.Context, org callwright.OrgID, f Filter) (int, error)
	// BatchesOf returns at most limit groups of kind OneEach with this Pathway and Version, newest first, in descending order of
	// (CreatedAt, ID). It excludes groups with the trigger ByTornado.
	BatchesOf(ctx context.Context, org callwright.OrgID, pathway string, version int, limit int) ([]Batch, error)
}

// Filter selects a page of groups that satisfy all conditions.
type Filter struct {
	Kind    Kind      // required
	Pathway string    // id of the pathway that all scenarios test; empty means any
	Persona string    // id of the persona that all scenarios test; empty means any
	State   run.State // empty means any
	Trigger Trigger   // empty means any
	Offset  int
	Limit   int // maximum number of groups; 0 returns none
}

// Listed is a group in a list: a Batch without Scenarios, Webhook, Over, Flakes and Statistics.
type Listed struct {
	Batch

	Tested int // number of tested scenarios
}
