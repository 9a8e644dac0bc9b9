package callsapi

import (
	"context"
	"encoding/json"
	"fmt"

	"github.com/callwright/callwright"
	"github.com/callwright/callwright/agents/call"
	"github.com/callwright/callwright/agents/pathway"
)

// Sender sends a signed body to a webhook; adapters/webhook has it.
type Sender interface {
	// Send posts a body that is about the thing named id, signed for the organization. CodeForbidden means that the receiver
	// refuses it permanently; any other error, that it should be tried again.
	Send(ctx context.Context, org callwright.OrgID, id, url string, body []byte) error
}

// Notifier reports calls to webhooks: see call.Notifier. Of a call that has ended, the body is the record that GET
// /v1/calls/{call_id} answers.
type Notifier struct {
	sender  Sender
	baseURL string
}

// NewNotifier makes a Notifier that sends by s. baseURL is the server's public URL, without a slash at its end.
func NewNotifier(s Sender, baseURL string) Notifier { return Notifier{s, baseURL} }

// Notify sends the record of a call.
func (n Notifier) Notify(
	ctx context.Context, org callwright.OrgID, url string, c call.Call, transcript []call.Entry, logs []pathway.Log,
) error {
	c.Delivery = call.Delivery{} // each attempt sends the same body
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

// event is the body of a webhook about something that has happened on a call.
type event struct {
	Message   string             `json:"message"`
	CallID    string             `json:"call_id"`
	Category  call.EventCategory `json:"category"`
	Level     call.EventLevel    `json:"log_level"`
	CreatedAt string             `json:"created_at"` // as times of the API are written
}

// eventTime is the layout of event.CreatedAt.
const eventTime = "2006-01-02T15:04:05.000Z07:00"

// NotifyEvent sends an event of a call.
func (n Notifier) NotifyEvent(
	ctx context.Context, org callwright.OrgID, url string, c call.Call, happened call.Notice,
) error {
	body, err := json.Marshal(event{happened.Message, c.ID, happened.Category, happened.Level, happened.CreatedAt.UTC().Format(eventTime)})
	if err != nil {
		return err
	}
	return n.sender.Send(ctx, org, fmt.Sprintf("%s-%d", c.ID, happened.Seq), url, body)
}
