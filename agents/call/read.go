package call

import (
	"context"
	"errors"
	"io"
	"time"

	"github.com/callwright/callwright"
)

// Get is one call with its transcript.
func (s *Service) Get(ctx context.Context, org callwright.OrgID, id string) (Call, []Entry, error) {
	c, err := s.Store.Get(ctx, org, id)
	if err != nil {
		return Call{}, nil, err
	}
	transcript, err := s.Store.Transcript(ctx, org, id)
	return c, transcript, err
}

// List is a page of calls and how many match in all.
func (s *Service) List(ctx context.Context, org callwright.OrgID, f Filter) (callwright.Page[Call], int, error) {
	if f.Limit < 0 || f.Limit > MaxPage {
		return callwright.Page[Call]{}, 0, callwright.Invalid("limit", "must be from 1 to %d", MaxPage)
	}
	return s.Store.List(ctx, org, f)
}

// Recording reads a call's recording: WAV, 16 bit, the other side on the left and the agent on the right.
func (s *Service) Recording(ctx context.Context, org callwright.OrgID, id string) (io.ReadSeekCloser, error) {
	c, err := s.Store.Get(ctx, org, id)
	if err != nil {
		return nil, err
	}
	if !c.Recorded {
		return nil, callwright.NotFound("recording")
	}
	return s.Recordings.Open(ctx, org, id)
}

// webhookAttempts is how often a record is sent to a webhook that fails. One that says when to come back is asked again
// as it wishes, within webhookLife, and after ever longer waits.
const (
	webhookAttempts = 5
	webhookLife     = 24 * time.Hour
)

// notify is the step that sends the record of a call that has ended to its webhook.
func (s *Service) notify(ctx context.Context, task callwright.Task, _ int) error {
	c, transcript, err := s.Get(ctx, task.Org, task.Key)
	if err != nil {
		return err
	}
	if !c.Queue.Ended() || c.Agent.Webhook == "" {
		return nil
	}
	err = s.Notifier.Notify(ctx, c.Org, c.Agent.Webhook, c, transcript)
	wait, asked := callwright.RetryAfter(err)
	if !asked {
		return err
	}
	age := s.Clock.Now().Sub(*c.EndedAt)
	if age > webhookLife {
		return errors.New(err.Error()) // counts as an attempt, as one with a RetryAfter does not
	}
	return &callwright.Error{
		Code: callwright.CodeOf(err), Message: callwright.MessageOf(err), RetryAfter: max(wait, age/2),
	}
}
