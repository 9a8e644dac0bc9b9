package call

import (
	"context"
	"time"
)

// retriable reports whether an ended call is retried. This requires a retry in the plan, and either StatusNoAnswer or StatusBusy, or an
// answering machine that answered and received no message. Incoming calls and calls that their owner stopped are not retried.
func (c Call) retriable() bool {
	if c.Plan.Retry == nil || c.Inbound || c.StopRequested {
		return false
	}
	switch c.Status {
	case StatusNoAnswer, StatusBusy:
		return true
	default:
		return c.AnsweredBy == AnsweredByVoicemail && c.Ending.Reason != reasonMessageLeft
	}
}

// queueRetry queues the retry of a call that ends at the given time, in the transaction of ctx, and links the two calls. The plan of the
// retry contains no further retry.
func (s *Service) queueRetry(ctx context.Context, first *Call, at time.Time) error {
	start := at.Add(first.Plan.Retry.Wait)
	second := Call{
		ID: s.cfg.IDs.New(), Org: first.Org, From: first.From, To: first.To, Agent: first.Agent, Plan: first.Plan,
		RequestData: first.RequestData, Variables: first.RequestData, Metadata: first.Metadata,
		Queue: QueueQueued, CreatedAt: s.cfg.Clock.Now(), StartAt: &start, RetryOf: first.ID, Version: 1,
	}
	second.Plan.Retry, second.Plan.Voicemail = nil, first.Plan.Retry.Voicemail
	first.RetriedBy = second.ID
	return s.queue(ctx, second)
}
