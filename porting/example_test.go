package porting_test

import (
	"fmt"
	"time"

	"github.com/callwright/callwright"
	"github.com/callwright/callwright/porting"
)

// PlanCancel allows a cancellation 5 days before the numbers are ported, and refuses it 1 day before, because the carrier's cut-off is 48
// hours.
func ExamplePlanCancel() {
	foc := time.Date(2026, 3, 10, 16, 0, 0, 0, time.UTC)
	r := porting.Request{State: porting.InProgress, Sending: true, Ref: "o1", Numbers: []porting.Number{
		{Number: "+14155550100", State: porting.NumberConfirmed, FOC: foc},
	}}
	for _, days := range []int{-5, -1} {
		phase, err := porting.PlanCancel(r, 48*time.Hour, foc.AddDate(0, 0, days))
		fmt.Printf("%d days: %q %q\n", -days, phase, callwright.CodeOf(err))
	}
	// Output:
	// 5 days: "soon" ""
	// 1 days: "" "INVALID_STATE"
}
