package portingstore

import (
	"cmp"
	"context"
	"slices"
	"time"

	"github.com/callwright/callwright"
	"github.com/callwright/callwright/adapters/memstore"
	"github.com/callwright/callwright/adapters/memstore/internal/memory"
	"github.com/callwright/callwright/porting/manual"
)

// manualData holds the orders of the manual gateway by their references. Its values are never changed in place.
type manualData struct {
	orders *memory.Table[string, manual.Order]
}

// New returns the data of an empty store.
func (manualData) New() manualData {
	return manualData{orders: memory.NewTable[string, manual.Order]()}
}

// Clone begins a transaction: the table records its changes.
func (d manualData) Clone() manualData {
	d.orders.Begin()
	return d
}

// Undo reverses the changes since Clone.
func (d manualData) Undo() { d.orders.Undo() }

// ManualOrders is a manual.Store.
type ManualOrders struct{ Store *memstore.Store }

var _ manual.Store = ManualOrders{}

// withOrders calls f with the orders, in the transaction of ctx or alone. f must not fail after its first change.
func (s ManualOrders) withOrders(ctx context.Context, f func(orders *memory.Table[string, manual.Order]) error) error {
	return memory.With(ctx, s.Store.Core(), func(d *manualData) error { return f(d.orders) })
}

// InsertOrder adds an order.
func (s ManualOrders) InsertOrder(ctx context.Context, o manual.Order) error {
	return s.withOrders(ctx, func(orders *memory.Table[string, manual.Order]) error {
		for _, stored := range orders.Rows() {
			if stored.Ref == o.Ref || stored.Key == o.Key {
				return callwright.ErrConflict
			}
		}
		o.Revision = 1
		orders.Set(o.Ref, memory.Clone(o))
		return nil
	})
}

// Order returns an order.
func (s ManualOrders) Order(ctx context.Context, ref string) (o manual.Order, err error) {
	err = s.withOrders(ctx, func(orders *memory.Table[string, manual.Order]) error {
		stored, ok := orders.Rows()[ref]
		if !ok {
			return callwright.NotFound("order")
		}
		o = memory.Clone(stored)
		return nil
	})
	return o, err
}

// UpdateOrder replaces an order.
func (s ManualOrders) UpdateOrder(ctx context.Context, o manual.Order) error {
	return s.withOrders(ctx, func(orders *memory.Table[string, manual.Order]) error {
		switch stored, ok := orders.Rows()[o.Ref]; {
		case !ok:
			return callwright.NotFound("order")
		case stored.Revision != o.Revision:
			return callwright.ErrConflict
		}
		o.Revision++
		orders.Set(o.Ref, memory.Clone(o))
		return nil
	})
}

// Orders returns a page of orders.
func (s ManualOrders) Orders(
	ctx context.Context, open bool, after callwright.Keyset, limit int,
) (found []manual.Order, err error) {
	place := func(at time.Time, ref string, than callwright.Keyset) int {
		return cmp.Or(at.Compare(than.At), cmp.Compare(ref, than.ID))
	}
	err = s.withOrders(ctx, func(orders *memory.Table[string, manual.Order]) error {
		for _, o := range orders.Rows() {
			if (!open || !o.Ended()) && (after.IsZero() || place(o.CreatedAt, o.Ref, after) > 0) {
				found = append(found, o)
			}
		}
		slices.SortFunc(found, func(a, b manual.Order) int {
			return place(a.CreatedAt, a.Ref, callwright.Keyset{At: b.CreatedAt, ID: b.Ref})
		})
		found = memory.Clone(found[:min(limit, len(found))])
		return nil
	})
	return found, err
}
