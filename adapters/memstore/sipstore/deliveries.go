package sipstore

import (
	"cmp"
	"context"
	"maps"
	"slices"
	"time"

	"github.com/callwright/callwright"
	"github.com/callwright/callwright/adapters/memstore"
	"github.com/callwright/callwright/adapters/memstore/internal/memory"
	"github.com/callwright/callwright/sip"
)

// Deliveries is a sip.Deliveries.
type Deliveries struct{ Store *memstore.Store }

// AddDelivery adds a delivery, and removes the oldest of its trunk.
func (s Deliveries) AddDelivery(ctx context.Context, n sip.Delivery, keep int) error {
	return with(ctx, s.Store, func(d *data) error {
		if _, found := d.deliveries[n.ID]; found {
			return nil
		}
		d.deliveries[n.ID] = memory.Clone(n)
		all := d.newest(func(other sip.Delivery) bool { return other.Org == n.Org && other.TrunkID == n.TrunkID })
		for _, old := range all[min(keep, len(all)):] {
			delete(d.deliveries, old.ID)
		}
		return nil
	})
}

// newest returns the deliveries that are wanted, the newest first.
func (d *data) newest(wanted func(sip.Delivery) bool) (found []sip.Delivery) {
	for _, one := range d.deliveries {
		if wanted(one) {
			found = append(found, one)
		}
	}
	slices.SortFunc(found, func(a, b sip.Delivery) int {
		return cmp.Or(b.CreatedAt.Compare(a.CreatedAt), cmp.Compare(b.ID, a.ID))
	})
	return found
}

// ReportDelivery replaces a pending delivery.
func (s Deliveries) ReportDelivery(ctx context.Context, n sip.Delivery) error {
	return with(ctx, s.Store, func(d *data) error {
		if stored, found := d.deliveries[n.ID]; found && stored.Org == n.Org && stored.State == sip.DeliveryPending {
			d.deliveries[n.ID] = memory.Clone(n)
		}
		return nil
	})
}

// DeliveriesOf returns a page of the deliveries of a number.
func (s Deliveries) DeliveriesOf(
	ctx context.Context, org callwright.OrgID, number callwright.PhoneNumber, after callwright.Keyset, limit int,
) (page []sip.Delivery, err error) {
	err = with(ctx, s.Store, func(d *data) error {
		found := d.newest(func(one sip.Delivery) bool {
			return one.Org == org && one.Number == number &&
				(after.IsZero() || cmp.Or(one.CreatedAt.Compare(after.At), cmp.Compare(one.ID, after.ID)) < 0)
		})
		page = memory.Clone(found[:min(limit, len(found))])
		return nil
	})
	return page, err
}

// DeleteDeliveries deletes the deliveries of a trunk.
func (s Deliveries) DeleteDeliveries(ctx context.Context, t sip.Trunk) error {
	return with(ctx, s.Store, func(d *data) error {
		maps.DeleteFunc(d.deliveries, func(_ string, one sip.Delivery) bool { return one.Org == t.Org && one.TrunkID == t.ID })
		return nil
	})
}

// DeleteOldDeliveries deletes old deliveries.
func (s Deliveries) DeleteOldDeliveries(ctx context.Context, before time.Time, limit int) (removed int, err error) {
	err = with(ctx, s.Store, func(d *data) error {
		for id, one := range d.deliveries {
			if removed < limit && one.CreatedAt.Before(before) {
				delete(d.deliveries, id)
				removed++
			}
		}
		return nil
	})
	return removed, err
}
