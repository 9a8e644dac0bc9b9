package triagetest_test

import (
	"context"
	"fmt"

	"github.com/callwright/callwright/triage"
	"github.com/callwright/callwright/triage/triagetest"
)

// A test scripts the two steps of an analysis, and reads the cases that the Analyst recorded.
func Example() {
	analyst := &triagetest.Analyst{Plays: []triagetest.Play{
		{Progress: triage.Progress{Next: triage.SessionActive}},
		{Progress: triage.Progress{Next: triage.SessionComplete}},
	}}
	for taken := range 2 {
		progress, err := analyst.Step(context.Background(), triage.Case{Org: "acme", Prompt: "Why?", PreviousSteps: taken})
		fmt.Println(progress.Next, err)
	}
	fmt.Println(analyst.Name(), len(analyst.Cases()), analyst.Cases()[0].Prompt)
	// Output:
	// active <nil>
	// complete <nil>
	// Analyst 2 Why?
}
