package caller_test

import (
	"context"
	"fmt"

	"github.com/callwright/callwright/agents/llm"
	"github.com/callwright/callwright/agenttest/caller"
	"github.com/callwright/callwright/agenttest/scenario"
)

func ExampleScripted() {
	scripted := caller.NewScripted([]scenario.Message{
		{Role: llm.RoleCaller, Text: "A table for two, please."},
		{Role: llm.RoleCaller, Text: "At eight."},
	})
	for turn := range 3 {
		line, err := scripted.Next(context.Background(), caller.Moment{Turn: turn})
		fmt.Printf("%q %t %v\n", line.Text, line.HangUp, err)
	}
	// Output:
	// "A table for two, please." false <nil>
	// "At eight." false <nil>
	// "" true <nil>
}
