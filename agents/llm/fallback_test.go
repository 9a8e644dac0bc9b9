package llm_test

import (
	"context"
	"errors"
	"iter"
	"testing"
	"testing/synctest"
	"time"

	"github.com/callwright/callwright/agents/agentstest"
	"github.com/callwright/callwright/agents/llm"
)

// says returns a model that replies with a text.
func says(text string) *agentstest.Model {
	return &agentstest.Model{Says: func(context.Context, llm.ReplyRequest) ([]llm.ReplyPart, error) { return agentstest.Texts(text), nil }}
}

var errDown = errors.New("down")

// failing returns a model that fails, after some words.
func failing(class llm.Class, words ...string) *agentstest.Model {
	return &agentstest.Model{
		Says: func(context.Context, llm.ReplyRequest) ([]llm.ReplyPart, error) {
			return agentstest.Texts(words...), &llm.Failure{Class: class, Message: "no", Cause: errDown}
		},
		Answers: func(context.Context, llm.Question) (string, error) {
			return "", &llm.Failure{Class: class, Message: "no"}
		},
	}
}

// silent is a model that never replies.
type silent struct{ llm.Model }

func (silent) Reply(ctx context.Context, _ llm.ReplyRequest) iter.Seq2[llm.ReplyPart, error] {
	return func(yield func(llm.ReplyPart, error) bool) {
		<-ctx.Done()
		yield(llm.ReplyPart{}, &llm.Failure{Class: llm.ClassTransient, Message: "ended", Cause: ctx.Err()})
	}
}

func newFallback(t *testing.T, first, second llm.Model) *llm.Fallback {
	t.Helper()
	f, err := llm.NewFallback(llm.FallbackConfig{First: first, Second: second})
	if err != nil {
		t.Fatal(err)
	}
	return f
}

// Answer implements llm.Model.
func (silent) Answer(ctx context.Context, _ llm.Question) (llm.Answer, error) {
	<-ctx.Done()
	return llm.Answer{}, &llm.Failure{Class: llm.ClassTransient, Message: "ended", Cause: ctx.Err()}
}

// collectNamed returns the text of a reply, and the model that its parts name. It fails the test if a part names a model without a cause.
func collectNamed(t *testing.T, m llm.Model) (text, by string, err error) {
	t.Helper()
	for part, e := range m.Reply(t.Context(), llm.ReplyRequest{}) {
		if (part.Model == "") != (part.Cause == "") {
			t.Errorf("a part by %q because of %q", part.Model, part.Cause)
		}
		text, by, err = text+part.Text, part.Model, e
	}
	return text, by, err
}

func TestFallbackModel(t *testing.T) { //nolint:paralleltest // the suite looks for leaked goroutines
	agentstest.RunModel(t, agentstest.ModelHarness{
		New: func(t *testing.T) llm.Model { return newFallback(t, failing(llm.ClassTransient), says("Hello.")) },
	})
}

func TestFallback(t *testing.T) {
	t.Parallel()
	second := "fake"
	for name, tt := range map[string]struct {
		first, second llm.Model
		text, by      string
		fails         bool
		took          time.Duration
	}{
		"the first replies":    {first: says("One."), second: says("Two."), text: "One."},
		"the first is down":    {first: failing(llm.ClassTransient), second: says("Two."), text: "Two.", by: second},
		"its key is refused":   {first: failing(llm.ClassPermanent), second: says("Two."), text: "Two.", by: second},
		"it is silent":         {first: silent{says("")}, second: says("Two."), text: "Two.", by: second, took: llm.DefaultPatience},
		"it breaks off":        {first: failing(llm.ClassTransient, "One, "), second: says("Two."), text: "One, ", fails: true},
		"both fail":            {first: failing(llm.ClassTransient), second: failing(llm.ClassQuota), fails: true},
		"the second is silent": {first: says("One."), second: silent{says("")}, text: "One."},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			synctest.Test(t, func(t *testing.T) {
				start := time.Now()
				text, by, err := collectNamed(t, newFallback(t, tt.first, tt.second))
				if text != tt.text || by != tt.by || (err != nil) != tt.fails || time.Since(start) != tt.took {
					t.Errorf("%q by %q after %v, %v", text, by, time.Since(start), err)
				}
			})
		})
	}
}

