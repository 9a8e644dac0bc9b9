package assert_test

import (
	"context"
	"errors"
	"math"
	"reflect"
	"strings"
	"testing"

	"github.com/callwright/callwright/agents/llm"
	"github.com/callwright/callwright/agenttest/assert"
)

// opinions is a judge that always returns the same opinion or error, and records the criteria.
type opinions struct {
	opinion assert.Opinion
	err     error
	asked   []assert.Criterion
}

// Judge returns j.opinion and j.err.
func (j *opinions) Judge(_ context.Context, _ *assert.Evidence, c assert.Criterion) (assert.Opinion, error) {
	j.asked = append(j.asked, c)
	return j.opinion, j.err
}

func TestCriterion(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		kind   assert.Type
		config string
		want   assert.Criterion
	}{
		{assert.LLMJudge, `{"prompt":"p"}`, assert.Criterion{Prompt: "p", Output: assert.OutputBoolean, PassOnTrue: true, Threshold: 0.7}},
		{assert.LLMJudge, `{"prompt":"p","pass_on_true":false,"samples":3}`, assert.Criterion{Prompt: "p", Output: assert.OutputBoolean, Threshold: 0.7, Samples: 3}},
		{assert.LLMJudge, `{"prompt":"p","output_type":"score","threshold":1}`, assert.Criterion{Prompt: "p", Output: assert.OutputScore, PassOnTrue: true, Threshold: 1}},
		{assert.CustomLLM, `{"system_prompt":"s","model":"m","output_type":"categorical","categories":["a","b"],"pass_categories":["b"]}`,
			assert.Criterion{Instructions: "s", Model: "m", Output: assert.OutputCategorical, PassOnTrue: true, Threshold: 0.7, Labels: []string{"a", "b"}, PassLabels: []string{"b"}}},
		{assert.ServiceTone, `{}`, assert.Criterion{Output: assert.OutputTone, Threshold: 0.7}},
		{assert.ServiceTone, `{"threshold":0.5}`, assert.Criterion{Output: assert.OutputTone, Threshold: 0.5}},
	} {
		j := &opinions{err: errors.New("no")}
		compile(t, c.kind, c.config).Evaluate(t.Context(), order(), j)
		c.want.Assertion = "a1"
		if len(j.asked) != 1 || !reflect.DeepEqual(j.asked[0], c.want) {
			t.Errorf("%s %s: got %+v, want %+v", c.kind, c.config, j.asked, c.want)
		}
	}
}

