package group_test

import (
	"fmt"

	"github.com/callwright/callwright/agenttest/engine"
	"github.com/callwright/callwright/agenttest/group"
	"github.com/callwright/callwright/agenttest/run"
)

// This example prints how many runs of a group have ended, and why no more of them start.
func Example() {
	set := group.Batch{
		Kind: group.Simulations, Scenarios: make([]run.Subject, 2), Simulations: 5, Budget: engine.Limit{Tokens: 1000},
		Counts: group.Counts{Passed: 3, Failed: 1}, Spend: engine.Spend{Tokens: 1000}, Cancel: true, Reason: group.StoppedByBudget,
	}
	fmt.Println(set.Counts.Ended(), "of", set.Total(), "have ended")
	fmt.Println(set.StopMessage())
	// Output:
	// 4 of 10 have ended
	// the budget is used up (1000 of 1000 tokens, by the runs that have ended): start again with a larger budget
}
