package assert_test

import (
	"encoding/json"
	"fmt"
	"reflect"
	"testing"

	"github.com/callwright/callwright/agents/llm"
	"github.com/callwright/callwright/agenttest/assert"
)

// agent returns a turn of the agent, and caller a turn of the caller.
func agent(text string) assert.Turn  { return assert.Turn{Role: llm.RoleAgent, Text: text} }
func caller(text string) assert.Turn { return assert.Turn{Role: llm.RoleCaller, Text: text} }

// said returns evidence that contains only turns.
func said(turns ...assert.Turn) *assert.Evidence { return &assert.Evidence{Turns: turns} }

// order returns a conversation at the nodes greet, ask and pay of a shop, whose graph also contains the nodes help, bye and island. No edge
// leads to island.
func order() *assert.Evidence {
	at := func(t assert.Turn, node string) assert.Turn {
		t.Node = node
		return t
	}
	return &assert.Evidence{
		Run: "run",
		Turns: []assert.Turn{
			at(agent("Hello, this is Ada's pizza shop."), "greet"), at(caller("Two pizzas, please."), "greet"),
			at(agent("What is your address?"), "ask"), at(caller("12 Main Street"), "ask"), at(agent("That is 23.50 dollars. Goodbye."), "pay"),
		},
		Visits: []assert.Visit{{Node: "greet", Turn: -1}, {Node: "ask", Turn: 1}, {Node: "pay", Turn: 3}},
		Variables: map[string]any{
			"count": int64(2), "price": 23.5, "size": "Large", "paid": true, "nothing": nil, "digits": "5",
			"order": map[string]any{"id": "A<1>", "items": []any{"pizza", int64(2)}},
		},
		Webhooks: []assert.Webhook{
			{Node: "ask", Method: "POST", URL: "https://shop.example/orders?x=1", Body: json.RawMessage(`{"order":{"id":7,"items":[{"sku":"a/b"},{"sku":"c"}]},"n":5.0}`), Turn: 1, Visit: 2},
			{Node: "pay", Method: "GET", URL: "https://bank.example/pay", Body: json.RawMessage(`null`), Turn: 3, Visit: 3},
		},
		Graph: assert.Graph{
			"greet": {Next: []string{"ask", "help"}}, "ask": {Next: []string{"pay"}, Fills: []string{"count", "address", "order"}},
			"pay": {Next: []string{"bye"}, Fills: []string{"price"}}, "help": {Next: []string{"ask"}}, "bye": {}, "island": {},
		},
		End: assert.EndByAgent,
	}
}

// encode returns a value as JSON, and fails the test if JSON cannot encode it.
func encode(t interface{ Fatal(args ...any) }, value any) string {
	out, err := json.Marshal(value)
	if err != nil {
		t.Fatal(err)
	}
	return string(out)
}

// snapshot returns all fields of evidence as text.
func snapshot(e *assert.Evidence) string { return fmt.Sprintf("%#v", *e) }

// compile compiles a configuration, and fails the test if it is invalid.
func compile(t testing.TB, kind assert.Type, config string) *assert.Check {
	t.Helper()
	c, err := assert.Compile(assert.Assertion{ID: "a1", Type: kind, Name: "name", Config: json.RawMessage(config), Required: true, Weight: 2})
	if err != nil {
		t.Fatalf("%s %s: %v", kind, config, err)
	}
	return c
}

// evaluation is a row of a table test: a configuration with the expected result.
type evaluation struct {
	name    string
	config  string
	e       *assert.Evidence // nil means order()
	outcome assert.Outcome
	code    assert.Code
	score   float64 // expected score of a failed row; 0 in a passed row means 1
	turn    int     // -1 means nil
	node    string  // the blamed node
}

const none = -1

// evaluate checks the results of the rows of a table, that the evidence does not change, and that a second evaluation has the same result.
func evaluate(t *testing.T, kind assert.Type, cases []evaluation) {
	t.Helper()
	for _, c := range cases {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			e := c.e
			if e == nil {
				e = order()
			}
			before := snapshot(e)
			r := compile(t, kind, c.config).Evaluate(t.Context(), e, nil)
			check(t, r, c)
			if after := snapshot(e); after != before {
				t.Error("the evidence has changed")
			}
			encode(t, r)
			if !reflect.DeepEqual(r, compile(t, kind, c.config).Evaluate(t.Context(), e, nil)) {
				t.Error("a second evaluation has another result")
			}
		})
	}
}

// check checks that a result equals the expected result of a row.
func check(t *testing.T, r assert.Result, c evaluation) {
	t.Helper()
	turn := none
	if r.Turn != nil {
		turn = *r.Turn
	}
	if r.Outcome != c.outcome || r.Code != c.code || turn != c.turn || r.Node != c.node || r.Reasoning == "" {
		t.Errorf("got %s %q at turn %d, node %q (%s), want %s %q at %d, %q", r.Outcome, r.Code, turn, r.Node, r.Reasoning, c.outcome, c.code, c.turn, c.node)
	}
	want := c.score
	if c.outcome == assert.Passed && want == 0 {
		want = 1
	}
	if (r.Score == nil) != (c.outcome == assert.Error) || r.Score != nil && *r.Score != want {
		t.Errorf("score %v, want %v", r.Score, want)
	}
	if r.Assertion != "a1" || r.Name != "name" || !r.Required || r.Weight != 2 {
		t.Errorf("the result is about another assertion: %+v", r)
	}
}
