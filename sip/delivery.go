package sip

import (
	"context"
	"time"

	"github.com/callwright/callwright"
	"github.com/callwright/callwright/sip/alert"
)

// DeliveryState is the state of a Delivery.
type DeliveryState string

// The states. All but DeliveryPending are final.
const (
	DeliveryPending   DeliveryState = "pending"
	DeliverySent      DeliveryState = "sent"
	DeliveryGivenUp   DeliveryState = "given_up"  // permanently refused, or out of retries
	DeliveryWithdrawn DeliveryState = "withdrawn" // the alerts or their channel were turned off before it was sent
)

// Delivery is one notice of an alert over one channel: its recipient and its outcome.
type Delivery struct {
	ID        string // unique for the notice and the channel
	Org       callwright.OrgID
	TrunkID   string
	Number    callwright.PhoneNumber
	Direction Direction
	Kind      alert.Kind
	Resolved  bool // the notice resolves the alert; otherwise it raises it
	Channel   alert.Channel
	To        string // an e-mail address, or see alert.Channels.WebhookHost; empty: the organization's contacts
	State     DeliveryState
	Attempts  int
	Error     string // error of the last attempt; empty: it succeeded, or none was made
	CreatedAt time.Time
	DoneAt    *time.Time // nil: pending
}

// Deliveries stores the deliveries of alerts. A trunk is identified by Org and TrunkID. Given and returned values share no memory
// with stored ones. Every field comes back unchanged; times are returned in UTC, exact to the microsecond. siptest.RunDeliveries
// tests it.
type Deliveries interface {
	// AddDelivery adds a delivery, and deletes the oldest ones of its trunk so that at most keep remain. It leaves a stored
	// delivery with the same ID unchanged, without an error.
	AddDelivery(ctx context.Context, d Delivery, keep int) error
	// ReportDelivery replaces all fields of a pending delivery of d.Org. It changes nothing, without an error, if the delivery is
	// not pending or not stored.
	ReportDelivery(ctx context.Context, d Delivery) error
	// DeliveriesOf returns up to limit deliveries of an organization's number, of all its trunks, by CreatedAt and ID, both
	// descending, after a keyset: the keyset of the previous page's last delivery. The zero keyset is the beginning.
	DeliveriesOf(
		ctx context.Context, org callwright.OrgID, number callwright.PhoneNumber, after callwright.Keyset, limit int,
	) ([]Delivery, error)
	// DeleteDeliveries deletes the deliveries of a trunk, which t.Org and t.ID identify.
	DeleteDeliveries(ctx context.Context, t Trunk) error
	// DeleteOldDeliveries deletes up to limit deliveries of all organizations that were created before a time, and returns their
	// number.
	DeleteOldDeliveries(ctx context.Context, before time.Time, limit int) (int, error)
}

const maxDeliveriesPage = 100

// DeliveriesPage returns a page of the deliveries about a number's trunks, the newest first, at most limit of them. It is empty
// without Config.Deliveries. CodeNotFound when the organization has not attached the number.
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
