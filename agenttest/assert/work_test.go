package assert_test

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/callwright/callwright/agenttest/assert"
)

// heavy is a regular expression with a large program that fails at the first character.
const heavy = `{"pattern":"^b(?:xy){900}"}`

// heavyWords is a text for which heavy counts slightly more than a third of a run's work.
var heavyWords = "xy" + strings.Repeat("a", 60_000)

// regexes returns RegexMatch assertions with these configurations.
func regexes(configs ...string) []assert.Assertion {
	var list []assert.Assertion
	for i, c := range configs {
		list = append(list, assert.Assertion{
			ID: fmt.Sprint(i), Type: assert.RegexMatch, Config: json.RawMessage(c), Required: true, Weight: 1, Order: i,
		})
	}
	return list
}

// TestWorkIsThatOfARun checks that the regular expressions of a run share a limit of work. An expression beyond the limit is an error and
// counts no work, so that a smaller expression after it is still evaluated.
func TestWorkIsThatOfARun(t *testing.T) {
	t.Parallel()
	e := said(agent(heavyWords))
	e.Variables = map[string]any{"v": heavyWords}
	rules, err := assert.CompileRules(append(regexes(heavy, heavy, heavy, `{"pattern":"^b","negate":true}`, `{"pattern":"^xy"}`),
		assert.Assertion{Type: assert.RegexMatch, Config: json.RawMessage(`{"pattern":"^b(?:xy){900}","target":"variable","variable":"v"}`)},
		assert.Assertion{Type: assert.VariableExtracted, Config: json.RawMessage(`{"variable":"v","operator":"regex","value":"^b(?:xy){900}"}`)},
	), nil)
	if err != nil {
		t.Fatal(err)
	}
	want := []assert.Outcome{assert.Failed, assert.Failed, assert.Error, assert.Passed, assert.Passed, assert.Error, assert.Error}
	for range 2 {
		results, d, _, err := rules.Score(t.Context(), e)
		if err != nil || d.Verdict != assert.Failed || len(results) != len(want) {
			t.Fatalf("got %+v, %d results, %v", d, len(results), err)
		}
		for i, r := range results {
			if r.Outcome != want[i] {
				t.Errorf("%d: %s %s, want %s", i, r.Outcome, r.Reasoning, want[i])
			}
			if r.Outcome == assert.Error && (r.Code != assert.CodeTooLarge || r.Score != nil || !strings.Contains(r.Reasoning, "the run's limit of work")) {
				t.Errorf("%d: %s %s", i, r.Code, r.Reasoning)
			}
		}
	}
	if r := compile(t, assert.RegexMatch, heavy).Evaluate(t.Context(), e, nil); r.Outcome != assert.Failed {
		t.Errorf("alone: %s %s", r.Outcome, r.Reasoning)
	}
}

// TestWorkCountsWhatIsLookedAt checks that turns without an expression's literals, and turns after the last required match, count no work.
func TestWorkCountsWhatIsLookedAt(t *testing.T) {
	t.Parallel()
	e := said(agent("aaaa"), caller("bcbc"), agent("bc bcb"), caller("bcbcbcbc"))
	count := func(config string) int {
		var w assert.Work
		compile(t, assert.RegexMatch, config).EvaluateWithin(t.Context(), e, &w)
		return w.Done()
	}
	one := count(`{"pattern":"bc","turn":1}`)
	per := one / len("bcbc.")
	if one == 0 || one%per != 0 {
		t.Fatalf("one turn is %d", one)
	}
	for config, want := range map[string]int{
		`{"pattern":"bc"}`:                        5,
		`{"pattern":"ac"}`:                        0,
		`{"pattern":"bc","min_matches":3}`:        3*5 + 7, // two matches and a search for the third in turn 1, one in turn 2
		`{"pattern":"bc","min_matches":9}`:        3*5 + 3*7 + 5*9,
		`{"pattern":"bc","role":"assistant"}`:     7,
		`{"pattern":"cb","turn":2,"negate":true}`: 7,
	} {
		if got := count(config); got != want*per {
			t.Errorf("%s: %d, want %d", config, got, want*per)
		}
	}
}

