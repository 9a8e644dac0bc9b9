package run_test

import (
	"fmt"

	"github.com/callwright/callwright/agenttest/run"
)

// A run that waits can be claimed or cancelled, and nothing else. One that has ended stays unchanged.
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
	// what is PASSED cannot become RUNNING
}
