package judge_test

import (
	"context"
	"encoding/json"
	"reflect"
	"strings"
	"sync/atomic"
	"testing"

	"github.com/callwright/callwright/agents/agentstest"
	"github.com/callwright/callwright/agents/llm"
	"github.com/callwright/callwright/agenttest/agenttesttest"
	"github.com/callwright/callwright/agenttest/assert"
	"github.com/callwright/callwright/agenttest/engine"
	"github.com/callwright/callwright/agenttest/judge"
	"github.com/callwright/callwright/agenttest/scenario"
)

// TestRunsResumeVotes checks that a resumed run uses the earlier votes in their order, and repeats none.
func TestRunsResumeVotes(t *testing.T) {
	t.Parallel()
	var asked atomic.Int32
	newModel := func(down bool) llm.Model {
		return &agentstest.Model{Called: "m", Answers: func(_ context.Context, q llm.Question) (string, error) {
			if down {
				return "", &llm.Failure{Class: llm.ClassQuota, Message: "down"}
			}
			asked.Add(1)
			switch q.Attempt {
			case llm.Attempts:
				return "no JSON", nil
			case llm.Attempts + 1:
				return fail, nil
			default:
				return `{"evidence":[],"reasoning":"It does.","verdict":"pass","failure_code":null}`, nil
			}
		}}
	}
	journal := &engine.MemoryJournal{}
	run := func(down bool) engine.Outcome {
		e, err := engine.New(engine.Config{
			Runner: &agenttesttest.Runner{Turns: []engine.AgentTurn{{Text: "We are closed. Goodbye.", Ended: true}}},
			Model:  newModel(down), Judge: func(m llm.Model) assert.Judge { return judge.New(m, judge.Config{}) },
		})
		if err != nil {
			t.Fatal(err)
		}
		o, err := e.Run(t.Context(), engine.Case{Run: "r", Journal: journal, Trial: 3, Scenario: scenario.Scenario{
			Kind: scenario.Agent, CallerPrompt: "You call a shop.", Required: true,
			Assertions: []assert.Assertion{{ID: "a", Type: assert.LLMJudge, Required: true, Weight: 1, Config: json.RawMessage(`{"prompt":"The agent says goodbye."}`)}},
		}})
		if err != nil {
			t.Fatal(err)
		}
		return o
	}
	first, again := run(false), run(true)
	if r := first.Results[0]; first.Verdict != engine.Passed || len(r.Samples) != 3 || r.Samples[1].Verdict != assert.JudgeFail || *r.Agreement != 2.0/3 || asked.Load() != 4 {
		t.Errorf("got %+v after %d questions", first.Results, asked.Load())
	}
	if !reflect.DeepEqual(first.Results, again.Results) {
		t.Errorf("resumed, the results are %+v, before %+v", again.Results, first.Results)
	}
}

// FuzzJudge checks that only an answer that consists of one object with a verdict results in a verdict.
func FuzzJudge(f *testing.F) {
	for _, seed := range []string{pass, fail, cannot, pass + fail, "```json\n" + pass + "\n```", `{"verdict":"pass"}`, "pass", ""} {
		f.Add(seed)
	}
	f.Fuzz(func(t *testing.T, text string) {
		o, err := judge.New(&canned{answer: text}, judge.Config{Samples: 1}).Judge(t.Context(), order(), polite)
		if err != nil {
			if !isInvalid(err) || o.Verdict != "" {
				t.Errorf("got %+v, error %v", o, err)
			}
			return
		}
		answer := struct {
			Verdict assert.JudgeVerdict `json:"verdict"`
		}{}
		if err := json.Unmarshal([]byte(unfenced(text)), &answer); err != nil || answer.Verdict != o.Verdict || o.Reasoning == "" && o.Samples[0].Reasoning != "" {
			t.Errorf("%q gives %+v (%v)", text, o, err)
		}
	})
}

// unfenced returns an answer without its Markdown code fence.
func unfenced(text string) string {
	text = strings.TrimSpace(text)
	if inside, fenced := strings.CutPrefix(text, "```"); fenced {
		_, inside, _ = strings.Cut(inside, "\n")
		return strings.TrimSuffix(inside, "```")
	}
	return text
}
