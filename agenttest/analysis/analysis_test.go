package analysis_test

import (
	"context"
	"encoding/json"
	"fmt"
	"strings"
	"testing"

	"github.com/callwright/callwright/adapters/scripted"
	"github.com/callwright/callwright/agents/agentstest"
	"github.com/callwright/callwright/agents/llm"
	"github.com/callwright/callwright/agenttest/analysis"
	"github.com/callwright/callwright/agenttest/assert"
	"github.com/callwright/callwright/agenttest/engine"
	"github.com/callwright/callwright/agenttest/scenario"
)

// failed returns a failed run that visited "ask" and "bye" without confirming the time.
func failed() analysis.Case {
	return analysis.Case{
		Scenario: scenario.Scenario{Org: "a", Name: "Books", CallerPrompt: "You want Tuesday."},
		Outcome: engine.Outcome{
			Verdict: engine.Failed, Blame: "bye",
			Evidence: assert.Evidence{
				Turns:  []assert.Turn{{Role: llm.RoleAgent, Text: "Which day?"}, {Role: llm.RoleCaller, Text: "Tuesday."}, {Role: llm.RoleAgent, Text: "Bye."}},
				Visits: []assert.Visit{{Node: "ask", Turn: -1}, {Node: "bye", Turn: 1}},
				Graph: assert.Graph{
					"ask": {Name: "Ask", Next: []string{"offer", "bye"}}, "bye": {Name: "Bye"}, "offer": {Name: "Offer"}, "far": {Name: "Far"},
				},
				Variables: map[string]any{"day": "Tuesday"}, End: assert.EndByAgent,
			},
			Results: []assert.Result{
				{Name: "Polite", Type: assert.ServiceTone, Outcome: assert.Failed, Weight: 9, Reasoning: "curt"},
				{Name: "Confirms", Type: assert.StringCheck, Outcome: assert.Failed, Required: true, Weight: 1, Reasoning: `"nine" was not said`},
				{Type: assert.NodeReached, Outcome: assert.Passed, Required: true, Weight: 3},
			},
		},
		Nodes: []analysis.Node{{ID: "far", Name: "Far", Text: "{}"}, {ID: "offer", Name: "Offer", Text: "{}"}, {ID: "bye", Name: "Bye", Text: `{"text":"Bye."}`}, {ID: "ask", Name: "Ask", Text: "{}"}},
	}
}

// answering returns a model that returns these answers in order, and then repeats the last answer.
func answering(answers ...string) *agentstest.Model {
	m := &agentstest.Model{Called: "thinker", Usage: llm.Usage{Input: 10, Output: 5}}
	m.Answers = func(context.Context, llm.Question) (string, error) {
		return answers[min(len(m.Questions()), len(answers))-1], nil
	}
	return m
}

const good = `{"cause":"The node bye says \"Bye.\" before it repeats the time.","fault":"agent","node":"bye","suggestions":[
	{"type":"flow_change","node":null,"description":"Go to the offer first.","change":"An edge from ask to offer.","confidence":0.3},
	{"type":"prompt_change","node":"bye","description":"Repeat the time.","change":"Say the day and the time.","confidence":0.8}]}`

func TestAnalyze(t *testing.T) {
	t.Parallel()
	m := answering(good)
	got, err := analysis.Analyze(t.Context(), m, failed())
	if err != nil || got.Fault != analysis.OfAgent || got.Node != "bye" || got.By != "thinker" || got.Usage.Input != 10 || !strings.Contains(got.Cause, "bye") {
		t.Fatalf("got %+v, %v", got, err)
	}
	if s := got.Suggestions; len(s) != 2 || s[0].Kind != analysis.PromptChange || s[0].Node != "bye" || s[0].Name != "Bye" || s[1].Node != "" {
		t.Errorf("the suggestions are %+v", got.Suggestions)
	}
	if names := fmt.Sprint(got.Names); names != "map[ask:Ask bye:Bye]" {
		t.Errorf("the names are %s", names)
	}
	q := m.Questions()[0]
	var seen struct {
		Test struct {
			Name    string            `json:"name"`
			Results []json.RawMessage `json:"results"`
		} `json:"test"`
		Nodes []struct {
			ID string `json:"id"`
		} `json:"nodes"`
		Visits []json.RawMessage `json:"visits"`
		End    string            `json:"end"`
	}
	if err := json.Unmarshal(q.Evidence, &seen); err != nil {
		t.Fatal(err)
	}
	if order := fmt.Sprint(seen.Nodes); order != "[{bye} {ask} {offer} {far}]" {
		t.Errorf("the model reads the nodes %s: those that were visited come first", order)
	}
	if len(q.Messages) != 3 || q.Task != llm.TaskAnalyze || q.Org != "a" || seen.Test.Name != "Books" || len(seen.Test.Results) != 3 ||
		len(seen.Visits) != 2 || seen.End != "agent_ended" {
		t.Errorf("the question is %+v about %+v", q, seen)
	}
}

