package llm_test

import (
	"context"
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
	if want := 2 + llm.Attempts; c.Calls() != want || len(m.Requests())+len(m.Questions()) != want {
		t.Errorf("%d calls were counted, %d requests and %d questions arrived", c.Calls(), len(m.Requests()), len(m.Questions()))
	}
}
