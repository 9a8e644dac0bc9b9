package checkup_test

import (
	"context"
	"errors"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/callwright/callwright"
	"github.com/callwright/callwright/agents/agentstest"
	"github.com/callwright/callwright/agents/checkup"
	"github.com/callwright/callwright/agents/llm"
	"github.com/callwright/callwright/speech/tts"
)

// model returns a model that replies after a delay and chooses an option.
func model(delay time.Duration, option string) *agentstest.Model {
	return &agentstest.Model{
		Called: "m-1", Usage: llm.Usage{Input: 1},
		Says: func(context.Context, llm.ReplyRequest) ([]llm.ReplyPart, error) {
			time.Sleep(delay)
			return agentstest.Texts("Good morning."), nil
		},
		Answers: func(context.Context, llm.Question) (string, error) {
			return `{"reason":"x","option":"` + option + `"}`, nil
		},
	}
}

func TestModel(t *testing.T) {
	t.Parallel()
	failing := model(0, "yes")
	failing.Says = func(context.Context, llm.ReplyRequest) ([]llm.ReplyPart, error) {
		return nil, &llm.Failure{Class: llm.ClassQuota, Message: "the secret account"}
	}
	unfit := model(0, "maybe")
	for name, tt := range map[string]struct {
		model   llm.Model
		first   time.Duration
		problem string
		advice  string
	}{
		"works":       {model: model(time.Second, "yes"), first: time.Second},
		"slow":        {model: model(2*time.Second, "yes"), first: 2 * time.Second, advice: "a faster model"},
		"wrong":       {model: model(time.Second, "no"), first: time.Second, problem: "the wrong one", advice: "a stronger model"},
		"refused":     {model: failing, problem: "the quota of the account", advice: "billing"},
		"not as told": {model: unfit, first: 1, problem: "no choice", advice: "writes JSON"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			synctest.Test(t, func(t *testing.T) {
				r := checkup.Model(t.Context(), tt.model, "", callwright.SystemClock{})
				if r.Part != "model" || r.By != "m-1" || r.First != tt.first || (r.Problem == "") != (tt.problem == "") || !strings.Contains(r.Problem, tt.problem) ||
					(r.Advice == "") != (tt.advice == "") || !strings.Contains(r.Advice, tt.advice) || strings.Contains(r.Problem, "secret") {
					t.Errorf("report %+v", r)
				}
			})
		})
	}
}

// TestFallback checks that the reply of a fallback is a problem of the model that was asked.
func TestFallback(t *testing.T) {
	t.Parallel()
	failing := model(0, "yes")
	failing.Says = func(context.Context, llm.ReplyRequest) ([]llm.ReplyPart, error) {
		return nil, &llm.Failure{Class: llm.ClassPermanent, Message: "no"}
	}
	failing.Called = "first"
	both, err := llm.NewFallback(llm.FallbackConfig{First: failing, Second: model(0, "yes")})
	if err != nil {
		t.Fatal(err)
	}
	r := checkup.Model(t.Context(), both, "", callwright.SystemClock{})
	if r.By != "first" || !strings.Contains(r.Problem, "m-1 has replied instead") || !strings.Contains(r.Advice, "check the key") {
		t.Errorf("report %+v", r)
	}
}

// voice is a tts.Engine that speaks with agentstest.Synthesizer.
type voice struct{ agentstest.Synthesizer }

func (*voice) Describe() tts.Description       { return tts.Description{Name: "test"} }
func (*voice) CheckVoice(string, string) error { return nil }

func TestVoiceAndRecognizer(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		v, samples := checkup.Voice(t.Context(), &voice{agentstest.Synthesizer{Delay: time.Second}}, callwright.SystemClock{})
		if v.Part != "voice" || v.By != "test" || v.First != time.Second || v.Problem != "" || len(samples) < checkup.Rate {
			t.Errorf("report %+v, %d samples", v, len(samples))
		}
		r := checkup.Recognizer(t.Context(), &agentstest.Recognizer{}, "ears", samples, callwright.SystemClock{})
		if r.Problem != "" || r.By != "ears" || len(r.Facts) == 0 || r.Facts[0] != `heard "Good morning, how can I help you?"` {
			t.Errorf("report %+v", r)
		}
		if r := checkup.Recognizer(t.Context(), &agentstest.Recognizer{}, "ears", nil, callwright.SystemClock{}); r.Problem != "" || r.Facts[0] != `heard ""` {
			t.Errorf("of silence: %+v", r)
		}
	})
}

func TestVoiceFails(t *testing.T) {
	t.Parallel()
	for name, engine := range map[string]*agentstest.Synthesizer{
		"silent":  {Sound: func(tts.Request) []int16 { return make([]int16, 2*checkup.Rate) }},
		"short":   {Sound: func(tts.Request) []int16 { return []int16{9000, -9000} }},
		"refuses": {Fail: func(tts.Request) error { return callwright.Invalid("voice", "must be known") }},
		"breaks":  {Break: func(tts.Request) error { return errors.New("cut") }},
	} {
		if r, _ := checkup.Voice(t.Context(), &voice{*engine}, callwright.SystemClock{}); r.Problem == "" {
			t.Errorf("%s: report %+v", name, r)
		}
	}
}
