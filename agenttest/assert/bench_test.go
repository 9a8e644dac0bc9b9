package assert_test

import (
	"encoding/json"
	"fmt"
	"strings"
	"testing"

	"github.com/callwright/callwright/agenttest/assert"
)

// tenTurns returns a conversation with ten turns of each side, at ten nodes, with two requests.
func tenTurns() *assert.Evidence {
	e := &assert.Evidence{Graph: assert.Graph{}, Variables: map[string]any{"count": int64(2), "size": "large"}, Webhooks: order().Webhooks}
	for i := range 10 {
		node := fmt.Sprint("n", i)
		e.Graph[node] = assert.Node{Next: []string{fmt.Sprint("n", i+1)}}
		e.Visits = append(e.Visits, assert.Visit{Node: node, Turn: 2*i - 1})
		say := agent(fmt.Sprintf("Thank you. That is item %d of your order, and what else can I do for you today?", i))
		answer := caller("I would also like to have one large pizza with mushrooms, please.")
		say.Node, answer.Node = node, node
		e.Turns = append(e.Turns, say, answer)
	}
	return e
}

// eight lists eight assertions, which together cover all types that rules evaluate.
var eight = []struct {
	kind   assert.Type
	config string
}{
	{assert.RegexMatch, `{"pattern":"item (\\d+) of your order","role":"assistant","min_matches":3}`},
	{assert.RegexMatch, `{"pattern":"\\b(refund|lawyer)\\b","flags":"i","negate":true}`},
	{assert.StringCheck, `{"value":"Item 9 of your ORDER"}`},
	{assert.VariableExtracted, `{"variable":"count","operator":"equals","value":2}`},
	{assert.NodeReached, `{"node_id":"n9"}`},
	{assert.NodesVisited, `{"node_ids":["n1","n5","n9"],"in_order":true}`},
	{assert.WebhookTriggered, `{"url":"https://shop.example/*","url_match":"glob","request_body":{"order":{"id":7}}}`},
	{assert.TraversalMatch, `{"reference_path":["n0","n1","n2","x","n4","n5","n6","n7","n8","n9"]}`},
}

// BenchmarkEvaluate measures the evaluation of the eight assertions and the decision on the run.
func BenchmarkEvaluate(b *testing.B) {
	e := tenTurns()
	e.Graph["x"] = assert.Node{}
	checks := make([]*assert.Check, len(eight))
	for i, c := range eight {
		checks[i] = compile(b, c.kind, c.config)
	}
	results := make([]assert.Result, len(checks))
	b.ReportAllocs()
	for b.Loop() {
		for i, c := range checks {
			results[i] = c.Evaluate(b.Context(), e, nil)
		}
		if d := assert.Decide(results, nil); d.Verdict != assert.Passed {
			b.Fatal(d)
		}
	}
}

// BenchmarkRescore measures scoring a conversation again by the eight assertions, on one processor.
func BenchmarkRescore(b *testing.B) {
	e := tenTurns()
	e.Graph["x"] = assert.Node{}
	var assertions []assert.Assertion
	for _, c := range eight {
		assertions = append(assertions, assert.Assertion{Type: c.kind, Config: json.RawMessage(c.config), Required: true, Weight: 1})
	}
	rules, err := assert.CompileRules(assertions, nil)
	if err != nil {
		b.Fatal(err)
	}
	b.ReportAllocs()
	for b.Loop() {
		if _, d, _, _ := rules.Score(b.Context(), e); d.Verdict != assert.Passed {
			b.Fatal(d)
		}
	}
	b.ReportMetric(float64(b.N)/b.Elapsed().Seconds(), "runs/s")
}

// BenchmarkEvaluateOne measures each of the eight assertions alone.
func BenchmarkEvaluateOne(b *testing.B) {
	e := tenTurns()
	e.Graph["x"] = assert.Node{}
	for i, c := range eight {
		check := compile(b, c.kind, c.config)
		b.Run(fmt.Sprint(i, c.kind), func(b *testing.B) {
			b.ReportAllocs()
			for b.Loop() {
				check.Evaluate(b.Context(), e, nil)
			}
		})
	}
}

// BenchmarkCompile measures checking and compiling the eight assertions.
func BenchmarkCompile(b *testing.B) {
	b.ReportAllocs()
	for b.Loop() {
		for _, c := range eight {
			compile(b, c.kind, c.config)
		}
	}
}

// BenchmarkLongest measures the most expensive inputs within the limits.
func BenchmarkLongest(b *testing.B) {
	megabyte := said(agent(strings.Repeat("a", assert.MaxTarget-1)))
	for name, c := range map[string]struct {
		kind   assert.Type
		config string
		e      *assert.Evidence
	}{
		"regex":     {assert.RegexMatch, `{"pattern":"(.*a){30}b"}`, megabyte},
		"matches":   {assert.RegexMatch, `{"pattern":"(?:.*b|a)","min_matches":30}`, megabyte},
		"string":    {assert.StringCheck, `{"value":"aab"}`, megabyte},
		"traversal": {assert.TraversalMatch, `{"reference_path":` + names(strings.Repeat("ab", 256)) + `}`, walked(strings.Repeat("cdef", 128))},
	} {
		check := compile(b, c.kind, c.config)
		b.Run(name, func(b *testing.B) {
			for b.Loop() {
				if r := check.Evaluate(b.Context(), c.e, nil); r.Outcome == assert.Error {
					b.Fatal(r.Reasoning)
				}
			}
		})
	}
}
