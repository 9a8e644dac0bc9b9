package portgateway_test

import (
	"context"
	"fmt"
	"time"

	"github.com/callwright/callwright"
	"github.com/callwright/callwright/adapters/portgateway"
	"github.com/callwright/callwright/porting"
)

// The simulated carrier confirms an order within a day.
func Example() {
	now := &clock{now: signed}
	gateway, err := portgateway.NewSimulated(portgateway.SimulatedConfig{Runtime: callwright.Runtime{Clock: now}})
	if err != nil {
		fmt.Println(err)
		return
	}
	ctx := context.Background()
	order := porting.Order{
		Key: "request-1", Numbers: []callwright.PhoneNumber{"+14155551234"}, SignedAt: now.now, TargetDate: time.Date(2026, 3, 10, 0, 0, 0, 0, time.UTC),
	}
	receipt, err := gateway.Submit(ctx, porting.Submission{Order: order})
	if err != nil {
		fmt.Println(err)
		return
	}
	order.Ref = receipt.Ref
	for range 2 {
		snapshot, err := gateway.Snapshot(ctx, order)
		if err != nil {
			fmt.Println(err)
			return
		}
		fmt.Println(snapshot.Numbers[0].State)
		now.move(25 * time.Hour)
	}
	// Output:
	// submitted
	// foc_confirmed
}
