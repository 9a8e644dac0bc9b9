package engine_test

import (
	"context"
	"encoding/json"
	"fmt"
	"iter"

	"github.com/callwright/callwright/agents/llm"
	"github.com/callwright/callwright/agenttest/assert"
	"github.com/callwright/callwright/agenttest/engine"
	"github.com/callwright/callwright/agenttest/scenario"
)

// mine represents your language model. It plays the caller, and your agent uses it too.
type mine struct{}

func (mine) Name() string { return "mine" }

func (mine) Reply(_ context.Context, r llm.ReplyRequest) iter.Seq2[llm.ReplyPart, error] {
	return func(yield func(llm.ReplyPart, error) bool) {
		text := map[llm.Task]string{llm.TaskCaller: "A table for two, please.", llm.TaskReply: "It is booked. Goodbye."}[r.Task]
		yield(llm.ReplyPart{Text: text}, nil)
	}
}

func (mine) Answer(context.Context, llm.Question) (llm.Answer, error) {
	return llm.Answer{}, &llm.Failure{Class: llm.ClassUnsupported, Message: "nobody asks it anything"}
}

// restaurant represents your agent. An agent is any function that answers a caller.
func restaurant(_ context.Context, s engine.SessionSpec) (engine.Session, error) {
	return engine.SessionFunc(func(ctx context.Context, t engine.CallerTurn) (engine.AgentTurn, error) {
		if t.Text == "" {
			return engine.AgentTurn{Text: "Good evening. What can I do for you?"}, nil
		}
		turn := engine.AgentTurn{Ended: true, Variables: map[string]any{"guests": int64(2)}}
		for part, err := range s.Model.Reply(ctx, llm.ReplyRequest{Task: llm.TaskReply, Instructions: "Book tables."}) {
			if err != nil {
				return turn, err
			}
			turn.Text += part.Text
		}
		return turn, nil
	}), nil
}

// This example tests an agent without a server and a database. It needs only the agent, a model and a scenario.
func Example() {
	e, err := engine.New(engine.Config{Runner: engine.RunnerFunc(restaurant), Model: mine{}})
	if err != nil {
		fmt.Println(err)
		return
	}
	outcome, err := e.Run(context.Background(), engine.Case{Run: "run-1", Scenario: scenario.Scenario{
		Name: "Books a table", Kind: scenario.Agent, CallerPrompt: "You want a table for two.",
		Assertions: []assert.Assertion{
			{ID: "guests", Type: assert.VariableExtracted, Required: true, Weight: 1, Config: json.RawMessage(`{"variable":"guests","operator":"equals","value":2}`)},
			{ID: "booked", Type: assert.StringCheck, Required: true, Weight: 1, Config: json.RawMessage(`{"operator":"contains","value":"booked"}`)},
		},
	}})
	if err != nil {
		fmt.Println(err)
		return
	}
	for _, t := range outcome.Evidence.Turns {
		fmt.Printf("%s: %s\n", t.Role, t.Text)
	}
	for _, r := range outcome.Results {
		fmt.Println(r.Assertion, r.Outcome)
	}
	fmt.Println(outcome.Verdict, *outcome.Score)
	// Output:
	// agent: Good evening. What can I do for you?
	// caller: A table for two, please.
	// agent: It is booked. Goodbye.
	// guests PASSED
	// booked PASSED
	// PASSED 1
}
