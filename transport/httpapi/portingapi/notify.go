package portingapi

import (
	"context"
	"encoding/json"
	"strings"

	"github.com/callwright/callwright"
	"github.com/callwright/callwright/porting"
	oas "github.com/callwright/callwright/transport/oas/portingoas"
)

// Sender sends a signed body to a webhook. adapters/webhook implements it.
type Sender interface {
	// Send posts a body to url, signed with the organization's secret. id identifies the message. CodeForbidden means that the receiver
	// refuses the message permanently. After any other error, the caller should retry.
	Send(ctx context.Context, org callwright.OrgID, id, url string, body []byte) error
}

// Notifier sends the events of port requests to webhooks. It implements porting.Notifier.
type Notifier struct{ sender Sender }

var _ porting.Notifier = Notifier{}

// NewNotifier returns a Notifier that sends messages with s.
func NewNotifier(s Sender) Notifier { return Notifier{s} }

// statusChanged is the name of the event in every message.
const statusChanged = "port.status_changed"

// message is the body of a message: an entry of the history with the current request. Its members have the names of the contract.
type message struct {
	Event   string  `json:"event"`
	EventID string  `json:"event_id"`
	At      string  `json:"at"`
	Request string  `json:"port_request_id"`
	Change  string  `json:"change"`
	From    *string `json:"from"`
	To      string  `json:"to"`
	Detail  *string `json:"detail"`
	Actor   string  `json:"actor"`

	Status       string                  `json:"status"`
	StatusDetail *string                 `json:"status_detail"`
	Numbers      []oas.PortRequestNumber `json:"phone_numbers"`
	FailureCode  *string                 `json:"failure_code"`
	Failure      *string                 `json:"failure_reason"`
	Act          *string                 `json:"who_must_act"`
}

// NotifyPort sends an entry of a request's history to the request's webhook. id is the message's idempotency key.
func (n Notifier) NotifyPort(ctx context.Context, id string, r porting.Request, e porting.Entry) error {
	body, err := json.Marshal(messageOf(eventID(id), r, e))
	if err != nil {
		return err
	}
	return n.sender.Send(ctx, r.Org, eventID(id), r.Webhook.Reveal(), body)
}

// eventID converts an idempotency key to the id of a message. It replaces slashes, which other ids do not contain.
func eventID(id string) string { return strings.ReplaceAll(id, "/", "-") }

func messageOf(id string, r porting.Request, e porting.Entry) message {
	why, status := explain(r.Failure), r.Status()
	m := message{
		Event: statusChanged, EventID: id, At: e.At.UTC().Format("2006-01-02T15:04:05.000Z07:00"), Request: r.ID, Change: string(e.Event),
		From: orNull(e.From), To: string(e.To), Detail: orNull(e.Detail), Actor: string(e.Actor),
		Status: string(status.State), StatusDetail: orNull(status.Detail), Numbers: make([]oas.PortRequestNumber, len(r.Numbers)),
		FailureCode: orNull(why.Code), Failure: orNull(why.Text), Act: orNull(r.WaitsFor()),
	}
	for i, number := range r.Numbers {
		m.Numbers[i] = numberRecord(number)
	}
	return m
}

// orNull returns a pointer to the text, or nil for an empty one.
func orNull[T ~string](text T) *string {
	if text == "" {
		return nil
	}
	return new(string(text))
}
