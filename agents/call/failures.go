package call

import (
	"context"
	"errors"
	"time"

	"github.com/callwright/callwright"
)

// failedForGood reports whether a call has failed and is not tried again.
func (c Call) failedForGood() bool { return c.Status == StatusFailed && c.RetriedBy == "" }

// tellFailure enqueues, in the transaction of ctx, the report of a call that has failed.
func (s *Service) tellFailure(ctx context.Context, c Call) error {
	if s.cfg.Failures == nil || !c.failedForGood() {
		return nil
	}
	return s.cfg.Work.Enqueue(ctx, callwright.Task{Kind: taskFailed, Key: c.ID, Org: c.Org, Unique: true})
}

// failed reports a call that has failed: the task call.failed. After a restart there may be no Config.Failures any more.
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

// reportLife bounds how long a report that asks for a delay is put off.
const reportLife = 24 * time.Hour

// later returns the error of a report that was not taken, with a RetryAfter that grows with the age of what it tells. Once
// that is older than reportLife, it has none and counts as an attempt.
func (s *Service) later(err error, since time.Time) error {
	wait, asked := callwright.RetryAfter(err)
	if !asked {
		return err
	}
	age := s.cfg.Clock.Now().Sub(since)
	if age > reportLife {
		return errors.New(err.Error()) // counts as an attempt, as one with a RetryAfter does not
	}
	return &callwright.Error{
		Code: callwright.CodeOf(err), Message: callwright.MessageOf(err), RetryAfter: max(wait, age/2),
	}
}
