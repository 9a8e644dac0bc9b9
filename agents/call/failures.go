package call

import (
	"context"
	"errors"
	"time"

	"github.com/callwright/callwright"
)

// failedForGood reports whether a call has failed and is not retried.
func (c Call) failedForGood() bool { return c.Status == StatusFailed && c.RetriedBy == "" }

// tellFailure enqueues, in the transaction of ctx, the report of a call that has failed.
func (s *Service) tellFailure(ctx context.Context, c Call) error {
	if s.cfg.Failures == nil || !c.failedForGood() {
		return nil
	}
	return s.cfg.Work.Enqueue(ctx, callwright.Task{Kind: taskFailed, Key: c.ID, Org: c.Org, Unique: true})
}

// failed runs the task call.failed: it reports a failed call. After a restart Config.Failures may be nil.
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

// reportLife bounds the total delay of a report that asks for delays.
const reportLife = 24 * time.Hour

// later returns the error of a report that was not accepted, with a RetryAfter that grows with the age of the failure. Beyond
// reportLife it has no RetryAfter and counts as an attempt.
func (s *Service) later(err error, since time.Time) error {
	wait, asked := callwright.RetryAfter(err)
	if !asked {
		return err
	}
	age := s.cfg.Clock.Now().Sub(since)
	if age > reportLife {
		return errors.New(err.Error()) // counts as an attempt, unlike an error with a RetryAfter
	}
	return &callwright.Error{
		Code: callwright.CodeOf(err), Message: callwright.MessageOf(err), RetryAfter: max(wait, age/2),
	}
}
