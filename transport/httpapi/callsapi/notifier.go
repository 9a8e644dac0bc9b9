package callsapi

import (
	"context"
	"encoding/json"
	"fmt"

	"github.com/callwright/callwright"
	"github.com/callwright/callwright/agents/call"
	"github.com/callwright/callwright/agents/pathway"
)

// Sender sends a signed body to a webhook. adapters/webhook implements it.
type Sender interface {
	// Send posts a body to url, signed with the organization's secret. id identifies the message. CodeForbidden means that the receiver
	// refuses the message permanently. After any other error, the caller should retry.
	Send(ctx context.Context, org callwright.OrgID, id, url string, body []byte) error
}

// Notifier sends calls and their events to webhooks. It implements call.Notifier. For an ended call, the body equals the answer to GET
// /v1/calls/{call_id} without the warnings and the state of the delivery.
type Notifier struct {
	sender  Sender
	baseURL string
}

// NewNotifier returns a Notifier that sends messages with s. baseURL is the server's public URL, without a trailing slash.
func NewNotifier(s Sender, baseURL string) Notifier { return Notifier{s, baseURL} }

// Notify sends the record of a call to a webhook. It omits the state of the delivery, so that each attempt sends the same body.
func (n Notifier) Notify(
	ctx context.Context, org callwright.OrgID, url string, c call.Call, transcript []call.Entry, logs []pathway.Log,
) error {
	c.Delivery = call.Delivery{} // so that each attempt sends the same body
	record, err := callRecord(n.baseURL, c, transcript, logs)
	if err != nil {
		return err
	}
	body, err := record.MarshalJSON()
	if err != nil {
		return err
	}
	return n.sender.Send(ctx, org, c.ID, url, body)
}

// event is the body of a webhook message about an event of a call.
type event struct {
	Message   string             `json:"message"`
	CallID    string             `json:"call_id"`
	Category  call.EventCategory `json:"category"`
	Level     call.EventLevel    `json:"log_level"`
	CreatedAt string             `json:"created_at"` // in the API's format of times
}

// eventTime is the layout of event.CreatedAt.
const eventTime = "2006-01-02T15:04:05.000Z07:00"

// NotifyEvent sends an event of a call to a webhook. The message's id is the call's id with the event's sequence number.
func (n Notifier) NotifyEvent(
	ctx context.Context, org callwright.OrgID, url string, c call.Call, happened call.Notice,
) error {
	body, err := json.Marshal(event{happened.Message, c.ID, happened.Category, happened.Level, happened.CreatedAt.UTC().Format(eventTime)})
	if err != nil {
		return err
	}
	return n.sender.Send(ctx, org, fmt.Sprintf("%s-%d", c.ID, happened.Seq), url, body)
}
