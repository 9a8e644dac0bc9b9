package agenttesttest_test

import (
	"context"
	"fmt"

	"github.com/callwright/callwright/agenttest/agenttesttest"
	"github.com/callwright/callwright/agenttest/engine"
)

// This example holds a conversation with an agent whose turns are scripted. It prints the agent's turns, and the caller's last words as the
// Runner recorded them.
func Example() {
	ctx := context.Background()
	runner := &agenttesttest.Runner{Turns: []engine.AgentTurn{{Text: "Hello."}, {Text: "Goodbye.", Ended: true}}}
	session, err := runner.Start(ctx, engine.SessionSpec{Org: "acme", Pathway: "p1"})
	if err != nil {
		fmt.Println(err)
		return
	}
	for _, words := range []string{"", "I have no time."} { // the agent speaks first
		turn, err := session.Reply(ctx, engine.CallerTurn{Text: words})
		if err != nil {
			fmt.Println(err)
			return
		}
		fmt.Println(turn.Text, turn.Ended)
	}
	fmt.Println(session.Close(), runner.Open(), runner.Heard()[1].Text)
	// Output:
	// Hello. false
	// Goodbye. true
	// <nil> 0 I have no time.
}
