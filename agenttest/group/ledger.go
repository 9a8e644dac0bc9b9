package group

import (
	"context"

	"github.com/callwright/callwright"
	"github.com/callwright/callwright/agenttest/run"
)

// ledger implements run.Groups: it counts the results and the usage of runs in groups, limits how many runs start, and stops groups whose
// budget or quota is exhausted.
type ledger struct{ cfg Config }

var _ run.Groups = ledger{}

// Group returns the limits and the state of a group.
func (l ledger) Group(ctx context.Context, org callwright.OrgID, id string) (run.Group, error) {
	b, err := l.cfg.Store.Batch(ctx, org, id)
	return b.toGroup(), err
}

// toGroup converts a group for package run.
func (b Batch) toGroup() run.Group {
	return run.Group{Budget: b.Budget, Spend: b.Spend, Cancel: b.Cancel && b.Reason != StoppedByBudget, ReportsFailures: b.Kind == Simulations}
}

// Hold locks a group until the transaction of ctx ends.
func (l ledger) Hold(ctx context.Context, org callwright.OrgID, id string) error {
	_, err := l.cfg.Store.AddCounts(ctx, org, id, Sums{})
	return err
}

// Free returns how many more runs of a group may start now: 0 if the group is canceled or its budget is exhausted, and run.Config.PerOrg if
// the group does not limit its concurrent runs. It stops a group whose budget is exhausted.
func (l ledger) Free(ctx context.Context, org callwright.OrgID, id string) (free int, err error) {
	b, err := l.cfg.Store.Batch(ctx, org, id)
	if err == nil && !b.Cancel && b.limited() {
		b, err = l.cfg.Store.AddCounts(ctx, org, id, Sums{})
	}
	switch {
	case err != nil:
		return 0, err
	case b.Cancel:
		return 0, nil // cancelWaiting cancels its waiting runs
	case b.Spend.Exhausts(b.Budget):
		b.Cancel, b.Reason = true, StoppedByBudget
		if err := l.cfg.Store.UpdateBatch(ctx, b); err != nil {
			return 0, err
		}
		return 0, l.enqueue(ctx, org, id, taskCancel)
	case b.Concurrency == 0:
		return l.cfg.Run.PerOrg, nil
	}
	running, err := l.cfg.Run.Store.FindRuns(ctx, org, run.Filter{States: []run.State{run.Running}, Limit: l.cfg.Run.PerOrg})
	if err != nil {
		return 0, err
	}
	free = b.Concurrency
	for _, r := range running {
		if r.Batch == id {
			free--
		}
	}
	return free, nil
}

// Ended counts an ended run, and finishes the group after its last run. If a model's quota is exhausted, or if the group's budget refused
// the run, no more runs of the group start.
func (l ledger) Ended(ctx context.Context, r run.Run, refused bool) (run.Group, error) {
	b, err := l.cfg.Store.AddCounts(ctx, r.Org, r.Batch, sumsOf(r))
	if err != nil {
		return run.Group{}, err
	}
	var stop StopReason
	switch {
	case refused:
		stop = StoppedByBudget
	case r.Outcome != nil && r.Outcome.Quota:
		stop = StoppedByQuota
	}
	if stop != "" && !b.Cancel && b.Counts.Ended() < b.Total() {
		b.Cancel, b.Reason = true, stop
		if err := l.enqueue(ctx, b.Org, b.ID, taskCancel); err != nil {
			return run.Group{}, err
		}
	}
	b, err = l.advance(ctx, b)
	return b.toGroup(), err
}

// advance updates the state of a group whose counts have changed. After the last run, it starts the attribution if one is needed, or else
// finishes the group and enqueues the tasks that follow.
func (l ledger) advance(ctx context.Context, b Batch) (_ Batch, err error) {
	before := b.State
	if b.State == run.Pending {
		b.State = run.Running
	}
	all := b.Total()
	if b.Cancel {
		all = b.Created // no more runs will be created
	}
	if b.Counts.Ended() == all && b.unattributed() {
		if err := l.cfg.Store.UpdateBatch(ctx, b); err != nil {
			return b, err
		}
		return b, l.enqueue(ctx, b.Org, b.ID, taskAttribute)
	}
	if b.Counts.Ended() == all {
		if b.State, err = b.State.Move(b.state()); err != nil {
			return b, err
		}
		b.EndedAt = l.cfg.Run.Clock.Now()
	} else if b.State == before && !b.Cancel {
		return b, nil
	}
	if err := l.cfg.Store.UpdateBatch(ctx, b); err != nil {
		return b, err
	}
	if !b.State.Ended() {
		return b, nil
	}
	return b, l.enqueueTasks(ctx, b)
}

// enqueueTasks enqueues, in the transaction of ctx, the tasks that follow the end of a group.
func (l ledger) enqueueTasks(ctx context.Context, b Batch) error {
	var kinds []string
	if b.Webhook != "" && l.cfg.Notifier != nil {
		kinds = append(kinds, taskBatchNotice)
	}
	if b.Publish && b.State == run.Passed {
		kinds = append(kinds, taskPublish)
	}
	if b.Kind == Simulations {
		kinds = append(kinds, taskConclude)
	}
	if err := l.enqueue(ctx, b.Org, b.ID, kinds...); err != nil || b.Pathway == "" || b.Kind != OneEach || b.experiment() {
		return err
	}
	return l.enqueue(ctx, b.Org, b.Pathway, taskSettle) // a version may be waiting for these tests
}

func (l ledger) enqueue(ctx context.Context, org callwright.OrgID, key string, kinds ...string) error {
	for _, kind := range kinds {
		if err := l.cfg.Run.Work.Enqueue(ctx, callwright.Task{Kind: kind, Key: key, Org: org}); err != nil {
			return err
		}
	}
	return nil
}
