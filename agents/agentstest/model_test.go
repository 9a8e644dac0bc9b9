package agentstest_test

import (
	"context"
	"encoding/json"
	"testing"

	"github.com/callwright/callwright/agents/agentstest"
	"github.com/callwright/callwright/agents/llm"
)

// TestModel checks that the fake Model passes the suite for models, because tests rely on it.
func TestModel(t *testing.T) {
	t.Parallel()
	answers := map[llm.Task]string{llm.TaskRoute: `{"reason":"x","option":"a"}`, llm.TaskExtract: `{"n":4}`, llm.TaskJudge: `true`}
	fake := func(*testing.T) llm.Model {
		return &agentstest.Model{
			Usage: llm.Usage{Input: 2, Output: 1},
			Says: func(_ context.Context, r llm.ReplyRequest) ([]llm.ReplyPart, error) {
				parts := agentstest.Texts("Good ", "morning.")
				switch {
				case r.Instructions == "fail":
					return nil, &llm.Failure{Class: llm.ClassQuota, Message: "no"}
				case r.CanEnd && r.Instructions == "end":
					parts = append(parts, llm.ReplyPart{Action: llm.ActionEnd})
				case len(r.Tools) > 0 && len(r.Messages) == 0:
					parts = append(parts, llm.ReplyPart{Call: &llm.ToolCall{ID: "1", Name: r.Tools[0].Name}})
				}
				return parts, nil
			},
			Answers: func(_ context.Context, q llm.Question) (string, error) {
				if q.Instructions == "fail" {
					return "", &llm.Failure{Class: llm.ClassQuota, Message: "no"}
				}
				return answers[q.Task], nil
			},
		}
	}
	agentstest.RunModel(t, agentstest.ModelHarness{
		New: fake, Task: "Talk.",
		Ends:  &agentstest.Scene{Request: llm.ReplyRequest{Instructions: "end"}},
		Calls: &agentstest.Scene{Request: llm.ReplyRequest{Tools: []llm.Tool{{Name: "look"}}}},
		Questions: []llm.Question{
			{Task: llm.TaskRoute, Options: []llm.Option{{ID: "a"}, {ID: "b"}}},
			{Task: llm.TaskExtract, Fields: []llm.Field{{Name: "n", Type: llm.FieldInteger}}},
			{Task: llm.TaskJudge, Schema: json.RawMessage(`{"type":"boolean"}`)},
		},
		Failing: map[llm.Class]agentstest.Failing{
			llm.ClassQuota: {Request: llm.ReplyRequest{Instructions: "fail"}, Question: llm.Question{Task: llm.TaskFix, Instructions: "fail"}},
			llm.ClassUnsupported: {
				New:      func(*testing.T) llm.Model { return &agentstest.Model{} },
				Question: llm.Question{Task: llm.TaskJudge},
			},
		},
	})
}

func TestModelKeepsWhatItWasAsked(t *testing.T) {
	t.Parallel()
	m := &agentstest.Model{Called: "m-1", Usage: llm.Usage{Input: 3}, Answers: func(context.Context, llm.Question) (string, error) { return "1", nil }}
	m.Says = func(context.Context, llm.ReplyRequest) ([]llm.ReplyPart, error) {
		return agentstest.Texts("a", "b"), nil
	}
	messages := []llm.Message{{Role: llm.RoleCaller, Text: "Hi."}}
	got, err := agentstest.Collect(t.Context(), m, llm.ReplyRequest{Messages: messages})
	if err != nil || got.Text != "ab" || got.Usage.Input != 3 {
		t.Errorf("reply %+v, %v", got, err)
	}
	if a, err := m.Answer(t.Context(), llm.Question{Messages: messages, Trial: 2}); err != nil || string(a.JSON) != "1" || a.Model != "m-1" || a.Usage.Input != 3 {
		t.Errorf("answer %+v, %v", a, err)
	}
	messages[0].Text = "changed"
	if r, q := m.Requests(), m.Questions(); len(r) != 1 || len(q) != 1 || r[0].Messages[0].Text != "Hi." || q[0].Messages[0].Text != "Hi." || q[0].Trial != 2 {
		t.Errorf("requests %+v, questions %+v", r, q)
	}
}
