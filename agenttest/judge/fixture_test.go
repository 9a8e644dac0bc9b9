package judge_test

import (
	"context"
	"encoding/json"
	"errors"
	"strconv"
	"strings"
	"testing"

	"github.com/callwright/callwright/agents/agentstest"
	"github.com/callwright/callwright/agents/llm"
	"github.com/callwright/callwright/agenttest/assert"
	"github.com/callwright/callwright/agenttest/judge"
)

// order returns a conversation with a pizza shop.
func order() *assert.Evidence {
	return &assert.Evidence{
		Org: "org", Run: "run",
		Turns: []assert.Turn{
			{Role: llm.RoleAgent, Text: "Hello, this is Ada's pizza shop.", Node: "greet"},
			{Role: llm.RoleCaller, Text: "Two pizzas,\n please.", Node: "greet"},
			{Role: llm.RoleAgent, Text: "Your cafe\u0301 order: two \u200bpizzas. Goodbye.", Node: "pay"},
		},
		Visits:    []assert.Visit{{Node: "greet", Turn: -1}, {Node: "pay", Turn: 1}},
		Variables: map[string]any{"count": int64(2)},
		Webhooks:  []assert.Webhook{{Node: "pay", Method: "POST", URL: "https://shop.example/orders", Body: json.RawMessage(`{"n":2}`), Header: map[string]string{"X-Key": "sesame"}, Turn: 1, Visit: 2}},
		Graph:     assert.Graph{"greet": {Name: "Greeting", Next: []string{"pay"}}, "pay": {}},
		End:       assert.EndByAgent,
	}
}

// said returns evidence that contains only turns.
func said(turns ...assert.Turn) *assert.Evidence { return &assert.Evidence{Turns: turns} }

var polite = assert.Criterion{Assertion: "a1", Prompt: "The agent says goodbye.", Output: assert.OutputBoolean, PassOnTrue: true}

// criterion returns the criterion polite with another form of answer.
func criterion(output assert.Output) assert.Criterion {
	c := polite
	c.Output, c.Threshold = output, 0.7
	if output == assert.OutputCategorical {
		c.Labels, c.PassLabels = []string{"warm", "kind", "cold"}, []string{"warm", "kind"}
	}
	return c
}

// These constants are answers of a model to boolean questions.
const (
	pass   = `{"evidence":[{"turn":2,"quote":"Goodbye."}],"reasoning":"It does.","verdict":"pass","failure_code":null}`
	fail   = `{"evidence":[],"reasoning":"It does not.","verdict":"fail","failure_code":"wrong_end"}`
	cannot = `{"evidence":[],"reasoning":"The end is missing.","verdict":"cannot_judge","failure_code":null}`
)

func scored(score string) string {
	return `{"evidence":[],"reasoning":"Scored ` + score + `.","score":` + score + `,"failure_code":null}`
}

func labeled(label string) string {
	value := "null"
	if label != "" {
		value = strconv.Quote(label)
	}
	return `{"evidence":[],"reasoning":"Labeled.","label":` + value + `,"failure_code":null}`
}

func toned(empathy, overall, rest string) string {
	var scores []string
	for _, name := range []string{"naturalness", "conciseness", "flow", "back_channeling", "topic_transitions"} {
		scores = append(scores, `"`+name+`":{"reasoning":"So.","score":`+rest+`}`)
	}
	return `{"evidence":[],"reasoning":"Fine.","scores":{"empathy":{"reasoning":"Warm.","score":` + empathy + `},` + strings.Join(scores, ",") +
		`},"issues":["It rushes."],"examples":[{"turn":0,"category":"flow","text":"Hello","sentiment":"positive"}],"overall":` + overall + `}`
}

// voting returns a model whose n-th vote consists of the answers votes[n], one for each attempt. The last vote and the last attempt are
// repeated. An answer "!" followed by a class is a failure of this class.
func voting(votes ...[]string) *agentstest.Model {
	return &agentstest.Model{
		Called: "judge-1", Usage: llm.Usage{Input: 100, Output: 10},
		Answers: func(_ context.Context, q llm.Question) (string, error) {
			answers := votes[min(q.Attempt/llm.Attempts, len(votes)-1)]
			a := answers[min(q.Attempt%llm.Attempts, len(answers)-1)]
			if class, failed := strings.CutPrefix(a, "!"); failed {
				return "", &llm.Failure{Class: llm.Class(class), Message: "no"}
			}
			return a, nil
		},
	}
}

// each returns a model with one answer per vote.
func each(answers ...string) *agentstest.Model {
	votes := make([][]string, len(answers))
	for i, a := range answers {
		votes[i] = []string{a}
	}
	return voting(votes...)
}

// ask returns a judge's opinion on the conversation that the function order returns, by a criterion. It fails the test if the judge returns
// an error.
func ask(t testing.TB, m llm.Model, c assert.Criterion, cfg judge.Config) assert.Opinion {
	t.Helper()
	o, err := judge.New(m, cfg).Judge(t.Context(), order(), c)
	if err != nil {
		t.Fatal(err)
	}
	return o
}

func isInvalid(err error) bool {
	f, ok := errors.AsType[*llm.Failure](err)
	return ok && f.Class == llm.ClassInvalid
}

// canned is a model that always returns the same answer and records no questions.
type canned struct {
	llm.Model

	answer string
}

// Answer returns m.answer.
func (m *canned) Answer(context.Context, llm.Question) (llm.Answer, error) {
	return llm.Answer{JSON: json.RawMessage(m.answer)}, nil
}
