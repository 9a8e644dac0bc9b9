package monitor

import (
	"context"
	"encoding/json"
	"errors"
	"slices"
	"time"

	"github.com/callwright/callwright"
	"github.com/callwright/callwright/sip"
	"github.com/callwright/callwright/sip/alert"
	"github.com/callwright/callwright/sip/health"
)

// channel is a way to send a notice.
type channel string

const (
	byMail    channel = "email"
	byText    channel = "sms"
	byWebhook channel = "webhook"
)

// message is one edge of an alert to be told over one channel: the arguments of a task. It holds all of the notice,
// because the alert may have moved on when the message is sent.
type message struct {
	TrunkID string     `json:"trunk_id"`
	Channel channel    `json:"channel"`
	Notice  noticeJSON `json:"notice"`
}

// noticeJSON has the fields of alert.Notice in the same order, so that Go converts one into the other.
type noticeJSON struct {
	ID          string                 `json:"id"`
	Org         callwright.OrgID       `json:"org"`
	Kind        alert.Kind             `json:"kind"`
	Number      callwright.PhoneNumber `json:"number"`
	Direction   string                 `json:"direction"`
	Value       float64                `json:"value"`
	Threshold   float64                `json:"threshold"`
	TriggeredAt time.Time              `json:"triggered_at"`
	ResolvedAt  *time.Time             `json:"resolved_at,omitempty"`
}

// evaluate returns the states of a trunk's alerts, and the notices to send.
func (s *Service) evaluate(ctx context.Context, t sip.Trunk, before, after sip.Status) (
	alert.States, []alert.Notice, error,
) {
	if t.Alerts == nil {
		return after.Alerts, nil, nil
	}
	now := after.History.Until
	m := alert.Measured{
		Unreachable: slices.ContainsFunc(states(after), func(s health.State) bool { return s.Public() == health.Unreachable }),
		Samples:     len(after.History.Samples), LookedAt: before.History.Until,
	}
	m.ResponseTime, _ = after.History.Average()
	if t.Alerts.Thresholds.FailureRate > 0 {
		var err error
		m.Ended, m.Failed, err = s.cfg.Attempts.Failures(ctx, t.Org, t.ID, now.Add(-t.Alerts.Thresholds.Window()))
		if err != nil {
			return nil, nil, err
		}
	}
	whose := alert.Trunk{ID: t.ID, Org: t.Org, Number: t.Number, Direction: string(t.Direction)}
	states, told := t.Alerts.Evaluate(whose, after.Alerts, m, now)
	return states, told, nil
}

// announce enqueues notices. Each channel has a task of its own, so that a retry of one does not repeat the others.
func (s *Service) announce(ctx context.Context, t sip.Trunk, told []alert.Notice) error {
	for _, n := range told {
		for _, way := range channels(t.Alerts.Channels) {
			task := callwright.Task{Key: n.ID + "/" + string(way), Org: t.Org, Unique: true}
			m := message{TrunkID: t.ID, Channel: way, Notice: noticeJSON(n)}
			if err := taskAlert.Enqueue(ctx, s.cfg.Work, task, m); err != nil {
				return err
			}
		}
	}
	return nil
}

func channels(c alert.Channels) (ways []channel) {
	if c.Email {
		ways = append(ways, byMail)
	}
	if c.SMS {
		ways = append(ways, byText)
	}
	if c.Webhook != "" {
		ways = append(ways, byWebhook)
	}
	return ways
}

// UnmarshalKey reads the key that tasks had before they had arguments.
func (m *message) UnmarshalKey(key string) error { return json.Unmarshal([]byte(key), m) }

// tell sends one message to the address that is configured now. The messages of a trunk that has been removed, or whose
// alerts are disabled, are dropped.
func (s *Service) tell(ctx context.Context, task callwright.Task, m message, _ int) error {
	t, err := s.cfg.Trunks.Trunk(ctx, task.Org, m.TrunkID)
	n := alert.Notice(m.Notice)
	if errors.Is(err, callwright.ErrNotFound) || err == nil && (t.Alerts == nil || !t.Alerts.Enabled) {
		return s.drop(ctx, m.Channel, n, "the trunk has no alerts any more")
	}
	if err != nil {
		return err
	}
	return s.send(ctx, m.Channel, n, t.Alerts.Channels)
}

// messageOf returns what the list of deliveries knows of a notice.
func messageOf(n alert.Notice, url string) callwright.Message {
	return callwright.Message{Org: n.Org, Kind: callwright.MessageAlert, ID: n.ID, Subject: string(n.Number), URL: url}
}

// drop notes that a notice is not sent any more.
func (s *Service) drop(ctx context.Context, way channel, n alert.Notice, why string) error {
	if way != byWebhook {
		return nil
	}
	return s.cfg.Deliveries.Drop(ctx, messageOf(n, ""), why, s.cfg.Clock.Now())
}

// post sends a notice to a webhook, or has it sent again by the schedule of all messages to webhooks.
func (s *Service) post(ctx context.Context, url string, n alert.Notice) error {
	err := s.cfg.Hooks.SendNotice(ctx, url, n)
	happened := n.TriggeredAt
	if n.ResolvedAt != nil {
		happened = *n.ResolvedAt
	}
	again := s.cfg.Deliveries.Redeliver(ctx, messageOf(n, url), err, happened, s.cfg.Clock.Now())
	if err != nil && again == nil {
		s.cfg.Logger.WarnContext(ctx, "an alert is given up: its webhook does not take it",
			"id", n.ID, "org", n.Org, "to", callwright.HostOf(url), "error", err)
	}
	return again
}

func (s *Service) send(ctx context.Context, way channel, n alert.Notice, to alert.Channels) error {
	switch {
	case way == byWebhook && s.cfg.Hooks != nil && to.Webhook != "":
		return s.post(ctx, to.Webhook, n)
	case way == byText && s.cfg.Texter != nil && to.SMS:
		return s.cfg.Texter.SendText(ctx, n.Org, n.ID, n.Subject())
	case way == byMail && s.cfg.Mailer != nil && to.Email:
		o, err := s.cfg.Organizations.Organization(ctx, n.Org)
		if err != nil {
			return err
		}
		if o.ContactEmail != "" {
			err := s.cfg.Mailer.SendMail(ctx, n.ID, o.ContactEmail, n.Subject(), n.Text())
			if errors.Is(err, callwright.ErrForbidden) { // the mailer has logged it
				return nil
			}
			return err
		}
	}
	s.cfg.Logger.WarnContext(ctx, "a notice has no channel", "id", n.ID, "channel", way)
	return s.drop(ctx, way, n, "the trunk has no webhook any more")
}
