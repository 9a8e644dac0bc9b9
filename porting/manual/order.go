// Package manual is a gateway behind which a person works: the operator passes orders to carriers by mail, telephone or their web
// pages, and enters the progress of each number.
package manual

import (
	"context"
	"time"

	"github.com/callwright/callwright"
	"github.com/callwright/callwright/porting"
)

// Name is the name of the gateway.
const Name = "manual"

// Order is an order that the operator handles.
type Order struct {
	Ref           string // its id, derived from the key
	Key           string
	Submission    porting.Submission // encrypted at rest; its PINs are erased when the last number has ended
	Numbers       []porting.NumberSnapshot
	CancelAskedAt time.Time // zero: the customer does not want to cancel
	CancelRefused bool
	CreatedAt     time.Time
	UpdatedAt     time.Time
	Revision      int64 // counts changes
}

// Store stores orders. manualtest.RunStore tests it. Returned values share no memory with stored ones. They equal the stored
// values: times are in UTC with microseconds, and a nil list stays nil. Submissions and the raw words of failures in Numbers are
// encrypted at rest. Methods take part in the transaction of ctx: see callwright.Atomic.
type Store interface {
	// InsertOrder adds an order with Revision 1. CodeConflict: an order has its Key or Ref; of concurrent calls exactly one
	// succeeds.
	InsertOrder(ctx context.Context, o Order) error
	// Order returns an order. CodeNotFound: it is absent.
	Order(ctx context.Context, ref string) (Order, error)
	// UpdateOrder replaces an order whose stored Revision is o.Revision, and adds one to it. CodeConflict: the Revision differs; of
	// concurrent calls with the same one exactly one succeeds. CodeNotFound: it is absent.
	UpdateOrder(ctx context.Context, o Order) error
	// Orders returns at most limit orders by (CreatedAt, Ref), ascending, after the keyset of an order; the zero keyset is the
	// beginning. If open is set, it returns only orders with a number whose State has not ended.
	Orders(ctx context.Context, open bool, after callwright.Keyset, limit int) ([]Order, error)
}
