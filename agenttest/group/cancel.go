package group

import (
	"context"
	"errors"

	"github.com/callwright/callwright"
	"github.com/callwright/callwright/agenttest/run"
)

// taskCancel is the task that cancels the waiting runs of a group.
const taskCancel = "agenttest.cancel"

// cancelPiece is the maximum number of runs that one transaction cancels.
const cancelPiece = 64

// CancelBatch cancels the runs of a batch that have not ended: see run.Service.CancelRun.
func (s *Service) CancelBatch(ctx context.Context, org callwright.OrgID, id string) error {
	return s.cancelGroup(ctx, org, id, OneEach)
}

// CancelSet cancels the runs of a simulation set that have not ended: see run.Service.CancelRun.
func (s *Service) CancelSet(ctx context.Context, org callwright.OrgID, id string) error {
	return s.cancelGroup(ctx, org, id, Simulations)
}

func (s *Service) cancelGroup(ctx context.Context, org callwright.OrgID, id string, kind Kind) error {
	err := callwright.Retry(ctx, func(ctx context.Context) error {
		return s.cfg.Run.Atomic.Do(ctx, func(ctx context.Context) error {
			b, err := s.groupOf(ctx, org, id, kind)
			switch {
			case err != nil:
				return err
			case !b.Open():
				return run.ErrEnded
			case b.Cancel && b.Reason != StoppedByBudget:
				return nil
			}
			b.Cancel, b.Reason = true, StoppedByClient
			if err := s.cfg.Store.UpdateBatch(ctx, b); err != nil {
				return err
			}
			return s.ledger.enqueue(ctx, org, id, taskCancel)
		})
	})
	if err == nil {
		s.Worker.Interrupt(org, id)
	}
	return err
}

// groupOf returns a group of a kind, or CodeNotFound if the kind has no group with this id.
func (s *Service) groupOf(ctx context.Context, org callwright.OrgID, id string, kind Kind) (Batch, error) {
	b, err := s.cfg.Store.Batch(ctx, org, id)
	if errors.Is(err, callwright.ErrNotFound) || err == nil && b.Kind != kind {
		name := "batch"
		if kind == Simulations {
			name = "simulation set"
		}
		return Batch{}, callwright.NotFound(name)
	}
	return b, err
}

// cancelWaiting cancels the waiting runs of a group. Running runs are canceled by their nodes: see Worker.Interrupt.
func (s *Service) cancelWaiting(ctx context.Context, t callwright.Task, _ int) error {
	for {
		n := 0
		err := callwright.Retry(ctx, func(ctx context.Context) error {
			return s.cfg.Run.Atomic.Do(ctx, func(ctx context.Context) error {
				b, err := s.cfg.Store.Batch(ctx, t.Org, t.Key)
				if err != nil {
					return err
				}
				waiting, err := s.cfg.Run.Store.FindRuns(ctx, t.Org, run.Filter{Batch: t.Key, States: []run.State{run.Pending}, Limit: cancelPiece})
				if err != nil {
					return err
				}
				n = len(waiting)
				for _, r := range waiting {
					r.State, r.EndedAt, r.Result.Error = run.Cancelled, s.cfg.Run.Clock.Now(), neverBegan(b)
					if err := s.Worker.Finish(ctx, r); err != nil {
						return err
					}
				}
				if n > 0 {
					return nil
				}
				return s.advanceAlone(ctx, t.Org, t.Key)
			})
		})
		s.Worker.Watchers.Wake(t.Key)
		if err != nil || n == 0 {
			return callwright.IgnoreNotFound(err)
		}
	}
}

// neverBegan returns the human-readable reason why a waiting run was canceled, or "" if a client canceled it.
func neverBegan(b Batch) string {
	if b.Reason == StoppedByClient {
		return ""
	}
	return "cancelled before it began: " + b.StopMessage()
}

// advanceAlone finishes a canceled group if no run is left. Otherwise the end of the last running run finishes the group.
func (s *Service) advanceAlone(ctx context.Context, org callwright.OrgID, id string) error {
	b, err := s.cfg.Store.AddCounts(ctx, org, id, Sums{})
	if err != nil || b.State.Ended() {
		return callwright.IgnoreNotFound(err)
	}
	_, err = s.ledger.advance(ctx, b)
	return err
}
