package agentstest

import (
	"context"
	"reflect"
	"slices"
	"testing"

	"github.com/callwright/callwright/agents/llm"
)

// repeats checks that an llm.Repeatable model returns equal answers to equal requests, even after other requests and from another model of
// the harness. It does nothing for other models.
func (h ModelHarness) repeats(t *testing.T, r llm.ReplyRequest) {
	m, other := h.New(t), h.New(t)
	if !llm.Repeats(m) {
		return
	}
	if !llm.Repeats(m) || !llm.Repeats(other) {
		t.Error("it does not always say that it repeats its answers")
	}
	requests := []llm.ReplyRequest{r, withMessages(r, "Hello.", "Good morning."), withMessages(r, "Yes?", "Monday, in the morning.", "Noted.", "3")}
	if h.Ends != nil && h.Ends.New == nil {
		requests = append(requests, h.Ends.Request)
	}
	questions := h.Questions
	for _, f := range h.Failing {
		if f.New == nil {
			requests, questions = append(requests, f.Request), append(slices.Clip(questions), f.Question)
		}
	}
	first := everything(t, m, requests, questions)
	for name, again := range map[string]llm.Model{"it": m, "another one": other} {
		for i, answer := range everything(t, again, requests, questions) {
			if !reflect.DeepEqual(answer, first[i]) {
				t.Errorf("%s answers %+v, where it answered %+v", name, answer, first[i])
			}
		}
	}
}

// outcome is the result of a request or a question: a reply, an answer or a failure.
type outcome struct {
	reply  Replied
	answer llm.Answer
	class  llm.Class
	failed string
}

// everything sends all requests and questions to a model, and returns their outcomes in order.
func everything(t *testing.T, m llm.Model, requests []llm.ReplyRequest, questions []llm.Question) []outcome {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), modelTime)
	defer cancel()
	out := make([]outcome, 0, len(requests)+len(questions))
	add := func(o outcome, err error) {
		if err != nil {
			o.class, o.failed = llm.ClassOf(err), err.Error()
		}
		out = append(out, o)
	}
	for _, r := range requests {
		got, err := Collect(ctx, m, r)
		add(outcome{reply: got}, err)
	}
	for _, q := range questions {
		got, err := m.Answer(ctx, q)
		add(outcome{answer: got}, err)
	}
	return out
}
