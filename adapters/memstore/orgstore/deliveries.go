package orgstore

import (
	"cmp"
	"context"
	"time"

	"github.com/callwright/callwright"
	"github.com/callwright/callwright/adapters/memstore"
	"github.com/callwright/callwright/adapters/memstore/internal/memory"
	"github.com/callwright/callwright/delivery"
)

type deliveryKey struct {
	org callwright.OrgID
	id  string
}

// Deliveries implements delivery.Store in memory.
type Deliveries struct{ Store *memstore.Store }

// StoreDelivery adds or replaces a delivery. A replacement keeps the stored Since and adds the Attempts of both. StoreDelivery also deletes
// the organization's deliveries whose Since is before the given time.
func (s Deliveries) StoreDelivery(ctx context.Context, d delivery.Delivery, before time.Time) error {
	return with(ctx, s.Store, func(all *data) error {
		d := memory.Clone(d)
		if old, ok := all.deliveries.Rows()[deliveryKey{d.Org, d.ID}]; ok {
			d.Since, d.Attempts = old.Since, d.Attempts+old.Attempts
		}
		all.deliveries.Set(deliveryKey{d.Org, d.ID}, d)
		return all.deliveries.DeleteWhere(func(old delivery.Delivery) bool { return old.Org == d.Org && old.Since.Before(before) })
	})
}

// FinishDelivery stores the result of a pending delivery and adds its Attempts. It does nothing if the delivery is absent or not pending.
func (s Deliveries) FinishDelivery(ctx context.Context, d delivery.Delivery) error {
	return with(ctx, s.Store, func(all *data) error {
		old, ok := all.deliveries.Rows()[deliveryKey{d.Org, d.ID}]
		if !ok || old.State != delivery.Pending {
			return nil
		}
		old.State, old.Last, old.Next, old.Attempts = d.State, d.Last, nil, old.Attempts+d.Attempts
		old.Failure = cmp.Or(d.Failure, old.Failure)
		all.deliveries.Set(deliveryKey{d.Org, d.ID}, old)
		return nil
	})
}

// Deliveries returns a page of an organization's deliveries whose Since is at or after the given time, newest first. An empty state selects
// all states.
func (s Deliveries) Deliveries(
	ctx context.Context, org callwright.OrgID, state delivery.State, since time.Time, after callwright.Keyset, limit int,
) ([]delivery.Delivery, error) {
	return read(ctx, s.Store, func(all *data) ([]delivery.Delivery, error) {
		place := func(d delivery.Delivery) callwright.Keyset { return callwright.Keyset{At: d.Since, ID: d.ID} }
		return all.deliveries.Page(after, max(limit, 1), place, func(d delivery.Delivery) bool {
			return d.Org == org && (state == "" || d.State == state) && !d.Since.Before(since)
		}), nil
	})
}
