package call

import (
	"context"
	"errors"
	"time"

	"github.com/callwright/callwright"
)

// failedForGood reports whether a call has failed and has no retry.
func (c Call) failedForGood() bool { return c.Status == StatusFailed && c.RetriedBy == "" }

// tellFailure enqueues the report of a failed call, in the transaction of ctx. It does nothing if the call did not fail, has a retry, or
// Config.Failures is nil.
func (s *Service) tellFailure(ctx context.Context, c Call) error {
	if s.cfg.Failures == nil || !c.failedForGood() {
		return nil
	}
	return s.cfg.Work.Enqueue(ctx, callwright.Task{Kind: taskFailed, Key: c.ID, Org: c.Org, Unique: true})
}

// failed runs the task call.failed: it reports a failed call. It does nothing if the call was deleted or no longer counts as failed, or if
// Config.Failures is nil, which a restart can change.
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

// reportLife bounds how long reports with a RetryAfter are delayed.
const reportLife = 24 * time.Hour

// later returns the error of a report. If the error has a RetryAfter, later raises the RetryAfter to at least half the age of the failure.
// After reportLife the returned error has no RetryAfter, so that the failed report counts as an attempt.
func (s *Service) later(err error, since time.Time) error {
	wait, asked := callwright.RetryAfter(err)
	if !asked {
		return err
	}
	age := s.cfg.Clock.Now().Sub(since)
	if age > reportLife {
		return errors.New(err.Error()) // an error without RetryAfter counts as an attempt
	}
	return &callwright.Error{
		Code: callwright.CodeOf(err), Message: callwright.MessageOf(err), RetryAfter: max(wait, age/2),
	}
}
