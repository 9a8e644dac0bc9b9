package llm_test

import (
	"context"
	"errors"
	"strings"
	"testing"

	"github.com/callwright/callwright"
	"github.com/callwright/callwright/adapters/scripted"
	"github.com/callwright/callwright/agents/agentstest"
	"github.com/callwright/callwright/agents/llm"
)

// TestSelection checks that the named model answers a request, that the default model answers requests with an unknown name, and that
// questions of TaskJudge with an unknown name fail.
func TestSelection(t *testing.T) {
	t.Parallel()
	named := func(name string) *agentstest.Model {
		return &agentstest.Model{
			Called:  name,
			Says:    func(context.Context, llm.ReplyRequest) ([]llm.ReplyPart, error) { return agentstest.Texts(name), nil },
			Answers: func(context.Context, llm.Question) (string, error) { return `{"by":"` + name + `"}`, nil },
		}
	}
	s := llm.Selection{Default: named("small"), Others: map[string]llm.Model{"strict": named("large-2"), "turbo": named("fast-1")}}
	for asked, want := range map[string]string{"": "small", "base": "small", "small": "small", "strict": "large-2", "turbo": "fast-1", "gone": "small"} {
		got, err := agentstest.Collect(t.Context(), s, llm.ReplyRequest{Model: asked})
		if err != nil || got.Text != want {
			t.Errorf("%q: %q replies, %v", asked, got.Text, err)
		}
		if a, err := s.Answer(t.Context(), llm.Question{Task: llm.TaskExtract, Model: asked}); err != nil || !strings.Contains(string(a.JSON), want) {
			t.Errorf("%q: %s answers, %v", asked, a.JSON, err)
		}
		a, err := s.Answer(t.Context(), llm.Question{Task: llm.TaskJudge, Model: asked})
		if asked == "gone" {
			if llm.ClassOf(err) != llm.ClassPermanent || err == nil {
				t.Errorf("a judge that is gone: %s, %v", a.JSON, err)
			}
		} else if err != nil || !strings.Contains(string(a.JSON), want) {
			t.Errorf("%q: %s judges, %v", asked, a.JSON, err)
		}
		name, known := llm.NameOf(s, asked)
		refused := llm.CheckName(s, "config.model", asked)
		if name != want || known != (asked != "gone") || (refused == nil) != known {
			t.Errorf("%q: %q, %t, %v", asked, name, known, refused)
		}
	}
	e, ok := errors.AsType[*callwright.Error](llm.CheckName(s, "config.model", "gone"))
	if !ok || e.Code != callwright.CodeBadRequest || e.Field != "config.model" || e.Message != "must be a model of this server: base, small, strict, turbo" {
		t.Errorf("it is refused with %+v", e)
	}
	if _, known := llm.NameOf(named("alone"), "strict"); known {
		t.Error("a model without others has one")
	}
	if s.Name() != "small" || llm.Repeats(s) {
		t.Errorf("the name is %s, repeats: %t", s.Name(), llm.Repeats(s))
	}
}

// TestSelectionTellsLimits checks that a selection reports the limits of the model that a request names.
func TestSelectionTellsLimits(t *testing.T) {
	t.Parallel()
	s := llm.Selection{Default: scripted.New(), Others: map[string]llm.Model{"strict": &agentstest.Model{Called: "large-2"}}}
	for asked, limited := range map[string]bool{"": true, "base": true, "strict": false, "gone": true} {
		if got := llm.Unfollowed(s, asked, "Talk freely."); (got != "") != limited {
			t.Errorf("%q does not follow: %q", asked, got)
		}
		if got := llm.Unanswered(s, asked, llm.TaskAnalyze); (got != "") != limited {
			t.Errorf("%q does not answer: %q", asked, got)
		}
		if got := llm.Unanswered(s, asked, llm.TaskExtract) + llm.Unfollowed(s, asked, `when "yes": say "Good." and end`); got != "" {
			t.Errorf("%q is said to have a limit: %q", asked, got)
		}
	}
	if got := llm.Unanswered(scripted.New(scripted.Rule{Task: llm.TaskAnalyze, Answer: "{}"}), "", llm.TaskAnalyze); got != "" {
		t.Errorf("with a rule for the task: %q", got)
	}
}

// TestSelectionFallbacks checks which model replies if the requested one fails: the fallback of the request, or that of the default model.
func TestSelectionFallbacks(t *testing.T) {
	t.Parallel()
	down := &agentstest.Model{Called: "down", Says: failing(llm.ClassTransient).Says}
	s, err := llm.NewSelection(llm.SelectionConfig{
		Default: down, Others: map[string]llm.Model{"a": says("A."), "b": says("B."), "c": down}, Fallback: "a",
	})
	if err != nil {
		t.Fatal(err)
	}
	for _, tt := range []struct{ model, fallback, want string }{
		{"", "", "A."}, {"base", "", "A."}, {"gone", "", "A."}, {"", "b", "B."}, {"", "gone", ""}, {"c", "", ""}, {"c", "b", "B."},
		{"c", "c", ""}, {"", "base", ""}, {"b", "base", "B."},
	} {
		got, err := agentstest.Collect(t.Context(), s, llm.ReplyRequest{Model: tt.model, Fallback: tt.fallback})
		if got.Text != tt.want || (err == nil) != (tt.want != "") {
			t.Errorf("%q with the fallback %q: %q, %v", tt.model, tt.fallback, got.Text, err)
		}
	}
	asked := len(down.Requests())
	if _, err := agentstest.Collect(t.Context(), s, llm.ReplyRequest{Fallback: "b"}); err != nil || len(down.Requests()) != asked {
		t.Errorf("a model that has failed often, also with other fallbacks, is asked again: %v", err)
	}
	if _, err := llm.NewSelection(llm.SelectionConfig{Default: down, Fallback: "gone"}); err == nil {
		t.Error("an unknown fallback of the default model is accepted")
	}
}

// TestSelectionModel runs the suite of models on a selection with a fallback.
func TestSelectionModel(t *testing.T) { //nolint:paralleltest // the suite looks for leaked goroutines
	agentstest.RunModel(t, agentstest.ModelHarness{New: func(t *testing.T) llm.Model {
		s, err := llm.NewSelection(llm.SelectionConfig{Default: failing(llm.ClassTransient), Others: map[string]llm.Model{"a": says("Hello.")}, Fallback: "a"})
		if err != nil {
			t.Fatal(err)
		}
		return s
	}})
}
