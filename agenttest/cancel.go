package agenttest

import (
	"context"

	"github.com/callwright/callwright"
)

// taskCancel cancels the runs of a group that wait.
const taskCancel = "agenttest.cancel"

// CancelBatch cancels the runs of a group that have not ended. Runs that are under way keep what was said so far. A group
// that has ended is CodeInvalidState.
func (s *Service) CancelBatch(ctx context.Context, org callwright.OrgID, id string) error {
	err := callwright.Retry(ctx, func(ctx context.Context) error {
		return s.cfg.Atomic.Do(ctx, func(ctx context.Context) error {
			b, err := s.cfg.Store.Batch(ctx, org, id)
			if err != nil {
				return err
			}
			if !b.Open() {
				return callwright.Errorf(callwright.CodeInvalidState, "it has ended already")
			}
			if b.Cancel {
				return nil
			}
			b.Cancel, b.Reason = true, "it was cancelled"
			if err := s.cfg.Store.UpdateBatch(ctx, b); err != nil {
				return err
			}
			return s.enqueue(ctx, org, id, taskCancel)
		})
	})
	if err == nil {
		s.live.cancelGroup(org, id)
	}
	return err
}

// cancelWaiting ends the runs of a group that wait. The runs that are under way end by themselves: see stopCancelled.
func (s *Service) cancelWaiting(ctx context.Context, t callwright.Task, _ int) error {
	for {
		n := 0
		err := callwright.Retry(ctx, func(ctx context.Context) error {
			return s.cfg.Atomic.Do(ctx, func(ctx context.Context) error {
				waiting, err := s.cfg.Store.FindRuns(ctx, t.Org, RunFilter{Batch: t.Key, States: []State{Pending}, Limit: maxClaimed})
				if err != nil {
					return err
				}
				n = len(waiting)
				for _, r := range waiting {
					r.State, r.EndedAt = Cancelled, s.cfg.Clock.Now()
					if err := s.storeEnd(ctx, r); err != nil {
						return err
					}
				}
				if n > 0 {
					return nil
				}
				return s.advanceAlone(ctx, t.Org, t.Key)
			})
		})
		if err != nil || n == 0 {
			return ignoreAbsent(err)
		}
	}
}

// advanceAlone ends a group that was cancelled when none of its runs was left to do it.
func (s *Service) advanceAlone(ctx context.Context, org callwright.OrgID, id string) error {
	b, err := s.cfg.Store.AddCounts(ctx, org, id, Counts{})
	if err != nil || b.State.Ended() {
		return ignoreAbsent(err)
	}
	return s.advance(ctx, b)
}
