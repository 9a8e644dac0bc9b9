package httpapi

import (
	"context"

	"github.com/callwright/callwright"
	"github.com/callwright/callwright/agents/call"
)

// Sender sends a signed body to a webhook; adapters/webhook has it.
type Sender interface {
	// CheckURL refuses an address to which nothing may be sent; CodeBadRequest without a field.
	CheckURL(url string) error
	// Send posts a body that is about the thing named id, signed for the organization. An error means that it should be
	// tried again.
	Send(ctx context.Context, org callwright.OrgID, id, url string, body []byte) error
}

// Notifier tells webhooks about calls that have ended: see call.Notifier. The body is the record that GET
// /v1/calls/{call_id} answers.
type Notifier struct {
	Sender
	BaseURL string // of this server as its clients see it; no slash at its end
}

// Notify sends the record of a call.
func (n Notifier) Notify(
	ctx context.Context, org callwright.OrgID, url string, c call.Call, transcript []call.Entry,
) error {
	a := &api{Config: Config{BaseURL: n.BaseURL}}
	record, err := a.callRecord(c, transcript)
	if err != nil {
		return err
	}
	body, err := record.MarshalJSON()
	if err != nil {
		return err
	}
	return n.Send(ctx, org, c.ID, url, body)
}