// TestFallbackRests checks that a model that has failed several times in a row is not asked for a while.
func TestFallbackRests(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		first := failing(llm.ClassTransient)
		f := newFallback(t, first, says("Two."))
		for range 2 * llm.DefaultFailures {
			if text, _, err := collectNamed(t, f); text != "Two." || err != nil {
				t.Errorf("%q, %v", text, err)
			}
		}
		if n := len(first.Requests()); n != llm.DefaultFailures {
			t.Errorf("the first model got %d requests", n)
		}
		time.Sleep(llm.DefaultPause)
		if _, _, err := collectNamed(t, f); err != nil || len(first.Requests()) != llm.DefaultFailures+1 {
			t.Errorf("after the pause it got %d requests, %v", len(first.Requests()), err)
		}
	})
}

// TestFallbackAsksOn checks that requests that the first model cannot answer keep no other requests from it.
func TestFallbackAsksOn(t *testing.T) {
	t.Parallel()
	for _, failure := range []llm.Failure{{Class: llm.ClassTooLong}, {Class: llm.ClassPermanent}, {Class: llm.ClassTransient}} {
		first := &agentstest.Model{Says: func(context.Context, llm.ReplyRequest) ([]llm.ReplyPart, error) { return nil, &failure }}
		f := newFallback(t, first, says("Two."))
		for i := range 2 * llm.DefaultFailures {
			if text, _, err := collectNamed(t, f); text != "Two." || err != nil || len(first.Requests()) != i+1 {
				t.Errorf("%s: %q after %d requests, %v", failure.Class, text, len(first.Requests()), err)
			}
		}
	}
}

// TestFallbackAnswers checks that the second model answers questions, except those of a judge.
func TestFallbackAnswers(t *testing.T) {
	t.Parallel()
	second := &agentstest.Model{Answers: func(context.Context, llm.Question) (string, error) { return "{}", nil }}
	f := newFallback(t, failing(llm.ClassRateLimited), second)
	if a, err := f.Answer(t.Context(), llm.Question{Task: llm.TaskExtract}); err != nil || string(a.JSON) != "{}" || a.Model == "" || a.Cause != llm.ClassRateLimited {
		t.Errorf("answer %+v, %v", a, err)
	}
	if _, err := f.Answer(t.Context(), llm.Question{Task: llm.TaskJudge}); llm.ClassOf(err) != llm.ClassRateLimited {
		t.Errorf("a judge: %v", err)
	}
}

// TestFallbackAnswersInTime checks that the second model answers the questions of a turn if the first one is silent, and that questions after
// the conversation have the time that they need.
func TestFallbackAnswersInTime(t *testing.T) {
	t.Parallel()
	for task, within := range map[llm.Task]time.Duration{
		llm.TaskRoute: llm.DefaultPatience, llm.TaskExtract: llm.DefaultPatience, llm.TaskAnalyze: time.Hour,
	} {
		synctest.Test(t, func(t *testing.T) {
			ctx, cancel := context.WithTimeout(t.Context(), time.Hour)
			defer cancel()
			second := &agentstest.Model{Answers: func(context.Context, llm.Question) (string, error) { return "{}", nil }}
			start := time.Now()
			a, err := newFallback(t, silent{says("")}, second).Answer(ctx, llm.Question{Task: task})
			if took := time.Since(start); took != within || (err == nil) != (within == llm.DefaultPatience) || err == nil && a.Cause != llm.ClassTransient {
				t.Errorf("%s: %+v after %v, %v", task, a, took, err)
			}
		})
	}
}
