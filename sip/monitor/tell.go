package monitor

import (
	"context"
	"encoding/json"
	"errors"
	"slices"
	"time"

	"github.com/callwright/callwright"
	"github.com/callwright/callwright/delivery"
	"github.com/callwright/callwright/sip"
	"github.com/callwright/callwright/sip/alert"
	"github.com/callwright/callwright/sip/health"
)

// message contains the arguments of a task that sends one notice over one channel. It contains the whole notice, because the alert may have
// changed when the message is sent.
type message struct {
	TrunkID string        `json:"trunk_id"`
	Channel alert.Channel `json:"channel"`
	Notice  noticeJSON    `json:"notice"`
}

// noticeJSON is the JSON form of alert.Notice. It has the same fields in the same order, so that Go can convert between the two types.
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
	Others      int                    `json:"others,omitempty"`
}

// evaluate returns the new states of a trunk's alerts, and the notices to send.
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

// announce stores the deliveries of notices and enqueues the tasks that send them. Each channel has a separate task, so that a retry of one
// does not repeat the others.
func (s *Service) announce(ctx context.Context, t sip.Trunk, told []alert.Notice) error {
	for _, n := range told {
		for _, way := range t.Alerts.Channels.Enabled() {
			task := callwright.Task{Key: n.ID + "/" + string(way), Org: t.Org, Unique: true}
			m := message{TrunkID: t.ID, Channel: way, Notice: noticeJSON(n)}
			if err := s.recordDelivery(ctx, t, m); err != nil {
				return err
			}
			if err := taskOf(way).Enqueue(ctx, s.cfg.Work, task, m); err != nil {
				return err
			}
		}
	}
	return nil
}

// UnmarshalKey decodes the key of a task that an older release enqueued. That release stored the message in the key, because tasks had no
// arguments.
func (m *message) UnmarshalKey(key string) error { return json.Unmarshal([]byte(key), m) }

// sendAlert handles the tasks taskAlert and taskAlertMail: it sends one message to the currently configured address, and stores the result.
// It discards a message if the trunk was deleted, or its alerts or the channel were turned off.
func (s *Service) sendAlert(ctx context.Context, task callwright.Task, m message, attempt int) error {
	t, err := s.cfg.Trunks.Trunk(ctx, task.Org, m.TrunkID)
	if errors.Is(err, callwright.ErrNotFound) {
		return s.discard(ctx, m, "the trunk was removed")
	}
	if err != nil {
		return err
	}
	d, err := s.delivery(ctx, t, m)
	if err != nil {
		return err
	}
	d.Attempts = attempt
	failure := errNoChannel
	if t.Alerts != nil && t.Alerts.Enabled {
		failure, err = s.attempt(ctx, t, m, d)
	}
	if err != nil {
		return err
	}
	retry := failure
	switch {
	case errors.Is(failure, errNoChannel):
		retry = s.discard(ctx, m, failure.Error())
	case m.Channel == alert.ByWebhook:
		d.Attempts = delivery.Attempts(s.cfg.Clock.Now().Sub(d.CreatedAt)) // by age, because attempt omits postponed attempts
		retry = s.cfg.HookLog.Redeliver(ctx, messageOf(m, t.Alerts.Channels.Webhook), failure, d.CreatedAt, s.cfg.Clock.Now())
	case errors.Is(failure, callwright.ErrForbidden):
		retry = nil
	}
	return s.reportDelivery(ctx, d, failure, retry)
}

// attempt sends one message. If putOff, an error with a RetryAfter, is not nil, no attempt was made.
func (s *Service) attempt(ctx context.Context, t sip.Trunk, m message, d sip.Delivery) (failure, putOff error) {
	send := func(ctx context.Context) error {
		return s.send(ctx, m.Channel, alert.Notice(m.Notice), t.Alerts.Channels, d.To)
	}
	if m.Channel != alert.ByWebhook || t.Alerts.Channels.Webhook == "" {
		return send(ctx), nil
	}
	return s.cfg.HookLog.Send(ctx, messageOf(m, t.Alerts.Channels.Webhook), d.CreatedAt, send)
}

// messageOf converts a message to the form that the log of webhook deliveries stores.
func messageOf(m message, url string) delivery.Message {
	return delivery.Message{
		Org: m.Notice.Org, Kind: delivery.MessageAlert, ID: m.Notice.ID, Subject: string(m.Notice.Number), URL: url,
	}
}

// discard marks a webhook message as given up in the delivery log. It ignores messages over other channels.
func (s *Service) discard(ctx context.Context, m message, why string) error {
	if m.Channel != alert.ByWebhook {
		return nil
	}
	return s.cfg.HookLog.GiveUp(ctx, messageOf(m, ""), why, s.cfg.Clock.Now())
}

// errNoChannel is the error for a notice whose channel is no longer configured.
var errNoChannel = errors.New("the alerts or their channel were turned off")

// send sends a notice over a channel. address is the recipient of mail. send returns errNoChannel if the channel is not configured.
func (s *Service) send(ctx context.Context, way alert.Channel, n alert.Notice, to alert.Channels, address string) error {
	switch {
	case way == alert.ByWebhook && s.cfg.Hooks != nil && to.Webhook != "":
		return s.cfg.Hooks.SendNotice(ctx, to.Webhook, n)
	case way == alert.ByText && s.cfg.Texter != nil && to.SMS:
		return s.cfg.Texter.SendText(ctx, n.Org, n.ID, n.Subject())
	case way == alert.ByMail && s.cfg.Mailer != nil && to.Email && address != "":
		return s.cfg.Mailer.SendMail(ctx, n.ID, address, n.Subject(), n.Text())
	}
	s.cfg.Logger.WarnContext(ctx, "a notice has no channel", "id", n.ID, "channel", way)
	return errNoChannel
}
