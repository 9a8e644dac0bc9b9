package report_test

import (
	"fmt"
	"os"
	"time"

	"github.com/callwright/callwright/agenttest/assert"
	"github.com/callwright/callwright/agenttest/engine"
	"github.com/callwright/callwright/agenttest/report"
)

func ExampleMarkdown() {
	r := report.Report{
		Name: "Booking", At: time.Date(2026, time.March, 1, 9, 0, 0, 0, time.UTC), Took: 2 * time.Second,
		Scenarios: []report.Scenario{{
			Name: "Books a table",
			Runs: []report.Run{{ID: "run-1", Verdict: engine.Passed, End: assert.EndByAgent, Took: 2 * time.Second}},
		}},
	}
	if err := report.Markdown(os.Stdout, r); err != nil {
		fmt.Println(err)
	}
	fmt.Println("exit code", report.Exit(r))
	// Output:
	// # Booking
	//
	// | Scenario | Result | Passed | Pass rate (95 %) | Score | Errors |
	// |---|---|---|---|---|---|
	// | Books a table | passed | 1 of 1 | 100 % (21 to 100) | none | 0 |
	// exit code 0
}
