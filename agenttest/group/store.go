package group

import (
	"context"

	"github.com/callwright/callwright"
	"github.com/callwright/callwright/agenttest/run"
)

// Store stores groups of runs: see agenttest.Store for the duties of all stores of this domain.
type Store interface {
	// InsertBatch adds a group with Revision 1, regardless of b. CodeConflict: its id exists.
	InsertBatch(ctx context.Context, b Batch) error
	// Batch returns one group. CodeNotFound: it is absent.
	Batch(ctx context.Context, org callwright.OrgID, id string) (Batch, error)
	// UpdateBatch replaces a group whose stored Revision is b.Revision, and increments it. CodeConflict: the Revision differs.
	// CodeNotFound: it is absent.
	UpdateBatch(ctx context.Context, b Batch) error
	// AddCounts adds to the sums of a group (Counts, Usage, Spend), increments its Revision and returns the new group. It locks the
	// group until the transaction of ctx ends, so that concurrent calls wait and add up. CodeNotFound: it is absent. It is only
	// called in a transaction.
	AddCounts(ctx context.Context, org callwright.OrgID, id string, more Sums) (Batch, error)
	// FindBatches returns the groups that f selects, in descending order of (CreatedAt, ID).
	FindBatches(ctx context.Context, org callwright.OrgID, f Filter) ([]Listed, error)
	// CountBatches returns the number of groups that f selects on all pages.
	CountBatches(ctx context.Context, org callwright.OrgID, f Filter) (int, error)
	// BatchesOf returns the newest groups of kind OneEach with this Pathway and Version, at most limit, in descending order of
	// (CreatedAt, ID). Groups with the trigger ByTornado are excluded.
	BatchesOf(ctx context.Context, org callwright.OrgID, pathway string, version int, limit int) ([]Batch, error)
}

// Filter selects a page of groups. All conditions must hold.
type Filter struct {
	Kind    Kind      // required
	Pathway string    // all scenarios are of it; empty: any
	Persona string    // likewise
	State   run.State // empty: any
	Trigger Trigger   // empty: any
	Offset  int
	Limit   int // at most; 0: none
}

// Listed is a group in a list: a Batch without Scenarios, Webhook, Over, Flakes and Statistics.
type Listed struct {
	Batch

	Tested int // scenarios
}
