package llm_test

import (
	"context"
	"reflect"
	"testing"

	"github.com/callwright/callwright/agents/agentstest"
	"github.com/callwright/callwright/agents/llm"
)

// TestCounter checks that a Counter counts every request that reaches the model, including repeated, failed and stopped ones.
func TestCounter(t *testing.T) {
	t.Parallel()
	m := &agentstest.Model{
		Says: func(context.Context, llm.ReplyRequest) ([]llm.ReplyPart, error) {
			return agentstest.Texts("One.", "Two."), nil
		},
		Answers: func(context.Context, llm.Question) (string, error) { return "no JSON", nil },
	}
	c := llm.NewCounter(m)
	if c.Calls() != 0 || c.Name() != m.Name() {
		t.Errorf("%d calls of %q before the first request", c.Calls(), c.Name())
	}
	if c.Uses() != nil {
		t.Errorf("%+v before the first request", c.Uses())
	}
	for range 2 {
		for part, err := range c.Reply(t.Context(), llm.ReplyRequest{}) {
			if part.Text != "One." || err != nil {
				t.Errorf("the reply begins with %+v, %v", part, err)
			}
			break
		}
	}
	if _, _, err := llm.Extract(t.Context(), c, llm.Question{Fields: []llm.Field{{Name: "day", Type: llm.FieldString}}}); llm.ClassOf(err) != llm.ClassInvalid {
		t.Errorf("the invalid answers cause %v", err)
	}
	uses := []llm.Use{{Model: m.Name(), Requests: 2 + llm.Attempts, Uncounted: 2 + llm.Attempts}}
	if got := c.Uses(); !reflect.DeepEqual(got, uses) {
		t.Errorf("uses %+v, want %+v", got, uses)
	}
	if want := 2 + llm.Attempts; c.Calls() != want || len(m.Requests())+len(m.Questions()) != want {
		t.Errorf("%d calls were counted, %d requests and %d questions arrived", c.Calls(), len(m.Requests()), len(m.Questions()))
	}
}

// TestCounterUses checks that a Counter records who answered, whom it replaced and why, the tokens, and the failures, but no interruption as
// a failure.
func TestCounterUses(t *testing.T) {
	t.Parallel()
	usage := llm.Usage{Input: 100, Output: 7, Cached: 60}
	second := &agentstest.Model{
		Called: "second", Usage: usage,
		Says: func(context.Context, llm.ReplyRequest) ([]llm.ReplyPart, error) {
			return agentstest.Texts("Two.", "And."), nil
		},
		Answers: func(context.Context, llm.Question) (string, error) { return "{}", nil },
	}
	s, err := llm.NewSelection(llm.SelectionConfig{Default: failing(llm.ClassRateLimited), Others: map[string]llm.Model{"other": second, "down": failing(llm.ClassQuota)}, Fallback: "other"})
	if err != nil {
		t.Fatal(err)
	}
	c := llm.NewCounter(s)
	if _, err := agentstest.Collect(t.Context(), c, llm.ReplyRequest{}); err != nil {
		t.Fatal(err)
	}
	for _, err := range c.Reply(t.Context(), llm.ReplyRequest{Model: "other"}) {
		if err != nil {
			t.Fatal(err)
		}
		break
	}
	if _, err := c.Answer(t.Context(), llm.Question{Task: llm.TaskRoute}); err != nil {
		t.Fatal(err)
	}
	if _, err := c.Answer(t.Context(), llm.Question{Task: llm.TaskRoute, Model: "down"}); err == nil {
		t.Fatal("a model without a fallback is replaced")
	}
	ended, cancel := context.WithCancel(t.Context())
	cancel()
	if _, err := c.Answer(ended, llm.Question{Task: llm.TaskRoute, Model: "down"}); err == nil {
		t.Fatal("an ended question is answered")
	}
	want := []llm.Use{
		{Model: "second", Replaced: "fake", Cause: llm.ClassRateLimited, Requests: 2, Usage: usage.Add(usage)},
		{Model: "second", Requests: 1, Uncounted: 1},
		{Model: "fake", Requests: 2, Failed: 1, Uncounted: 1},
	}
	if got := c.Uses(); !reflect.DeepEqual(got, want) {
		t.Errorf("uses %+v, want %+v", got, want)
	}
}
