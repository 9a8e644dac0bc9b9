package judge_test

import (
	"context"
	"fmt"

	"github.com/callwright/callwright/agents/agentstest"
	"github.com/callwright/callwright/agents/llm"
	"github.com/callwright/callwright/agenttest/assert"
	"github.com/callwright/callwright/agenttest/judge"
)

// In this example, a judge decides whether the agent said goodbye. The model is a fake: its first vote fails the conversation, and the two
// votes that the judge then requests pass it.
func Example() {
	m := &agentstest.Model{Answers: func(_ context.Context, q llm.Question) (string, error) {
		if q.Attempt == 0 {
			return `{"evidence":[],"reasoning":"I saw no goodbye.","verdict":"fail","failure_code":"wrong_end"}`, nil
		}
		return `{"evidence":[{"turn":0,"quote":"Goodbye!"}],"reasoning":"The agent says goodbye.","verdict":"pass","failure_code":null}`, nil
	}}
	e := &assert.Evidence{Turns: []assert.Turn{{Role: llm.RoleAgent, Text: "We are closed. Goodbye!"}}}
	c := assert.Criterion{Prompt: "The agent says goodbye.", Output: assert.OutputBoolean, PassOnTrue: true}
	o, err := judge.New(m, judge.Config{}).Judge(context.Background(), e, c)
	if err != nil {
		fmt.Println(err)
		return
	}
	fmt.Printf("%s, agreement %.2f of %d votes: %s\n", o.Verdict, o.Agreement, len(o.Samples), o.Reasoning)
	fmt.Println(o.Quotes[0].Text, o.Quotes[0].Verified)
	// Output:
	// pass, agreement 0.67 of 3 votes: The agent says goodbye.
	// Goodbye! true
}
