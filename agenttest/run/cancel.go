package run

import (
	"context"

	"github.com/callwright/callwright"
)

// ErrEnded refuses to cancel what has ended.
var ErrEnded = callwright.Errorf(callwright.CodeInvalidState, "it has ended already")

// CancelRun cancels a run. One that waits has ended when CancelRun returns. One that is under way is interrupted: at once on this
// node, within node.LookEvery on another one. It keeps what was said so far. It may be cancelled again until it has ended; then that
// is CodeInvalidState. CodeNotFound: the organization has no run of this id.
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
	if r.Batch != "" { // locked before the run, in the order of claims
		if err := s.cfg.Groups.Hold(ctx, org, r.Batch); err != nil {
			return err
		}
	}
	r.State, r.EndedAt = Cancelled, s.cfg.Clock.Now()
	return s.Worker.Finish(ctx, r)
}
