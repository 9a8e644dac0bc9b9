package call

import (
	"context"
	"errors"

	"github.com/callwright/callwright"
)

// failedForGood says whether a call has failed, and no other call takes its place.
func (c Call) failedForGood() bool { return c.Status == StatusFailed && c.RetriedBy == "" }

// tellFailure queues, in the transaction of ctx, that somebody is told of a call that has failed.
func (s *Service) tellFailure(ctx context.Context, c Call) error {
	if s.cfg.Failures == nil || !c.failedForGood() {
		return nil
	}
	return s.cfg.Work.Enqueue(ctx, callwright.Task{Kind: taskFailed, Key: c.ID, Org: c.Org, Unique: true})
}

// failed is the step that tells of one call that has failed. There may be nobody to tell any more, after a restart.
func (s *Service) failed(ctx context.Context, task callwright.Task, _ int) error {
	if s.cfg.Failures == nil {
		return nil
	}
	c, err := s.cfg.Store.Get(ctx, task.Org, task.Key)
	if errors.Is(err, callwright.ErrNotFound) || err == nil && !c.failedForGood() {
		return nil
	}
	if err != nil {
		return err
	}
	return s.later(s.cfg.Failures.CallFailed(ctx, c), *c.EndedAt)
}
