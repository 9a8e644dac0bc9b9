package assert_test

import (
	"strings"
	"testing"

	"github.com/callwright/callwright/agenttest/assert"
)

func TestBlame(t *testing.T) {
	t.Parallel()
	r := func(o assert.Outcome, required bool, weight float64, node string) assert.Result {
		return assert.Result{Outcome: o, Required: required, Weight: weight, Node: node}
	}
	type results = []assert.Result
	for name, c := range map[string]struct {
		results results
		want    string
	}{
		"the heaviest":                 {results{r(failed, true, 1, "greet"), r(failed, true, 2, "ask")}, "ask"},
		"the first of equals":          {results{r(failed, true, 1, "greet"), r(failed, true, 1, "ask")}, "greet"},
		"required before heavy":        {results{r(failed, false, 9, "greet"), r(failed, true, 0, "ask")}, "ask"},
		"required before heavy, first": {results{r(failed, true, 0, "ask"), r(failed, false, 9, "greet")}, "ask"},
		"optional, of a low score":     {results{r(passed, true, 9, ""), r(failed, false, 1, "greet")}, "greet"},
		"no node: no place":            {results{r(failed, true, 2, ""), r(failed, true, 1, "greet")}, ""},
		"not visited: no place":        {results{r(failed, true, 2, "help")}, ""},
		"errors are not failures":      {results{r(broken, true, 2, "greet"), r(failed, true, 1, "ask")}, "ask"},
		"nothing failed: no place":     {nil, ""},
	} {
		if got := assert.Blame(order(), c.results); got != c.want {
			t.Errorf("%s: %q, want %q", name, got, c.want)
		}
	}
	if got := assert.Blame(said(agent("a")), results{r(failed, true, 1, "greet")}); got != "" {
		t.Errorf("without visits: %q", got)
	}
	if got := assert.Blame(nil, nil); got != "" {
		t.Errorf("without evidence: %q", got)
	}
}

// TestBlameOfATurn checks that the active node of a turn is blamed, even if the turns do not name it.
func TestBlameOfATurn(t *testing.T) {
	t.Parallel()
	const config = `{"value":"x","operator":"not_contains"}`
	for name, c := range map[string]struct {
		e    *assert.Evidence
		want string
	}{
		"the turn's node":  {&assert.Evidence{Turns: []assert.Turn{{Text: "x", Node: "b"}}, Visits: []assert.Visit{{Node: "a", Turn: -1}, {Node: "b", Turn: 3}}}, "b"},
		"by the visits":    {&assert.Evidence{Turns: []assert.Turn{{Text: "y"}, {Text: "x"}}, Visits: []assert.Visit{{Node: "a", Turn: -1}, {Node: "b", Turn: 0}, {Node: "c", Turn: 1}}}, "b"},
		"not visited":      {&assert.Evidence{Turns: []assert.Turn{{Text: "x", Node: "z"}}, Visits: []assert.Visit{{Node: "a", Turn: -1}}}, "a"},
		"before any visit": {&assert.Evidence{Turns: []assert.Turn{{Text: "x"}}, Visits: []assert.Visit{{Node: "a", Turn: 4}}}, "a"},
		"no visits":        {&assert.Evidence{Turns: []assert.Turn{{Text: "x", Node: "z"}}}, ""},
	} {
		r := compile(t, assert.StringCheck, config).Evaluate(t.Context(), c.e, nil)
		if r.Outcome != failed || r.Node != c.want || assert.Blame(c.e, []assert.Result{r}) != c.want {
			t.Errorf("%s: %+v, want the node %q", name, r, c.want)
		}
	}
}

// TestBlameOfAVariable checks that the last visited node that collects the variable is blamed or, without one, the last from which such a
// node can be reached.
func TestBlameOfAVariable(t *testing.T) {
	t.Parallel()
	e := order()
	for _, id := range []string{"greet", "ask", "bye"} {
		n := e.Graph[id]
		n.Fills = []string{"v"}
		e.Graph[id] = n
	}
	e.Graph["bye"] = assert.Node{Fills: []string{"v", "gift"}} // can be reached from "pay", but was not visited
	e.Graph["island"] = assert.Node{Fills: []string{"never"}}
	for variable, want := range map[string]string{"v": "ask", "v.part": "ask", "price.x": "pay", "unknown": "", "gift": "pay", "never": ""} {
		r := compile(t, assert.VariableExtracted, `{"variable":"`+variable+`"}`).Evaluate(t.Context(), e, nil)
		if r.Code != assert.CodeVariableMissing || r.Node != want {
			t.Errorf("%s: %q, want %q", variable, r.Node, want)
		}
	}
}

// TestBlameOfWordsThatAreMissing checks that missing words are blamed on the node that says them, or on the last visited node from which
// that node can be reached, and that the reasoning names the node. Words that no node says are blamed on none, not on the last node.
func TestBlameOfWordsThatAreMissing(t *testing.T) {
	t.Parallel()
	e := order()
	for id, says := range map[string]string{
		"greet": "Hello, this is {{owner}}'s shop.", "pay": "That is {{price}} dollars.", "help": "A human will help. One moment.",
		"bye": "Come back soon. One moment.", "island": "Alone.",
	} {
		n := e.Graph[id]
		n.Says = says
		e.Graph[id] = n
	}
	for name, c := range map[string]struct {
		kind         assert.Type
		config       string
		node, reason string
	}{
		"a visited node":           {assert.StringCheck, `{"value":"this is {{owner}}"}`, "greet", `The node "greet", which was visited, says this.`},
		"a node that was missed":   {assert.StringCheck, `{"value":"come back SOON"}`, "pay", `The node "bye", which was not visited, says this.`},
		"another way":              {assert.StringCheck, `{"value":"a human"}`, "greet", `The node "help", which was not visited, says this.`},
		"two nodes":                {assert.StringCheck, `{"value":"one moment."}`, "pay", "2 nodes of the pathway say this, one is"},
		"out of reach":             {assert.StringCheck, `{"value":"alone"}`, "", `The node "island", which was not visited, says this.`},
		"nobody's words":           {assert.StringCheck, `{"value":"refund"}`, "", ""},
		"case counts":              {assert.StringCheck, `{"value":"come back SOON","case_sensitive":true}`, "", ""},
		"the caller's words":       {assert.StringCheck, `{"value":"come back soon","role":"user"}`, "", ""},
		"a pattern":                {assert.RegexMatch, `{"pattern":"come (back|in)","flags":"i"}`, "pay", `The node "bye", which was not visited, says this.`},
		"a pattern of nobody":      {assert.RegexMatch, `{"pattern":"refund"}`, "", ""},
		"a pattern for the caller": {assert.RegexMatch, `{"pattern":"Come back","role":"user"}`, "", ""},
	} {
		r := compile(t, c.kind, c.config).Evaluate(t.Context(), e, nil)
		if r.Outcome != failed || r.Node != c.node || assert.Blame(e, []assert.Result{r}) != c.node || !strings.Contains(r.Reasoning, c.reason) {
			t.Errorf("%s: %q, %s; want %q", name, r.Node, r.Reasoning, c.node)
		}
		if c.node == "" && c.reason != `The node "island", which was not visited, says this.` && strings.Contains(r.Reasoning, "says this") {
			t.Errorf("%s: %s", name, r.Reasoning)
		}
	}
}
