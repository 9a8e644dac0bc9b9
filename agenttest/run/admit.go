package run

import (
	"context"
	"time"

	"github.com/callwright/callwright"
	"github.com/callwright/callwright/node"
)

// MaxPending is the maximum number of waiting and running runs of an organization.
const MaxPending = 20_000

// CheckPending returns CodeTooManyRequests if the given number of further runs, added to the organization's waiting and running runs and to
// the runs that its groups will still create, would exceed MaxPending.
func (w *Worker) CheckPending(ctx context.Context, org callwright.OrgID, more int) error {
	n, err := w.cfg.Store.CountUnended(ctx, org)
	if err != nil {
		return err
	}
	if n+more > MaxPending {
		return callwright.Errorf(callwright.CodeTooManyRequests,
			"an organization can have at most %d waiting and running runs: it has %d, and this request would add %d; try again when some have ended",
			MaxPending, n, more)
	}
	return nil
}

// Admit is like CheckPending, but first locks the organization's starts until the transaction of ctx ends, so that concurrent starts do not
// count the same runs.
func (w *Worker) Admit(ctx context.Context, org callwright.OrgID, more int) error {
	if err := w.cfg.Store.HoldStarts(ctx, org); err != nil {
		return err
	}
	return w.CheckPending(ctx, org, more)
}

// These constants limit concurrent starts on a node. They count scenarios that a start holds in memory, so a group counts as several.
// Further starts wait at most for startWait.
const (
	maxStarts      = 16 // of all organizations
	maxStartsOfOrg = 8
	startWait      = 5 * time.Second
)

func newStarts() *node.Budget {
	return &node.Budget{
		Total: maxStarts, Share: maxStartsOfOrg, Wait: startWait,
		Busy: "too many tests are being started at once: send the request again later",
	}
}

// Reserve reserves memory for a start, and waits if too many tests are starting. It returns CodeTooManyRequests if the wait takes too long
// or, before large reads, if the start would exceed MaxPending. The caller must call release.
func (w *Worker) Reserve(ctx context.Context, org callwright.OrgID, runs int, weight int64) (release func(), err error) {
	if err := w.CheckPending(ctx, org, runs); err != nil {
		return nil, err
	}
	release, err = w.starts.Claim(ctx, string(org), weight)
	return release, tooMany(ctx, err)
}
