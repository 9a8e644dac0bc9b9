package orgstore

import (
	"cmp"
	"context"
	"maps"
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

// Deliveries is a delivery.Store.
type Deliveries struct{ Store *memstore.Store }

// StoreDelivery adds a delivery, or replaces the one that is there.
func (s Deliveries) StoreDelivery(ctx context.Context, d delivery.Delivery, before time.Time) error {
	return with(ctx, s.Store, func(all *data) error {
		d := memory.Clone(d)
		if old, ok := all.deliveries[deliveryKey{d.Org, d.ID}]; ok {
			d.Since, d.Attempts = old.Since, d.Attempts+old.Attempts
		}
		all.deliveries[deliveryKey{d.Org, d.ID}] = d
		maps.DeleteFunc(all.deliveries, func(_ deliveryKey, old delivery.Delivery) bool {
			return old.Org == d.Org && old.Since.Before(before)
		})
		return nil
	})
}

// FinishDelivery ends a delivery that is pending.
func (s Deliveries) FinishDelivery(ctx context.Context, d delivery.Delivery) error {
	return with(ctx, s.Store, func(all *data) error {
		old, ok := all.deliveries[deliveryKey{d.Org, d.ID}]
		if !ok || old.State != delivery.Pending {
			return nil
		}
		old.State, old.Last, old.Next, old.Attempts = d.State, d.Last, nil, old.Attempts+d.Attempts
		old.Failure = cmp.Or(d.Failure, old.Failure)
		all.deliveries[deliveryKey{d.Org, d.ID}] = old
		return nil
	})
}

// Deliveries returns a page of deliveries.
func (s Deliveries) Deliveries(
	ctx context.Context, org callwright.OrgID, state delivery.State, since time.Time, after callwright.Keyset, limit int,
) (found []delivery.Delivery, err error) {
	err = with(ctx, s.Store, func(all *data) error {
		chosen := func(yield func(delivery.Delivery) bool) {
			for _, d := range all.deliveries {
				if d.Org == org && (state == "" || d.State == state) && !d.Since.Before(since) && !yield(d) {
					return
				}
			}
		}
		found = page(chosen, after, limit, func(d delivery.Delivery) callwright.Keyset { return callwright.Keyset{At: d.Since, ID: d.ID} })
		return nil
	})
	return found, err
}
