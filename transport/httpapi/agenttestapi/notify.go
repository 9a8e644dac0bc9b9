package agenttestapi

import (
	"context"

	"github.com/callwright/callwright"
	"github.com/callwright/callwright/agenttest"
	"github.com/callwright/callwright/agenttest/group"
	"github.com/callwright/callwright/agenttest/run"
)

// Sender sends a signed body to a webhook; adapters/webhook has it.
type Sender interface {
	// Send posts a body that is about the thing named id, signed for the organization. CodeForbidden means that the receiver
	// refuses it permanently; any other error, that it should be tried again.
	Send(ctx context.Context, org callwright.OrgID, id, url string, body []byte) error
}

// Notifier reports the results of runs and batches to webhooks: see agenttest.Notifier. The body equals the data of a read.
type Notifier struct{ sender Sender }

var _ agenttest.Notifier = Notifier{}

// NewNotifier makes a Notifier that sends by s.
func NewNotifier(s Sender) Notifier { return Notifier{s} }

// RunEnded sends the record of a run.
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

// BatchEnded sends the record of a batch.
func (n Notifier) BatchEnded(ctx context.Context, url string, b group.Batch, runs []run.Run) error {
	record := batchRecord(b, runs)
	body, err := record.MarshalJSON()
	if err != nil {
		return err
	}
	return n.sender.Send(ctx, b.Org, b.ID, url, body)
}
