package sipstore

import (
	"context"
	"math"
	"time"

	"github.com/callwright/callwright"
	"github.com/callwright/callwright/adapters/memstore"
	"github.com/callwright/callwright/sip"
)

// Deliveries implements sip.Deliveries in memory.
type Deliveries struct{ Store *memstore.Store }

// AddDelivery adds a delivery, and deletes the trunk's oldest deliveries, so that at most the given number stays. It does nothing if the
// delivery is already stored.
func (s Deliveries) AddDelivery(ctx context.Context, n sip.Delivery, keep int) error {
	return with(ctx, s.Store, func(d *data) error {
		if err := d.deliveries.Insert(n); err != nil {
			return nil //nolint:nilerr // it is there already
		}
		all := d.deliveries.Page(callwright.Keyset{}, math.MaxInt, deliveryPlace, ofTrunk(n.Org, n.TrunkID))
		for _, old := range all[min(keep, len(all)):] {
			d.deliveries.Table.Delete(old.ID)
		}
		return nil
	})
}

func deliveryPlace(d sip.Delivery) callwright.Keyset {
	return callwright.Keyset{At: d.CreatedAt, ID: d.ID}
}

func ofTrunk(org callwright.OrgID, trunkID string) func(sip.Delivery) bool {
	return func(d sip.Delivery) bool { return d.Org == org && d.TrunkID == trunkID }
}

// ReportDelivery replaces a delivery. It does nothing if the stored delivery is absent or not pending.
func (s Deliveries) ReportDelivery(ctx context.Context, n sip.Delivery) error {
	return with(ctx, s.Store, func(d *data) error {
		if stored, err := d.deliveries.Find(n.Org, n.ID); err == nil && stored.State == sip.DeliveryPending {
			return d.deliveries.Replace(n)
		}
		return nil
	})
}

// DeliveriesOf returns a page of the deliveries of an organization's number, newest first.
func (s Deliveries) DeliveriesOf(
	ctx context.Context, org callwright.OrgID, number callwright.PhoneNumber, after callwright.Keyset, limit int,
) ([]sip.Delivery, error) {
	return read(ctx, s.Store, func(d *data) ([]sip.Delivery, error) {
		of := func(one sip.Delivery) bool { return one.Org == org && one.Number == number }
		return d.deliveries.Page(after, limit, deliveryPlace, of), nil
	})
}

// DeleteDeliveries deletes the deliveries of a trunk.
func (s Deliveries) DeleteDeliveries(ctx context.Context, t sip.Trunk) error {
	return with(ctx, s.Store, func(d *data) error {
		return d.deliveries.DeleteWhere(ofTrunk(t.Org, t.ID))
	})
}

// DeleteOldDeliveries deletes up to limit deliveries that were created before the given time. It returns the number of deleted deliveries.
func (s Deliveries) DeleteOldDeliveries(ctx context.Context, before time.Time, limit int) (int, error) {
	return read(ctx, s.Store, func(d *data) (int, error) {
		return d.deliveries.DeleteUpTo(limit, func(one sip.Delivery) bool { return one.CreatedAt.Before(before) })
	})
}
