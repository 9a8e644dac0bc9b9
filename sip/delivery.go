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
	DeliveryGivenUp   DeliveryState = "given_up"  // it was refused for good, or failed too often
	DeliveryWithdrawn DeliveryState = "withdrawn" // the alerts or their channel were turned off before it was sent
)

// Delivery is a notice over one channel: who is told of an alert, and what has become of it.
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
	Error     string // why the last attempt failed; empty: it did not, or there was none
	CreatedAt time.Time
	DoneAt    *time.Time // nil: pending
}

// Deliveries stores who was told of alerts. A trunk is identified by Org and TrunkID. Given and returned values share no memory with
// stored ones. Every field comes back as it was stored; times are returned in UTC, exact to the microsecond. siptest.RunDeliveries tests
// it.
type Deliveries interface {
	// AddDelivery adds a delivery, and removes the oldest of its trunk so that at most keep are left. A delivery whose ID is stored
	// already is not added again: the stored one stays as it is, without an error.
	AddDelivery(ctx context.Context, d Delivery, keep int) error
	// ReportDelivery replaces all fields of a pending delivery of d.Org. One that is not pending stays as it is, and one that is not
	// stored is not added; neither is an error.
	ReportDelivery(ctx context.Context, d Delivery) error
	// DeliveriesOf returns up to limit deliveries of an organization's number, of all its trunks, by CreatedAt and ID, both descending:
	// those after a keyset, which is that of the last one of the page before. The zero keyset is the beginning.
	DeliveriesOf(
		ctx context.Context, org callwright.OrgID, number callwright.PhoneNumber, after callwright.Keyset, limit int,
	) ([]Delivery, error)
	// DeleteDeliveries removes the deliveries of a trunk, which t.Org and t.ID identify.
	DeleteDeliveries(ctx context.Context, t Trunk) error
	// ForgetDeliveries removes up to limit deliveries of all organizations that were created before a time, and returns their number.
	ForgetDeliveries(ctx context.Context, before time.Time, limit int) (int, error)
}

const maxDeliveriesPage = 100

// DeliveriesPage returns a page of those who were told of the alerts of a number's trunks, the newest first, at most limit of them. It
// is empty without Config.Deliveries. CodeNotFound when the organization has not attached the number.
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
