package manual_test

import (
	"context"
	"fmt"
	"time"

	"github.com/callwright/callwright"
	"github.com/callwright/callwright/adapters/memstore"
	"github.com/callwright/callwright/adapters/memstore/portingstore"
	"github.com/callwright/callwright/porting"
	"github.com/callwright/callwright/porting/manual"
)

// The operator enters the date that the carrier has confirmed, and the next snapshot of the order contains the date.
func Example() {
	gateway, err := manual.New(manual.Config{
		Store: portingstore.ManualOrders{Store: memstore.New()}, Runtime: callwright.Runtime{Clock: clock{}},
	})
	if err != nil {
		fmt.Println(err)
		return
	}
	ctx := context.Background()
	order := porting.Order{Key: "request-1", Numbers: []callwright.PhoneNumber{"+14155551234"}, SignedAt: signed}
	receipt, err := gateway.Submit(ctx, porting.Submission{Order: order})
	if err != nil {
		fmt.Println(err)
		return
	}
	for _, move := range []manual.Move{
		{State: porting.NumberInProgress}, {State: porting.NumberConfirmed, FOC: time.Date(2026, 3, 10, 16, 0, 0, 0, time.UTC)},
	} {
		if _, err := gateway.Move(ctx, receipt.Ref, move); err != nil {
			fmt.Println(err)
			return
		}
	}
	order.Ref = receipt.Ref
	snapshot, err := gateway.Snapshot(ctx, order)
	fmt.Println(snapshot.Numbers[0].State, snapshot.Numbers[0].FOC.Format(time.DateOnly), err)
	// Output: foc_confirmed 2026-03-10 <nil>
}
