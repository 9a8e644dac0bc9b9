package assert_test

import (
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
		"the heaviest":                     {results{r(failed, true, 1, "greet"), r(failed, true, 2, "ask")}, "ask"},
		"the first of equals":              {results{r(failed, true, 1, "greet"), r(failed, true, 1, "ask")}, "greet"},
		"required before heavy":            {results{r(failed, false, 9, "greet"), r(failed, true, 0, "ask")}, "ask"},
		"required before heavy, first":     {results{r(failed, true, 0, "ask"), r(failed, false, 9, "greet")}, "ask"},
		"optional, of a low score":         {results{r(passed, true, 9, ""), r(failed, false, 1, "greet")}, "greet"},
		"no node: the last visited":        {results{r(failed, true, 2, ""), r(failed, true, 1, "greet")}, "pay"},
		"not visited: the last visited":    {results{r(failed, true, 2, "help")}, "pay"},
		"errors are not failures":          {results{r(broken, true, 2, "greet"), r(failed, true, 1, "ask")}, "ask"},
		"nothing failed: the last visited": {nil, "pay"},
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

// TestBlameOfATurn wants the node that was active in a turn, also if the turns do not tell it.
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

// TestBlameOfAVariable wants the last visited node that collects it.
func TestBlameOfAVariable(t *testing.T) {
	t.Parallel()
	e := order()
	for _, id := range []string{"greet", "ask", "bye"} {
		n := e.Graph[id]
		n.Fills = []string{"v"}
		e.Graph[id] = n
	}
	for variable, want := range map[string]string{"v": "ask", "v.part": "ask", "price.x": "pay", "unknown": ""} {
		r := compile(t, assert.VariableExtracted, `{"variable":"`+variable+`"}`).Evaluate(t.Context(), e, nil)
		if r.Code != assert.CodeVariableMissing || r.Node != want {
			t.Errorf("%s: %q, want %q", variable, r.Node, want)
		}
	}
}
