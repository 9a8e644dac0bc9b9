package analysis_test

import (
	"context"
	"fmt"

	"github.com/callwright/callwright/agenttest/analysis"
	"github.com/callwright/callwright/agenttest/engine"
	"github.com/callwright/callwright/agenttest/scenario"
)

func ExampleAnalyze() {
	found, err := analysis.Analyze(context.Background(), nil, analysis.Case{ // without a model, rules analyze the run
		Scenario: scenario.Scenario{Name: "Books a table"},
		Outcome:  engine.Outcome{Verdict: engine.Error, Error: "the model refused the key"},
	})
	fmt.Println(found.By, found.Fault, found.Cause, err)
	// Output: rules infrastructure The run says nothing about the agent: the model refused the key <nil>
}