// TestWorkOfLongTranscripts checks that fifty common patterns can be evaluated on the transcript of a long call, and single large patterns
// on the longest transcript with turns of 2 KB.
func TestWorkOfLongTranscripts(t *testing.T) {
	t.Parallel()
	long := func(turns, size int) *assert.Evidence {
		e := said()
		text := strings.Repeat("I would like to have 2 pizzas, please. ", size/39+1)[:size]
		for range turns {
			e.Turns = append(e.Turns, agent(text), caller(text))
		}
		return e
	}
	var usual []string
	for len(usual) < assert.MaxAssertions {
		usual = append(usual, `{"pattern":"\\b[A-Z]{2}\\d{6}\\b","negate":true}`, `{"pattern":"(?i)\\b(refund|lawyer|police|court)\\b","negate":true}`,
			`{"pattern":"(\\d+) pizzas?","min_matches":10}`, `{"pattern":"\\+?\\d[\\d ()-]{7,}\\d","negate":true}`, `{"pattern":"have (one|2|two) (pizza|salad)"}`)
	}
	words := make([]string, 70)
	for i := range words {
		words[i] = fmt.Sprintf("word%d[a-z]", i)
	}
	for name, c := range map[string]struct {
		configs []string
		e       *assert.Evidence
	}{
		"usual":       {usual, long(20, 300)},
		"alternative": {[]string{`{"pattern":"` + strings.Join(words, "|") + `","negate":true}`}, long(50, 2000)},
	} {
		rules, err := assert.CompileRules(regexes(c.configs...), nil)
		if err != nil {
			t.Fatal(err)
		}
		results, d, _, err := rules.Score(t.Context(), c.e)
		if err != nil || d.Verdict != assert.Passed {
			t.Errorf("%s: %s, %v: %+v", name, d.Verdict, err, results[0])
		}
	}
}

// ending is a context that is canceled after a number of reads: each call of Err decrements the field left and returns nil until left is
// used up, and later calls return context.Canceled.
type ending struct{ left int }

func (c *ending) Deadline() (time.Time, bool) { return time.Time{}, false }
func (c *ending) Done() <-chan struct{}       { return nil }
func (c *ending) Value(any) any               { return nil }

func (c *ending) Err() error {
	if c.left--; c.left < 0 {
		return context.Canceled
	}
	return nil
}

// TestInterrupted checks that an evaluation stops between two turns, and between two assertions, when its context is done.
func TestInterrupted(t *testing.T) {
	t.Parallel()
	e := said()
	for range 50 {
		e.Turns = append(e.Turns, agent("a"))
	}
	c := compile(t, assert.RegexMatch, `{"pattern":"a$|b","min_matches":100}`)
	var all, some assert.Work
	c.EvaluateWithin(t.Context(), e, &all)
	r := c.EvaluateWithin(&ending{11}, e, &some)
	if r.Outcome != assert.Error || r.Code != assert.CodeInterrupted || r.Score != nil || r.Reasoning == "" {
		t.Errorf("got %+v", r)
	}
	if some.Done() != all.Done()/5 {
		t.Errorf("ten turns of fifty are %d of %d", some.Done(), all.Done())
	}
	words := assert.Assertion{Type: assert.StringCheck, Config: json.RawMessage(`{"value":"a"}`)}
	rules, err := assert.CompileRules([]assert.Assertion{words, words, words}, nil)
	if err != nil {
		t.Fatal(err)
	}
	if results, _, _, err := rules.Score(&ending{2}, e); len(results) > 0 || !errors.Is(err, context.Canceled) {
		t.Errorf("got %d results, %v", len(results), err)
	}
	cancelled, cancel := context.WithCancelCause(t.Context())
	cancel(errors.New("mine"))
	if _, _, _, err := rules.Score(cancelled, e); err == nil || err.Error() != "mine" {
		t.Errorf("the cause is %v", err)
	}
}
