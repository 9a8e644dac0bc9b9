package agenttest

import (
	"context"

	"github.com/callwright/callwright"
)

// maxRounds bounds the searches of a claim for runs outside of full groups.
const maxRounds = 100

// claim marks runs as Running on this node: the oldest of each organization, up to the concurrency limits of the organization and
// their groups.
func (s *Service) claim(ctx context.Context, most int) (claimed []Run, err error) {
	ctx, cancel := context.WithTimeout(ctx, patience)
	defer cancel()
	return claimed, callwright.Retry(ctx, func(ctx context.Context) error {
		claimed = nil
		return s.cfg.Atomic.Do(ctx, func(ctx context.Context) error {
			claimed = nil
			orgs, err := s.cfg.Store.Waiting(ctx, maxOrgs)
			if err != nil {
				return err
			}
			for _, org := range orgs {
				more, err := s.ready(ctx, org, most-len(claimed))
				if err != nil {
					return err
				}
				claimed = append(claimed, more...)
			}
			return s.store(ctx, claimed)
		})
	})
}

// ready returns the runs of an organization that can start, marked as Running on this node.
func (s *Service) ready(ctx context.Context, org callwright.OrgID, most int) ([]Run, error) {
	running, err := s.cfg.Store.CountRuns(ctx, org, RunFilter{States: []State{Running}})
	if err != nil {
		return nil, err
	}
	most = min(most, s.cfg.PerOrg-running)
	a := admission{Service: s, org: org, free: map[string]int{}}
	var ready []Run
	f := RunFilter{States: []State{Pending}, Oldest: true}
	for round := 0; round < maxRounds && len(ready) < most; round++ {
		f.NotBatches, f.Limit = a.closed, most-len(ready)
		waiting, err := s.cfg.Store.FindRuns(ctx, org, f)
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
			if r, err = s.take(r); err != nil {
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

// admission decides whether groups of an organization may start another run.
type admission struct {
	*Service

	org    callwright.OrgID
	free   map[string]int // number of runs of a group that may start, by its id
	closed []string       // full groups
}

// admits reports whether another run of a group may start, and counts it.
func (a *admission) admits(ctx context.Context, group string) (bool, error) {
	if group == "" {
		return true, nil
	}
	free, known := a.free[group]
	if !known {
		var err error
		if free, err = a.look(ctx, group); err != nil {
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

// look returns the number of runs of a group that may start. It locks a group with limits, so that no other node counts its runs or
// its spending concurrently. A group whose budget is used up is stopped.
func (a *admission) look(ctx context.Context, group string) (free int, err error) {
	b, err := a.cfg.Store.Batch(ctx, a.org, group)
	if err == nil && !b.Cancel && b.limited() {
		b, err = a.cfg.Store.AddCounts(ctx, a.org, group, Sums{})
	}
	switch {
	case err != nil:
		return 0, err
	case b.Cancel:
		return 0, nil // cancelWaiting ends its runs
	case b.Spend.Exhausts(b.Budget):
		b.Cancel, b.Reason = true, StoppedByBudget
		if err := a.cfg.Store.UpdateBatch(ctx, b); err != nil {
			return 0, err
		}
		return 0, a.enqueue(ctx, a.org, group, taskCancel)
	case b.Concurrency == 0:
		return a.cfg.PerOrg, nil
	}
	running, err := a.cfg.Store.FindRuns(ctx, a.org, RunFilter{States: []State{Running}, Limit: a.cfg.PerOrg})
	if err != nil {
		return 0, err
	}
	free = b.Concurrency
	for _, r := range running {
		if r.Batch == group {
			free--
		}
	}
	return free, nil
}

// take marks a run as Running on this node.
func (s *Service) take(r Run) (Run, error) {
	var err error
	if r.State, err = r.State.move(Running); err != nil {
		return r, err
	}
	r.Node = s.cfg.Node
	r.Attempt++
	if r.StartedAt.IsZero() {
		r.StartedAt = s.cfg.Clock.Now()
	}
	return r, nil
}

// store stores changed runs, and increments their Revision like the store.
func (s *Service) store(ctx context.Context, runs []Run) error {
	if len(runs) == 0 {
		return nil
	}
	if err := s.cfg.Store.UpdateRuns(ctx, runs); err != nil {
		return err
	}
	for i := range runs {
		runs[i].Revision++
	}
	return nil
}