func TestJudgedErrors(t *testing.T) {
	t.Parallel()
	pass := assert.Opinion{Verdict: assert.JudgePass}
	score := func(x float64) *float64 { return &x }
	const boolean, scored = `{"prompt":"p"}`, `{"prompt":"p","output_type":"score"}`
	failure := func(class llm.Class) error { return &llm.Failure{Class: class, Message: "secret"} }
	for name, c := range map[string]struct {
		kind    assert.Type
		config  string
		opinion assert.Opinion
		err     error
		code    assert.Code
	}{
		"transient":          {assert.LLMJudge, boolean, pass, failure(llm.ClassTransient), assert.CodeJudgeUnavailable},
		"quota":              {assert.LLMJudge, boolean, pass, failure(llm.ClassQuota), assert.CodeJudgeUnavailable},
		"unsupported":        {assert.LLMJudge, boolean, pass, failure(llm.ClassUnsupported), assert.CodeJudgeUnavailable},
		"canceled":           {assert.LLMJudge, boolean, pass, context.Canceled, assert.CodeJudgeUnavailable},
		"invalid":            {assert.LLMJudge, boolean, pass, failure(llm.ClassInvalid), assert.CodeJudgeInvalidOutput},
		"too long":           {assert.LLMJudge, boolean, pass, failure(llm.ClassTooLong), assert.CodeCannotJudge},
		"cannot judge":       {assert.LLMJudge, boolean, assert.Opinion{Verdict: assert.CannotJudge}, nil, assert.CodeCannotJudge},
		"no verdict":         {assert.LLMJudge, boolean, assert.Opinion{}, nil, assert.CodeJudgeInvalidOutput},
		"another verdict":    {assert.LLMJudge, boolean, assert.Opinion{Verdict: "PASS"}, nil, assert.CodeJudgeInvalidOutput},
		"no score":           {assert.LLMJudge, scored, pass, nil, assert.CodeJudgeInvalidOutput},
		"score over 1":       {assert.LLMJudge, scored, assert.Opinion{Verdict: assert.JudgePass, Score: score(1.01)}, nil, assert.CodeJudgeInvalidOutput},
		"score below 0":      {assert.LLMJudge, scored, assert.Opinion{Verdict: assert.JudgeFail, Score: score(-0.01)}, nil, assert.CodeJudgeInvalidOutput},
		"score not a number": {assert.LLMJudge, scored, assert.Opinion{Verdict: assert.JudgePass, Score: score(math.NaN())}, nil, assert.CodeJudgeInvalidOutput},
		"no tone":            {assert.ServiceTone, `{}`, assert.Opinion{Verdict: assert.JudgePass, Score: score(1)}, nil, assert.CodeJudgeInvalidOutput},
		"tone out of range":  {assert.ServiceTone, `{}`, assert.Opinion{Verdict: assert.JudgePass, Score: score(1), Tone: &assert.Tone{Empathy: 2}}, nil, assert.CodeJudgeInvalidOutput},
		"another label": {assert.CustomLLM, `{"system_prompt":"p","output_type":"categorical","categories":["a","b"],"pass_categories":["a"]}`,
			assert.Opinion{Verdict: assert.JudgePass, Label: "A"}, nil, assert.CodeJudgeInvalidOutput},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			c.opinion.Usage = llm.Usage{Input: 7, Output: 3}
			r := compile(t, c.kind, c.config).Evaluate(t.Context(), order(), &opinions{opinion: c.opinion, err: c.err})
			check(t, r, evaluation{outcome: broken, code: c.code, turn: none})
			if r.Usage != c.opinion.Usage || strings.Contains(r.Reasoning, "secret") {
				t.Errorf("usage %v, reasoning %s", r.Usage, r.Reasoning)
			}
		})
	}
	t.Run("no judge", func(t *testing.T) {
		t.Parallel()
		check(t, compile(t, assert.ServiceTone, `{}`).Evaluate(t.Context(), order(), nil), evaluation{outcome: broken, code: assert.CodeJudgeUnavailable, turn: none})
	})
	for name, c := range map[string]struct {
		e    *assert.Evidence
		code assert.Code
	}{
		"nothing was said": {said(), assert.CodeCannotJudge},
		"too much":         {said(agent(strings.Repeat("a", assert.MaxTarget))), assert.CodeTooLarge},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			j := &opinions{opinion: pass}
			check(t, compile(t, assert.LLMJudge, boolean).Evaluate(t.Context(), c.e, j), evaluation{outcome: broken, code: c.code, turn: none})
			if len(j.asked) > 0 {
				t.Error("the judge was asked")
			}
		})
	}
}

