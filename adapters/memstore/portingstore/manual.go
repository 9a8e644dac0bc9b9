package portingstore

import (
	"context"

	"github.com/callwright/callwright"
	"github.com/callwright/callwright/adapters/memstore"
	"github.com/callwright/callwright/adapters/memstore/internal/memory"
	"github.com/callwright/callwright/porting/manual"
)

// manualData holds the orders of the manual gateway by their Ref. The orders belong to no organization.
type manualData struct {
	*memory.Tables
	orders *memory.Rows[string, manual.Order]
}

// New returns the data of an empty store.
func (manualData) New() manualData {
	t := &memory.Tables{}
	return manualData{t, memory.NewRows(t, "order", func(o *manual.Order) (callwright.OrgID, string, *int64) { return "", o.Ref, &o.Revision })}
}

// ManualOrders implements manual.Store in memory.
type ManualOrders struct{ Store *memstore.Store }

var _ manual.Store = ManualOrders{}

// InsertOrder adds an order. It returns CodeConflict if its Ref or Key is already stored.
func (s ManualOrders) InsertOrder(ctx context.Context, o manual.Order) error {
	return memory.With(ctx, s.Store.Core(), func(d *manualData) error {
		for _, stored := range d.orders.Rows() {
			if stored.Key == o.Key {
				return callwright.ErrConflict
			}
		}
		return d.orders.Insert(o)
	})
}

// Order returns the order with the given Ref, or CodeNotFound if it is absent.
func (s ManualOrders) Order(ctx context.Context, ref string) (manual.Order, error) {
	return memory.Read(ctx, s.Store.Core(), func(d *manualData) (manual.Order, error) { return d.orders.Find("", ref) })
}

// UpdateOrder replaces an order. It returns CodeConflict if the stored revision differs, and CodeNotFound if the order is absent.
func (s ManualOrders) UpdateOrder(ctx context.Context, o manual.Order) error {
	return memory.With(ctx, s.Store.Core(), func(d *manualData) error { return d.orders.Replace(o) })
}

// Orders returns up to limit orders after a keyset, oldest first. If open is set, it skips orders that have ended.
func (s ManualOrders) Orders(ctx context.Context, open bool, after callwright.Keyset, limit int) ([]manual.Order, error) {
	place := func(o manual.Order) callwright.Keyset { return callwright.Keyset{At: o.CreatedAt, ID: o.Ref} }
	oldest := func(a, b manual.Order) int { return memory.Compare(place(a), place(b)) }
	return memory.Read(ctx, s.Store.Core(), func(d *manualData) ([]manual.Order, error) {
		return d.orders.Select(limit, oldest, func(o manual.Order) bool {
			return (!open || !o.Ended()) && (after.IsZero() || memory.Compare(place(o), after) > 0)
		}), nil
	})
}
