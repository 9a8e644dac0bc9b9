package judge_test

import (
	"context"
	"fmt"
	"strings"
	"testing"

	"github.com/callwright/callwright/agents/agentstest"
	"github.com/callwright/callwright/agents/llm"
	"github.com/callwright/callwright/agenttest/agenttesttest"
	"github.com/callwright/callwright/agenttest/assert"
	"github.com/callwright/callwright/agenttest/judge"
)

// answering returns a model that answers questions of every output, with alternating verdicts.
func answering() *agentstest.Model {
	return &agentstest.Model{Answers: func(_ context.Context, q llm.Question) (string, error) {
		even := q.Attempt/llm.Attempts%2 == 0
		for member, answers := range map[string][2]string{
			"verdict": {fail, strings.Replace(pass, `"turn":2,"quote":"Goodbye."`, `"turn":0,"quote":"Hello"`, 1)},
			"score":   {scored("0.3"), scored("0.9")},
			"label":   {strings.Replace(labeled("good"), "good", "bad", 1), labeled("good")},
			"overall": {toned("0.5", "0.4", "0.3"), toned("1", "0.9", "0.8")},
		} {
			if strings.Contains(string(q.Schema), `"`+member+`":{"type"`) && (member != "score" || !strings.Contains(string(q.Schema), "overall")) {
				if even {
					return answers[0], nil
				}
				return answers[1], nil
			}
		}
		return "", fmt.Errorf("the schema is %s", q.Schema)
	}}
}

func TestJudgeSuite(t *testing.T) {
	t.Parallel()
	agenttesttest.RunJudge(t, agenttesttest.JudgeHarness{
		New: func(*testing.T) assert.Judge { return judge.New(answering(), judge.Config{}) },
		Failing: func(_ *testing.T, class llm.Class) assert.Judge {
			return judge.New(each("!"+string(class)), judge.Config{})
		},
	})
}

// ExampleNew_quality measures the agreement of a judge with people. This model passes every conversation.
func ExampleNew_quality() {
	m := &agentstest.Model{Answers: func(context.Context, llm.Question) (string, error) {
		return `{"evidence":[],"reasoning":"Fine.","verdict":"pass","failure_code":null}`, nil
	}}
	q := agenttesttest.MeasureJudge(context.Background(), judge.New(m, judge.Config{}), agenttesttest.LabeledCases())
	fmt.Printf("%d cases, agreement %.2f, kappa %.2f\n", q.Judged, *q.Agreement, *q.Kappa)
	// Output: 19 cases, agreement 0.42, kappa 0.00
}
