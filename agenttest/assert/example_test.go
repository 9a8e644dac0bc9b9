package assert_test

import (
	"context"
	"encoding/json"
	"fmt"

	"github.com/callwright/callwright/agents/llm"
	"github.com/callwright/callwright/agenttest/assert"
)

// This example evaluates a conversation by three assertions, and decides the run by their results. It also prints the errors of an invalid
// assertion.
func Example() {
	e := &assert.Evidence{
		Turns: []assert.Turn{
			{Role: llm.RoleAgent, Text: "Hello! What would you like to order?", Node: "greet"},
			{Role: llm.RoleCaller, Text: "Two pizzas, please.", Node: "greet"},
			{Role: llm.RoleAgent, Text: "Two pizzas. Goodbye!", Node: "order"},
		},
		Visits:    []assert.Visit{{Node: "greet", Turn: -1}, {Node: "order", Turn: 1}},
		Variables: map[string]any{"count": int64(2)},
		Graph:     assert.Graph{"greet": {Next: []string{"order"}}, "order": {Next: []string{"pay"}}, "pay": {}},
	}
	var results []assert.Result
	for _, a := range []assert.Assertion{
		{ID: "count", Type: assert.VariableExtracted, Config: json.RawMessage(`{"variable":"count","operator":"equals","value":2}`), Required: true, Weight: 1},
		{ID: "polite", Type: assert.StringCheck, Config: json.RawMessage(`{"value":"hello","role":"assistant"}`), Weight: 1},
		{ID: "paid", Type: assert.NodeReached, Config: json.RawMessage(`{"node_id":"pay"}`), Required: true, Weight: 2},
	} {
		check, err := assert.Compile(a)
		if err != nil {
			fmt.Println(err)
			return
		}
		r := check.Evaluate(context.Background(), e, nil)
		fmt.Println(r.Assertion, r.Outcome, r.Reasoning)
		results = append(results, r)
	}
	d := assert.Decide(results, nil)
	fmt.Println(d.Verdict, *d.Score, "because of", assert.Blame(e, results))

	_, err := assert.Compile(assert.Assertion{Type: assert.RegexMatch, Config: json.RawMessage(`{"pattern":"(a","negate":1}`)})
	fmt.Println(err)
	// Output:
	// count PASSED The variable "count" has the value 2, as expected.
	// polite PASSED One of the agent's messages contains "hello".
	// paid FAILED The agent did not visit the node "pay".
	// FAILED 0.5 because of order
	// config.pattern: must be a regular expression in RE2 syntax: missing closing ): `(a`
	// config.negate: must be a boolean, not a number
}
