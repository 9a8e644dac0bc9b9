package agenttestapi

import (
	"context"

	"github.com/callwright/callwright"
	"github.com/callwright/callwright/agenttest"
	"github.com/callwright/callwright/agenttest/group"
	"github.com/callwright/callwright/agenttest/run"
)

// Sender sends a signed body to a webhook. adapters/webhook implements it.
type Sender interface {
	// Send posts a body to url, signed with the organization's secret. id identifies the message. CodeForbidden means that the receiver
	// refuses the message permanently. After any other error, the caller should retry.
	Send(ctx context.Context, org callwright.OrgID, id, url string, body []byte) error
}

// Notifier sends the results of runs and batches to webhooks. It implements agenttest.Notifier. A body equals the member "data" of the
// API's answer to a GET request for the run or the batch.
type Notifier struct{ sender Sender }

var _ agenttest.Notifier = Notifier{}

// NewNotifier returns a Notifier that sends messages with s.
func NewNotifier(s Sender) Notifier { return Notifier{s} }

// RunEnded sends the record of a run to a webhook.
func (n Notifier) RunEnded(ctx context.Context, url string, r run.Run) error {
	record, err := runRecord(r)
	if err != nil {
		return err
	}
	body, err := record.MarshalJSON()
	if err != nil {
		return err
	}
	return n.sender.Send(ctx, r.Org, r.ID, url, body)
}

// BatchEnded sends the record of a batch with its runs to a webhook.
func (n Notifier) BatchEnded(ctx context.Context, url string, b group.Batch, runs []run.Run) error {
	record := batchRecord(b, runs)
	body, err := record.MarshalJSON()
	if err != nil {
		return err
	}
	return n.sender.Send(ctx, b.Org, b.ID, url, body)
}