// TestAnswersThatAreRefused checks that the model is asked again after an answer that is malformed or names an unknown node.
func TestAnswersThatAreRefused(t *testing.T) {
	t.Parallel()
	for name, bad := range map[string]string{
		"a node that is not there":       strings.Replace(good, `"node":"bye","suggestions"`, `"node":"elsewhere","suggestions"`, 1),
		"a suggestion for another":       strings.Replace(good, `"prompt_change","node":"bye"`, `"prompt_change","node":"elsewhere"`, 1),
		"another kind":                   strings.Replace(good, "prompt_change", "delete_tests", 1),
		"another fault":                  strings.Replace(good, `"fault":"agent"`, `"fault":"infrastructure"`, 1),
		"too sure":                       strings.Replace(good, "0.8", "1.8", 1),
		"something else than was wanted": `{"cause":"It is what it is.","fault":"agent","node":null,"suggestions":[],"promote":true}`,
		"no JSON":                        "The agent is to blame.",
	} {
		m := answering(bad, good)
		if got, err := analysis.Analyze(t.Context(), m, failed()); err != nil || got.Node != "bye" || len(m.Questions()) != 2 || m.Questions()[1].Problem == "" {
			t.Errorf("%s: %+v, %v after %d questions", name, got, err, len(m.Questions()))
		}
		if _, err := analysis.Analyze(t.Context(), answering(bad), failed()); llm.ClassOf(err) != llm.ClassInvalid || err == nil {
			t.Errorf("%s all the time: %v", name, err)
		}
	}
}

// TestByRules checks that, without a capable model, the cause is the failed required assertion with the greatest weight, or the low score
// if none failed. For a run with an error, the cause must be this error, even with a model.
func TestByRules(t *testing.T) {
	t.Parallel()
	low := failed()
	low.Outcome.Results = low.Outcome.Results[:1]
	unnamed := failed()
	unnamed.Outcome.Results[1].Name = ""
	nowhere := failed()
	nowhere.Outcome.Blame = ""
	broken := failed()
	broken.Outcome.Verdict, broken.Outcome.Error = engine.Error, "the model is down"
	for name, test := range map[string]struct {
		c     analysis.Case
		model llm.Model
		want  analysis.Analysis
	}{
		"no model":          {failed(), nil, analysis.Analysis{Cause: `"Confirms" (STRING_CHECK) has failed: "nine" was not said`, Fault: analysis.OfAgent, Node: "bye"}},
		"a stand-in":        {failed(), scripted.New(), analysis.Analysis{Cause: `"Confirms" (STRING_CHECK) has failed: "nine" was not said`, Fault: analysis.OfAgent, Node: "bye"}},
		"without a name":    {unnamed, nil, analysis.Analysis{Cause: `STRING_CHECK has failed: "nine" was not said`, Fault: analysis.OfAgent, Node: "bye"}},
		"no place":          {nowhere, nil, analysis.Analysis{Cause: `"Confirms" (STRING_CHECK) has failed: "nine" was not said Nothing tells at which node: the failure has no single place.`, Fault: analysis.OfAgent}},
		"a low score":       {low, nil, analysis.Analysis{Cause: "The overall score is too low, although no required assertion has failed.", Fault: analysis.OfAgent, Node: "bye"}},
		"a run in error":    {broken, answering(good), analysis.Analysis{Cause: "The run says nothing about the agent: the model is down", Fault: analysis.OfNobody}},
		"nothing but error": {analysis.Case{Outcome: engine.Outcome{Verdict: engine.Error, Error: "x"}}, nil, analysis.Analysis{Cause: "The run says nothing about the agent: x", Fault: analysis.OfNobody}},
	} {
		got, err := analysis.Analyze(t.Context(), test.model, test.c)
		if err != nil || got.Cause != test.want.Cause || got.Fault != test.want.Fault || got.Node != test.want.Node || got.By != analysis.ByRules || len(got.Suggestions) > 0 {
			t.Errorf("%s: %+v, %v", name, got, err)
		}
	}
}

func TestModelThatFails(t *testing.T) {
	t.Parallel()
	m := &agentstest.Model{Answers: func(context.Context, llm.Question) (string, error) {
		return "", &llm.Failure{Class: llm.ClassQuota, Message: "no money"}
	}}
	if got, err := analysis.Analyze(t.Context(), m, failed()); llm.ClassOf(err) != llm.ClassQuota || got.Cause != "" {
		t.Errorf("got %+v, %v", got, err)
	}
}

// TestQuestionsAreBounded checks that the input of the model does not exceed the limits, however large the run is.
func TestQuestionsAreBounded(t *testing.T) {
	t.Parallel()
	c := failed()
	long := strings.Repeat("é", 20_000)
	c.Nodes = nil
	for i := range 500 {
		c.Nodes = append(c.Nodes, analysis.Node{ID: fmt.Sprint("n", i), Name: "n", Text: long})
	}
	for range 100 {
		c.Outcome.Evidence.Turns = append(c.Outcome.Evidence.Turns, assert.Turn{Role: llm.RoleAgent, Text: long})
	}
	for range 9000 {
		c.Outcome.Evidence.Visits = append(c.Outcome.Evidence.Visits, assert.Visit{Node: "ask"})
	}
	for range 50 {
		c.Outcome.Results = append(c.Outcome.Results, assert.Result{Type: assert.LLMJudge, Outcome: assert.Failed, Reasoning: long})
	}
	c.Scenario.CallerPrompt = long
	c.Outcome.Evidence.Variables = map[string]any{"x": long}
	m := answering(strings.ReplaceAll(good, `"bye"`, "null"))
	if _, err := analysis.Analyze(t.Context(), m, c); err != nil {
		t.Fatal(err)
	}
	q := m.Questions()[0]
	size := len(q.Evidence)
	for _, message := range q.Messages {
		size += len(message.Text)
	}
	if size > 400_000 {
		t.Errorf("the model reads %d bytes", size)
	}
}