func TestJudged(t *testing.T) {
	t.Parallel()
	score := func(x float64) *float64 { return &x }
	const boolean, inverse, scored = `{"prompt":"p"}`, `{"prompt":"p","pass_on_true":false}`, `{"prompt":"p","output_type":"score"}`
	const labels = `{"prompt":"p","output_type":"categorical","categories":["good","bad"],"pass_categories":["good"]}`
	quotes := []assert.Quote{{Turn: 0, Text: "?"}, {Turn: 99, Text: "x", Verified: true}, {Turn: 3, Text: "12", Verified: true}, {Turn: 4, Verified: true}}
	for name, c := range map[string]struct {
		config  string
		opinion assert.Opinion
		want    evaluation
		actual  any
	}{
		"pass":              {boolean, assert.Opinion{Verdict: assert.JudgePass}, evaluation{outcome: passed, turn: none}, true},
		"fail":              {boolean, assert.Opinion{Verdict: assert.JudgeFail, Code: assert.CodeMissingStep}, evaluation{outcome: failed, code: assert.CodeMissingStep, turn: none}, false},
		"pass, false":       {inverse, assert.Opinion{Verdict: assert.JudgePass}, evaluation{outcome: passed, turn: none}, false},
		"fail, true":        {inverse, assert.Opinion{Verdict: assert.JudgeFail}, evaluation{outcome: failed, code: assert.CodeOther, turn: none}, true},
		"another code":      {boolean, assert.Opinion{Verdict: assert.JudgeFail, Code: assert.CodeNoMatch}, evaluation{outcome: failed, code: assert.CodeOther, turn: none}, false},
		"quotes":            {boolean, assert.Opinion{Verdict: assert.JudgePass, Quotes: quotes}, evaluation{outcome: passed, turn: 3}, true},
		"quotes, fail":      {boolean, assert.Opinion{Verdict: assert.JudgeFail, Quotes: quotes}, evaluation{outcome: failed, code: assert.CodeOther, turn: 3, node: "ask"}, false},
		"score":             {scored, assert.Opinion{Verdict: assert.JudgePass, Score: score(0.7)}, evaluation{outcome: passed, score: 0.7, turn: none}, 0.7},
		"low score":         {scored, assert.Opinion{Verdict: assert.JudgeFail, Score: score(0.65), Code: assert.CodeWrongTone}, evaluation{outcome: failed, code: assert.CodeWrongTone, score: 0.65, turn: none}, 0.65},
		"the score decides": {scored, assert.Opinion{Verdict: assert.JudgePass, Score: score(0.65)}, evaluation{outcome: failed, code: assert.CodeOther, score: 0.65, turn: none}, 0.65},
		"label":             {labels, assert.Opinion{Verdict: assert.JudgePass, Label: "good"}, evaluation{outcome: passed, turn: none}, "good"},
		"wrong label":       {labels, assert.Opinion{Verdict: assert.JudgeFail, Label: "bad"}, evaluation{outcome: failed, code: assert.CodeOther, turn: none}, "bad"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			c.opinion.Agreement = 2.0 / 3
			c.opinion.Reasoning = "Because."
			c.opinion.Samples = []assert.Sample{{Verdict: assert.JudgePass}}
			r := compile(t, assert.LLMJudge, c.config).Evaluate(t.Context(), order(), &opinions{opinion: c.opinion})
			check(t, r, c.want)
			if r.Reasoning != "Because." || r.Agreement == nil || *r.Agreement != 2.0/3 || len(r.Samples) != 1 || r.Actual != c.actual || len(r.Quotes) != len(c.opinion.Quotes) {
				t.Errorf("got %+v", r)
			}
		})
	}
}

func TestServiceTone(t *testing.T) {
	t.Parallel()
	score := 0.8
	tone := assert.Tone{Empathy: 0.5, Overall: 0.8, WordsPerTurn: 99, RepeatedSentences: 99}
	e := said(agent("Hello there! How are you?"), caller("Hello there. Hello there."), agent("HELLO there. Fine."))
	r := compile(t, assert.ServiceTone, `{}`).Evaluate(t.Context(), e, &opinions{opinion: assert.Opinion{Verdict: assert.JudgePass, Score: &score, Tone: &tone}})
	check(t, r, evaluation{outcome: passed, score: 0.8, turn: none})
	if r.Tone == nil || r.Tone.WordsPerTurn != 4 || r.Tone.RepeatedSentences != 0.25 || r.Tone.Empathy != 0.5 || tone.WordsPerTurn != 99 {
		t.Errorf("got %+v, and the judge's is %+v", r.Tone, tone)
	}
}

func TestCountTone(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		turns           []assert.Turn
		words, repeated float64
	}{
		{nil, 0, 0},
		{[]assert.Turn{caller("Hello."), agent(""), agent(" \n")}, 0, 0},
		{[]assert.Turn{agent("... !? —")}, 0, 0},
		{[]assert.Turn{agent("One two three"), agent("four")}, 2, 0},
		{[]assert.Turn{agent("It is 23.50 dollars. Yes! Yes."), agent("yes")}, 3.5, 0.5},
		{[]assert.Turn{agent("ja。 ja。nein"), agent("Straße\nSTRAßE")}, 2.5, 0.4},
		{[]assert.Turn{agent("A.B.\xff. ok")}, 2, 0},
	} {
		words, repeated := assert.CountTone(c.turns)
		if words != c.words || math.Abs(repeated-c.repeated) > 1e-12 {
			t.Errorf("%v: %v words, %v repeated", c.turns, words, repeated)
		}
	}
}
