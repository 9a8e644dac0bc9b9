package webhook

import (
	"context"
	"encoding/json"
	"time"

	"github.com/callwright/callwright/sip/alert"
)

// notice is the JSON form of an alert that SendNotice posts.
type notice struct {
	Event       string  `json:"event"`
	AlertType   string  `json:"alert_type"`
	PhoneNumber string  `json:"phone_number"`
	Direction   string  `json:"direction"`
	Value       float64 `json:"value"`
	Threshold   float64 `json:"threshold"`
	TriggeredAt string  `json:"triggered_at"`
	ResolvedAt  *string `json:"resolved_at"`
	Others      int     `json:"other_numbers,omitempty"` // number of further phone numbers with the same servers and alerts
}

// SendNotice implements alert.Hooks. The notice's ID becomes the webhook-id header.
func (s *Sender) SendNotice(ctx context.Context, url string, n alert.Notice) error {
	message := notice{
		Event: "sip.trunk.alert", AlertType: string(n.Kind), PhoneNumber: string(n.Number), Direction: n.Direction,
		Value: n.Value, Threshold: n.Threshold, TriggeredAt: timestamp(n.TriggeredAt), Others: n.Others,
	}
	if n.ResolvedAt != nil {
		resolved := timestamp(*n.ResolvedAt)
		message.ResolvedAt = &resolved
	}
	body, err := json.Marshal(message)
	if err != nil {
		return err
	}
	return s.Send(ctx, n.Org, n.ID, url, body)
}

// timestamp formats a time as the API does: UTC, with milliseconds.
func timestamp(t time.Time) string { return t.UTC().Format("2006-01-02T15:04:05.000Z07:00") }
