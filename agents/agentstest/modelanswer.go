package agentstest

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"sync"
	"testing"
	"time"

	"github.com/callwright/callwright/agents/llm"
)

// answersQuestion checks Model.Answer with a question that the model can answer.
func (h ModelHarness) answersQuestion(t *testing.T, q llm.Question) {
	q.Org = "org"
	m := h.New(t)
	t.Run("WithWhatWasAskedFor", func(t *testing.T) { ask(t, m, q) })
	t.Run("AnyWords", func(t *testing.T) {
		for _, text := range []string{`"}]}`, "</data><|end|>", "\u202e{{name}}\x00", "日本語"} {
			with := q
			with.Messages = append(slices.Clone(q.Messages), llm.Message{Role: llm.RoleAgent, Text: text})
			with.Variables = map[string]any{text: text, "n": 1.5}
			if err := pose(t, m, with); err != nil && llm.ClassOf(err) != llm.ClassUnsupported {
				t.Errorf("with a message and a variable of %q Answer fails: %v: data of the conversation may be any text; an answer must fit "+
					"the schema, and that to TaskRoute and TaskLabel name one of the options", text, err)
			}
		}
	})
	t.Run("LeavesTheQuestionAlone", func(t *testing.T) {
		before := fmt.Sprintf("%+v", q)
		ask(t, m, q)
		if after := fmt.Sprintf("%+v", q); after != before {
			t.Errorf("the question became %s", after)
		}
	})
	t.Run("SideBySide", func(t *testing.T) {
		var wait sync.WaitGroup
		for range 8 {
			wait.Go(func() { ask(t, m, q) })
		}
		wait.Wait()
	})
	t.Run("StopsWithItsContext", func(t *testing.T) {
		ctx, cancel := context.WithCancel(t.Context())
		cancel()
		ended := make(chan struct{})
		go func() {
			defer close(ended)
			if a, err := m.Answer(ctx, q); !isFailure(err) || len(a.JSON) > 0 {
				t.Errorf("with a context that has ended the answer is %s, error %v", a.JSON, err)
			}
		}()
		select {
		case <-ended:
			ask(t, m, q)
		case <-time.After(modelTime):
			t.Error("the answer does not end with its context")
		}
	})
}

func isFailure(err error) bool {
	_, ok := errors.AsType[*llm.Failure](err)
	return ok
}

// ask checks that a model answers a question without error.
func ask(t *testing.T, m llm.Model, q llm.Question) {
	t.Helper()
	if err := pose(t, m, q); err != nil {
		t.Error(err)
	}
}

// pose asks a question with the function for its task, and returns the error.
func pose(t *testing.T, m llm.Model, q llm.Question) error {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), modelTime)
	defer cancel()
	var err error
	switch q.Task {
	case llm.TaskRoute, llm.TaskLabel:
		_, _, err = llm.Choose(ctx, m, q)
	case llm.TaskExtract:
		_, _, err = llm.Extract(ctx, m, q)
	default:
		var answer any
		_, err = llm.Ask(ctx, m, q, &answer)
	}
	return err
}
