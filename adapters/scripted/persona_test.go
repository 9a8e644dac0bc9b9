package scripted_test

import (
	"testing"

	"github.com/callwright/callwright/adapters/scripted"
	"github.com/callwright/callwright/agents/llm"
	simulated "github.com/callwright/callwright/agenttest/caller"
	"github.com/callwright/callwright/agenttest/scenario"
)

// TestPersona checks that the caller of an agent test follows the rule lines of its persona, and hangs up when no rule applies.
func TestPersona(t *testing.T) {
	t.Parallel()
	c, err := simulated.New(scenario.Scenario{
		Kind: scenario.Agent, CallerName: "Jo", Instructions: "Be short.",
		CallerPrompt: "You want a table.\nwhen \"help\": say \"A table for two, please.\"\nwhen \"which day\": say \"Friday. Goodbye.\" and end",
	}, scripted.New())
	if err != nil {
		t.Fatal(err)
	}
	var said []llm.Message
	for i, step := range []struct {
		agent string
		want  simulated.Line
	}{
		{"Good evening. What can I help you with?", simulated.Line{Text: "A table for two, please."}},
		{"For which day?", simulated.Line{Text: "Friday. Goodbye.", HangUp: true}},
		{"It is booked.", simulated.Line{HangUp: true}},
	} {
		said = append(said, llm.Message{Role: llm.RoleAgent, Text: step.agent})
		l, err := c.Next(t.Context(), simulated.Moment{Messages: said, Turn: i})
		if err != nil || l != step.want {
			t.Fatalf("after %q: %+v, want %+v, error %v", step.agent, l, step.want, err)
		}
		said = append(said, llm.Message{Role: llm.RoleCaller, Text: l.Text})
	}
}

// TestPersonaInProse checks that a persona without rules is an error. A test whose caller hangs up immediately would test nothing.
func TestPersonaInProse(t *testing.T) {
	t.Parallel()
	c, err := simulated.New(scenario.Scenario{Kind: scenario.Agent, CallerPrompt: "You want a table on Friday."}, scripted.New())
	if err != nil {
		t.Fatal(err)
	}
	l, err := c.Next(t.Context(), simulated.Moment{Messages: []llm.Message{{Role: llm.RoleAgent, Text: "Which day?"}}})
	if llm.ClassOf(err) != llm.ClassUnsupported {
		t.Errorf("got %+v, %v", l, err)
	}
}
