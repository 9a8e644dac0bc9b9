package assert_test

import (
	"encoding/json"
	"testing"

	"github.com/callwright/callwright/agenttest/assert"
)

// TestRules checks the scores and verdicts of a conversation by rules if the scenario also contains assertions that need a judge.
func TestRules(t *testing.T) {
	t.Parallel()
	hears := func(word string, required bool) assert.Assertion {
		return assert.Assertion{ID: word, Type: assert.StringCheck, Config: json.RawMessage(`{"value":"` + word + `"}`), Required: required, Weight: 1}
	}
	judges := func(required bool, weight float64) assert.Assertion {
		return assert.Assertion{ID: "judged", Type: assert.LLMJudge, Config: json.RawMessage(`{"prompt":"Is it kind?"}`), Required: required, Weight: weight}
	}
	unknown := assert.Assertion{ID: "node", Type: assert.NodeReached, Config: json.RawMessage(`{"node_id":"gone"}`), Required: true, Weight: 1}
	most := 0.9
	e := said(agent("Hello."), caller("Two pizzas."))
	e.Graph = assert.Graph{"start": {}}
	for name, c := range map[string]struct {
		assertions []assert.Assertion
		least      *float64
		want       assert.Outcome
		open       bool
	}{
		"nothing":                        {nil, nil, assert.Passed, false},
		"it passes":                      {[]assert.Assertion{hears("hello", true)}, nil, assert.Passed, false},
		"it fails":                       {[]assert.Assertion{hears("hello", true), hears("burger", true)}, nil, assert.Failed, false},
		"an optional one fails":          {[]assert.Assertion{hears("hello", true), hears("burger", false)}, nil, assert.Passed, false},
		"a low score":                    {[]assert.Assertion{hears("hello", true), hears("burger", false)}, &most, assert.Failed, false},
		"an unknown node":                {[]assert.Assertion{unknown}, nil, assert.Error, false},
		"a judge may object":             {[]assert.Assertion{hears("hello", true), judges(true, 1)}, nil, assert.Passed, true},
		"a judge may object to an error": {[]assert.Assertion{unknown, judges(true, 1)}, nil, assert.Error, true},
		"no judge can save it":           {[]assert.Assertion{hears("burger", true), judges(true, 1)}, nil, assert.Failed, false},
		"an optional judge":              {[]assert.Assertion{hears("hello", true), judges(false, 1)}, nil, assert.Passed, false},
		"a judge may raise the score": {
			[]assert.Assertion{hears("hello", true), hears("burger", false), judges(false, 9)}, &most, assert.Passed, true,
		},
		"a judge without weight": {[]assert.Assertion{hears("hello", true), hears("burger", false), judges(false, 0)}, &most, assert.Failed, false},
	} {
		rules, err := assert.CompileRules(c.assertions, c.least)
		if err != nil {
			t.Fatal(err)
		}
		results, d, open, err := rules.Score(t.Context(), e)
		if err != nil || d.Verdict != c.want || open != c.open || len(results)+len(rules.Judged()) != len(c.assertions) {
			t.Errorf("%s: %s, open %t, %d results", name, d.Verdict, open, len(results))
		}
	}
	if _, err := assert.CompileRules([]assert.Assertion{{Type: "X"}}, nil); err == nil {
		t.Error("an unknown type is taken")
	}
}
