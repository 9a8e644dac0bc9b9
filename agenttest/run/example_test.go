package run_test

import (
	"fmt"

	"github.com/callwright/callwright/agenttest/run"
)

// This example prints the states to which a waiting run can change, and the error of changing an ended run.
func ExampleState_Move() {
	for _, to := range run.States() {
		if _, err := run.Pending.Move(to); err == nil {
			fmt.Println(to)
		}
	}
	_, err := run.Passed.Move(run.Running)
	fmt.Println(err)
	// Output:
	// RUNNING
	// CANCELLED
	// a run in state PASSED cannot become RUNNING
}
