package run

import (
	"context"

	"github.com/callwright/callwright"
)

// maxRounds is the maximum number of queries with which a claim looks for an organization's runs outside of full groups.
const maxRounds = 100

// claim marks waiting runs as Running on this node, and returns them. Their number is limited by the argument most. It claims the oldest
// runs of each organization, up to the concurrency limits of the organization and of the runs' groups.
func (w *Worker) claim(ctx context.Context, most int) (claimed []Run, err error) {
	ctx, cancel := context.WithTimeout(ctx, patience)
	defer cancel()
	return claimed, callwright.Retry(ctx, func(ctx context.Context) error {
		claimed = nil
		return w.cfg.Atomic.Do(ctx, func(ctx context.Context) error {
			claimed = nil
			orgs, err := w.cfg.Store.Waiting(ctx, maxOrgs)
			if err != nil {
				return err
			}
			for _, org := range orgs {
				more, err := w.ready(ctx, org, most-len(claimed))
				if err != nil {
					return err
				}
				claimed = append(claimed, more...)
			}
			return w.store(ctx, claimed)
		})
	})
}

// ready returns runs of an organization that may start, marked as Running on this node. Their number is limited by the argument most. It
// does not store them.
func (w *Worker) ready(ctx context.Context, org callwright.OrgID, most int) ([]Run, error) {
	running, err := w.cfg.Store.CountRuns(ctx, org, Filter{States: []State{Running}})
	if err != nil {
		return nil, err
	}
	most = min(most, w.cfg.PerOrg-running)
	a := admission{groups: w.cfg.Groups, org: org, free: map[string]int{}}
	var ready []Run
	f := Filter{States: []State{Pending}, Oldest: true}
	for round := 0; round < maxRounds && len(ready) < most; round++ {
		f.NotBatches, f.Limit = a.closed, most-len(ready)
		waiting, err := w.cfg.Store.FindRuns(ctx, org, f)
		if err != nil {
			return nil, err
		}
		for _, r := range waiting {
			f.After = callwright.Keyset{At: r.CreatedAt, ID: r.ID}
			admitted, err := a.admits(ctx, r.Batch)
			if err != nil {
				return nil, err
			}
			if !admitted {
				continue
			}
			if r, err = w.hold(r); err != nil {
				return nil, err
			}
			ready = append(ready, r)
		}
		if len(waiting) < f.Limit {
			break
		}
	}
	return ready, nil
}

// admission decides whether groups of an organization may start further runs during a claim.
type admission struct {
	groups Groups
	org    callwright.OrgID
	free   map[string]int // number of runs that may still start, by group id
	closed []string       // ids of full groups
}

// admits reports whether a group may start another run, and counts that run. It returns true for runs without a group.
func (a *admission) admits(ctx context.Context, group string) (bool, error) {
	if group == "" {
		return true, nil
	}
	free, known := a.free[group]
	if !known {
		var err error
		if free, err = a.groups.Free(ctx, a.org, group); err != nil {
			return false, err
		}
		if free <= 0 {
			a.closed = append(a.closed, group)
		}
	}
	if free <= 0 {
		a.free[group] = 0
		return false, nil
	}
	if a.free[group] = free - 1; free == 1 {
		a.closed = append(a.closed, group)
	}
	return true, nil
}

// hold returns the run marked as Running on this node, with an incremented Attempt. At the first start it also sets StartedAt.
func (w *Worker) hold(r Run) (Run, error) {
	var err error
	if r.State, err = r.State.Move(Running); err != nil {
		return r, err
	}
	r.Node = w.cfg.Node
	r.Attempt++
	if r.StartedAt.IsZero() {
		r.StartedAt = w.cfg.Clock.Now()
	}
	return r, nil
}

// store stores changed runs, and then increments their Revision as the store did.
func (w *Worker) store(ctx context.Context, runs []Run) error {
	if len(runs) == 0 {
		return nil
	}
	if err := w.cfg.Store.UpdateRuns(ctx, runs); err != nil {
		return err
	}
	for i := range runs {
		runs[i].Revision++
	}
	return nil
}
