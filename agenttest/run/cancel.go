package run

import (
	"context"

	"github.com/callwright/callwright"
)

// ErrEnded is the error of canceling a run or a group that has already ended.
var ErrEnded = callwright.Errorf(callwright.CodeInvalidState, "the run has already ended")

// CancelRun cancels a run, which keeps its transcript so far. A waiting run has ended when CancelRun returns. A running one is interrupted:
// immediately on this node, and within node.LookEvery on another one. Repeated calls change nothing. CancelRun returns CodeInvalidState if
// the run has ended, and CodeNotFound if the organization has no run with this id.
func (s *Service) CancelRun(ctx context.Context, org callwright.OrgID, id string) error {
	err := callwright.Retry(ctx, func(ctx context.Context) error {
		return s.cfg.Atomic.Do(ctx, func(ctx context.Context) error { return s.cancelRun(ctx, org, id) })
	})
	if err == nil {
		s.Worker.Interrupt(org, id)
	}
	return err
}

func (s *Service) cancelRun(ctx context.Context, org callwright.OrgID, id string) error {
	r, err := s.cfg.Store.Run(ctx, org, id)
	switch {
	case err != nil:
		return err
	case r.State.Ended():
		return ErrEnded
	case r.State == Running:
		return s.cfg.Store.CancelRun(ctx, org, id)
	}
	if r.Batch != "" { // lock the group before the run, as Worker.claim does, to avoid a deadlock
		if err := s.cfg.Groups.Hold(ctx, org, r.Batch); err != nil {
			return err
		}
	}
	r.State, r.EndedAt = Cancelled, s.cfg.Clock.Now()
	return s.Worker.Finish(ctx, r)
}
