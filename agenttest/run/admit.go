package run

import (
	"context"
	"time"

	"github.com/callwright/callwright"
	"github.com/callwright/callwright/node"
)

// MaxPending is the maximum number of an organization's waiting and running runs.
const MaxPending = 20_000

// CheckPending rejects further runs if the organization would exceed its maximum of unended runs.
func (w *Worker) CheckPending(ctx context.Context, org callwright.OrgID, more int) error {
	n, err := w.cfg.Store.CountUnended(ctx, org)
	if err != nil {
		return err
	}
	if n+more > MaxPending {
		return callwright.Errorf(callwright.CodeTooManyRequests,
			"at most %d runs of an organization may be waiting or running; %d are, and this would start %d: try again when they have ended",
			MaxPending, n, more)
	}
	return nil
}

// Admit checks like CheckPending, and locks the organization's starts until the transaction of ctx ends, so that no two starts
// count the same runs.
func (w *Worker) Admit(ctx context.Context, org callwright.OrgID, more int) error {
	if err := w.cfg.Store.HoldStarts(ctx, org); err != nil {
		return err
	}
	return w.CheckPending(ctx, org, more)
}

// The limits of concurrent starts on a node, in scenarios in memory: a group counts as several. Further starts wait.
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

// Reserve rejects a start that exceeds the maximum of waiting runs, before large reads. Otherwise it waits for memory for the
// start.
func (w *Worker) Reserve(ctx context.Context, org callwright.OrgID, runs int, weight int64) (release func(), err error) {
	if err := w.CheckPending(ctx, org, runs); err != nil {
		return nil, err
	}
	release, err = w.starts.Claim(ctx, string(org), weight)
	return release, tooMany(ctx, err)
}
