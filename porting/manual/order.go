// Package manual implements a porting.Gateway for carriers without an API: the operator passes orders to carriers by mail, telephone or web
// page, and enters the progress of each number.
package manual

import (
	"context"
	"time"

	"github.com/callwright/callwright"
	"github.com/callwright/callwright/porting"
)

// Name is the Capabilities.Name of the gateway.
const Name = "manual"

// Order is an order that the operator passes to a carrier.
type Order struct {
	Ref           string // id of the order, derived from Key
	Key           string
	Submission    porting.Submission // encrypted at rest; its PINs are erased when the last number has ended
	Numbers       []porting.NumberSnapshot
	CancelAskedAt time.Time // zero if the customer does not want to cancel
	CancelRefused bool
	CreatedAt     time.Time
	UpdatedAt     time.Time
	Revision      int64 // increases by 1 with each update
}

// Store stores orders. manualtest.RunStore tests it. Returned values share no memory with stored values and equal them: times are in UTC
// with microseconds, and a nil list stays nil. Submissions and the raw messages of failures in Numbers are encrypted at rest. Methods take
// part in the transaction of ctx: see callwright.Atomic.
type Store interface {
	// InsertOrder adds an order with Revision 1. It returns CodeConflict if an order has the same Key or Ref; of concurrent calls exactly
	// one succeeds.
	InsertOrder(ctx context.Context, o Order) error
	// Order returns an order. It returns CodeNotFound if the order is absent.
	Order(ctx context.Context, ref string) (Order, error)
	// UpdateOrder replaces an order whose stored Revision is o.Revision, and increments the Revision. It returns CodeNotFound if the order
	// is absent, and CodeConflict if the Revision differs; of concurrent calls with the same Revision exactly one succeeds.
	UpdateOrder(ctx context.Context, o Order) error
	// Orders returns at most limit orders that follow the keyset after, in ascending order of (CreatedAt, Ref); the zero keyset means from
	// the beginning. If open is set, Orders returns only orders with a number that has not ended.
	Orders(ctx context.Context, open bool, after callwright.Keyset, limit int) ([]Order, error)
}
