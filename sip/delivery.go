package sip

import (
	"context"
	"time"

	"github.com/callwright/callwright"
	"github.com/callwright/callwright/sip/alert"
)

// DeliveryState is the state of a Delivery. DeliveryPending is the only state that can change.
type DeliveryState string

// The states of a delivery. All except DeliveryPending are final.
const (
	DeliveryPending   DeliveryState = "pending"
	DeliverySent      DeliveryState = "sent"
	DeliveryGivenUp   DeliveryState = "given_up"  // the recipient refused permanently, or the retries were used up
	DeliveryWithdrawn DeliveryState = "withdrawn" // the alerts or the channel were turned off before the notice was sent
)

// Delivery is the delivery of one alert notice over one channel: its recipient and its outcome.
type Delivery struct {
	ID        string // unique per notice and channel
	Org       callwright.OrgID
	TrunkID   string
	Number    callwright.PhoneNumber
	Direction Direction
	Kind      alert.Kind
	Resolved  bool // the notice reports that the alert is resolved, not that it is raised
	Channel   alert.Channel
	To        string // e-mail address, or alert.Channels.WebhookHost; empty means the organization's contacts
	State     DeliveryState
	Attempts  int
	Error     string // error of the last attempt; empty if it succeeded or none was made
	CreatedAt time.Time
	DoneAt    *time.Time // nil while pending
}

// Deliveries stores the deliveries of alerts. Org and TrunkID identify a trunk. Given and returned values share no memory with stored
// values. Every field is returned as stored; times are in UTC with microseconds. siptest.RunDeliveries tests it.
type Deliveries interface {
	// AddDelivery adds a delivery, and deletes the trunk's oldest deliveries, so that at most keep deliveries of the trunk remain. If a
	// delivery with the same ID is stored, AddDelivery leaves it unchanged and returns nil.
	AddDelivery(ctx context.Context, d Delivery, keep int) error
	// ReportDelivery replaces all fields of a pending delivery of d.Org. If the delivery is absent or not pending, ReportDelivery changes
	// nothing and returns nil.
	ReportDelivery(ctx context.Context, d Delivery) error
	// DeliveriesOf returns at most limit deliveries for all trunks of an organization's number, in descending order of (CreatedAt, ID),
	// beginning after the keyset of a delivery. The zero keyset means from the beginning.
	DeliveriesOf(
		ctx context.Context, org callwright.OrgID, number callwright.PhoneNumber, after callwright.Keyset, limit int,
	) ([]Delivery, error)
	// DeleteDeliveries deletes all deliveries of the trunk that t.Org and t.ID identify.
	DeleteDeliveries(ctx context.Context, t Trunk) error
	// DeleteOldDeliveries deletes at most limit deliveries of all organizations that were created before a time. It returns how many it
	// deleted.
	DeleteOldDeliveries(ctx context.Context, before time.Time, limit int) (int, error)
}

const maxDeliveriesPage = 100

// DeliveriesPage returns a page of the deliveries for a number's trunks, newest first. limit must be from 1 to 100. The page is empty if
// Config.Deliveries is nil. DeliveriesPage returns CodeNotFound if the organization has not attached the number.
func (s *Service) DeliveriesPage(
	ctx context.Context, org callwright.OrgID, number string, after callwright.Keyset, limit int,
) (page callwright.Page[Delivery], err error) {
	if limit < 1 || limit > maxDeliveriesPage {
		return page, callwright.Invalid("limit", "must be from 1 to %d", maxDeliveriesPage)
	}
	if _, err := s.attached(ctx, org, number); err != nil || s.cfg.Deliveries == nil {
		return page, err
	}
	n, err := s.Number(ctx, org, number)
	if err != nil {
		return page, err
	}
	found, err := s.cfg.Deliveries.DeliveriesOf(ctx, org, n, after, limit+1)
	size := func(Delivery) int { return 0 }
	return callwright.Fit(found, limit, 0, size, func(d Delivery) callwright.Keyset { return callwright.Keyset{At: d.CreatedAt, ID: d.ID} }), err
}
