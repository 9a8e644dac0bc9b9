package agenttest

import (
	"context"
	"errors"

	"github.com/callwright/callwright"
)

// taskCancel cancels the waiting runs of a group.
const taskCancel = "agenttest.cancel"

// errEnded is the error of cancelling a run or a group that has ended.
var errEnded = callwright.Errorf(callwright.CodeInvalidState, "it has ended already")

// CancelRun cancels a run. A waiting run has ended when CancelRun returns. A running one is interrupted: immediately on this node,
// within lookEvery on another one. It keeps the conversation so far. It may be cancelled again until it has ended; then CancelRun
// returns CodeInvalidState. CodeNotFound: unknown id.
func (s *Service) CancelRun(ctx context.Context, org callwright.OrgID, id string) error {
	err := callwright.Retry(ctx, func(ctx context.Context) error {
		return s.cfg.Atomic.Do(ctx, func(ctx context.Context) error { return s.cancelRun(ctx, org, id) })
	})
	if err == nil {
		s.live.interrupt(org, id)
		s.watchers.Wake(id)
	}
	return err
}

func (s *Service) cancelRun(ctx context.Context, org callwright.OrgID, id string) error {
	r, err := s.cfg.Store.Run(ctx, org, id)
	switch {
	case err != nil:
		return err
	case r.State.Ended():
		return errEnded
	case r.State == Running:
		return s.cfg.Store.CancelRun(ctx, org, id)
	}
	if r.Batch != "" { // locked before the run, in the order of claims
		if _, err := s.cfg.Store.AddCounts(ctx, org, r.Batch, Sums{}); err != nil {
			return err
		}
	}
	r.State, r.EndedAt = Cancelled, s.cfg.Clock.Now()
	_, err = s.storeEnd(ctx, r, "")
	return err
}

// CancelBatch cancels the unended runs of a batch: see CancelRun.
func (s *Service) CancelBatch(ctx context.Context, org callwright.OrgID, id string) error {
	return s.cancelGroup(ctx, org, id, OneEach)
}

// CancelSet cancels the unended runs of a simulation set: see CancelRun.
func (s *Service) CancelSet(ctx context.Context, org callwright.OrgID, id string) error {
	return s.cancelGroup(ctx, org, id, Simulations)
}

func (s *Service) cancelGroup(ctx context.Context, org callwright.OrgID, id string, kind Kind) error {
	err := callwright.Retry(ctx, func(ctx context.Context) error {
		return s.cfg.Atomic.Do(ctx, func(ctx context.Context) error {
			b, err := s.groupOf(ctx, org, id, kind)
			switch {
			case err != nil:
				return err
			case !b.Open():
				return errEnded
			case b.Cancel && b.Reason != StoppedByBudget:
				return nil
			}
			b.Cancel, b.Reason = true, StoppedByClient
			if err := s.cfg.Store.UpdateBatch(ctx, b); err != nil {
				return err
			}
			return s.enqueue(ctx, org, id, taskCancel)
		})
	})
	if err == nil {
		s.live.interrupt(org, id)
		s.watchers.Wake(id)
	}
	return err
}

// groupOf returns a group of a kind. CodeNotFound: unknown id.
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

// cancelWaiting ends the waiting runs of a group. Running ones end by themselves: see stopCancelled.
func (s *Service) cancelWaiting(ctx context.Context, t callwright.Task, _ int) error {
	for {
		n := 0
		err := callwright.Retry(ctx, func(ctx context.Context) error {
			return s.cfg.Atomic.Do(ctx, func(ctx context.Context) error {
				b, err := s.cfg.Store.Batch(ctx, t.Org, t.Key)
				if err != nil {
					return err
				}
				waiting, err := s.cfg.Store.FindRuns(ctx, t.Org, RunFilter{Batch: t.Key, States: []State{Pending}, Limit: maxClaimed})
				if err != nil {
					return err
				}
				n = len(waiting)
				for _, r := range waiting {
					r.State, r.EndedAt, r.Result.Error = Cancelled, s.cfg.Clock.Now(), neverBegan(b)
					if _, err := s.storeEnd(ctx, r, ""); err != nil {
						return err
					}
				}
				if n > 0 {
					return nil
				}
				return s.advanceAlone(ctx, t.Org, t.Key)
			})
		})
		s.watchers.Wake(t.Key)
		if err != nil || n == 0 {
			return ignoreAbsent(err)
		}
	}
}

// neverBegan returns the reason for which a waiting run was cancelled.
func neverBegan(b Batch) string {
	if b.Reason == StoppedByClient {
		return ""
	}
	return "cancelled before it began: " + b.StopMessage()
}

// advanceAlone ends a cancelled group without remaining runs that would end it.
func (s *Service) advanceAlone(ctx context.Context, org callwright.OrgID, id string) error {
	b, err := s.cfg.Store.AddCounts(ctx, org, id, Sums{})
	if err != nil || b.State.Ended() {
		return ignoreAbsent(err)
	}
	_, err = s.advance(ctx, b)
	return err
}
