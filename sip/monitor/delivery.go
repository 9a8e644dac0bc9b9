package monitor

import (
	"context"
	"errors"
	"time"

	"github.com/callwright/callwright"
	"github.com/callwright/callwright/sip"
	"github.com/callwright/callwright/sip/alert"
)

// Limits of deliveries and their retention.
const (
	keptDeliveries = 200                 // maximum number of deliveries per trunk
	keepFor        = 90 * 24 * time.Hour // maximum age of a delivery
	deleteEvery    = time.Hour
	deleteBatch    = 500 // deliveries that one statement deletes
	forgetRounds   = 100 // maximum number of statements per run
	maxReason      = 200 // limit of Delivery.Error in bytes
)

// delivery returns a pending delivery of a message to the currently configured address.
func (s *Service) delivery(ctx context.Context, t sip.Trunk, m message) (sip.Delivery, error) {
	d := sip.Delivery{
		ID: m.Notice.ID + "/" + string(m.Channel), Org: t.Org, TrunkID: t.ID, Number: t.Number, Direction: t.Direction,
		Kind: m.Notice.Kind, Resolved: m.Notice.ResolvedAt != nil, Channel: m.Channel, State: sip.DeliveryPending,
		CreatedAt: m.Notice.TriggeredAt,
	}
	if m.Notice.ResolvedAt != nil {
		d.CreatedAt = *m.Notice.ResolvedAt
	}
	switch {
	case m.Channel == alert.ByWebhook && t.Alerts != nil:
		d.To = t.Alerts.Channels.WebhookHost()
	case m.Channel == alert.ByMail:
		o, err := s.cfg.Organizations.Organization(ctx, t.Org)
		if err != nil {
			return d, err
		}
		d.To = o.ContactEmail
	}
	return d, nil
}

// recordDelivery stores a pending delivery of a message. It must be called in the transaction that enqueues the message.
func (s *Service) recordDelivery(ctx context.Context, t sip.Trunk, m message) error {
	if s.cfg.Deliveries == nil {
		return nil
	}
	d, err := s.delivery(ctx, t, m)
	if err != nil {
		return err
	}
	return s.cfg.Deliveries.AddDelivery(ctx, d, keptDeliveries)
}

// reportDelivery stores the result of an attempt. It returns the error that causes another attempt, which is retry, joined with the error
// of the store if the result cannot be stored. If the process ends before the result is stored, the attempt is repeated with the same
// idempotency key.
func (s *Service) reportDelivery(ctx context.Context, d sip.Delivery, failure, retry error) error {
	switch {
	case failure == nil:
		d.State = sip.DeliverySent
	case errors.Is(failure, errNoChannel):
		d.State, d.Error = sip.DeliveryWithdrawn, failure.Error()
	case retry == nil:
		if d.Channel != alert.ByMail { // the mailer logs its failures itself
			s.cfg.Logger.WarnContext(ctx, "an alert is given up", "id", d.ID, "org", d.Org, "to", d.To, "error", failure)
		}
		d.State, d.Error = sip.DeliveryGivenUp, callwright.MessageOf(failure)
	default:
		d.Error = callwright.MessageOf(failure)
	}
	d.Error = callwright.Clip(d.Error, maxReason)
	if d.State != sip.DeliveryPending {
		now := s.cfg.Clock.Now()
		d.DoneAt = &now
	}
	if s.cfg.Deliveries == nil {
		return retry
	}
	if err := s.cfg.Deliveries.ReportDelivery(ctx, d); err != nil {
		return errors.Join(retry, err)
	}
	return retry
}

// deleteDeliveries is periodic work. It deletes the deliveries that are older than keepFor.
func (s *Service) deleteDeliveries(ctx context.Context, _ callwright.Task, _ int) error {
	before := s.cfg.Clock.Now().Add(-keepFor)
	for range forgetRounds {
		n, err := s.cfg.Deliveries.DeleteOldDeliveries(ctx, before, deleteBatch)
		if err != nil || n < deleteBatch {
			return err
		}
	}
	return nil
}
