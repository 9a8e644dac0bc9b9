package scenario_test

import (
	"fmt"

	"github.com/callwright/callwright"
	"github.com/callwright/callwright/agenttest/scenario"
)

func ExamplePatch() {
	s := scenario.Scenario{Name: "Books a table", Kind: scenario.Agent, MaxTurns: 8}
	s = scenario.Patch{MaxTurns: callwright.Given(12)}.Apply(s)
	fmt.Println(s.Name, s.MaxTurns)
	// Output: Books a table 12
}
