package engine_test

import (
	"context"
	"strings"
	"testing"

	"github.com/callwright/callwright/agents/llm"
	"github.com/callwright/callwright/agenttest/assert"
	"github.com/callwright/callwright/agenttest/engine"
)

// sameAgain runs a case, and returns the case with its outcome.
func sameAgain(t *testing.T, e *engine.Engine, c engine.Case) (engine.Case, engine.Outcome) {
	t.Helper()
	o, err := e.Run(t.Context(), c)
	if err != nil {
		t.Fatal(err)
	}
	return c, o
}

// TestJudgeAgain checks that only the judge is asked again, and that results of rules stay.
func TestJudgeAgain(t *testing.T) {
	t.Parallel()
	verdict := "be kind"
	m := model(2)
	m.Answers = func(_ context.Context, q llm.Question) (string, error) {
		if verdict == "" {
			return "", &llm.Failure{Class: llm.ClassPermanent, Message: "gone"}
		}
		return `{"pass":` + map[bool]string{true: "true", false: "false"}[strings.Contains(verdict, q.Instructions)] + `}`, nil
	}
	e := newEngine(t, engine.Config{Runner: agent{}, Model: m, Judge: newJudge})
	c, o := sameAgain(t, e, engine.Case{Run: "r", Version: 1, Scenario: played(judged("a", "be kind"), reached("b", "1"))})
	if o.Verdict != engine.Passed {
		t.Fatalf("the run is %s: %s", o.Verdict, o.Error)
	}
	replies, questions := len(m.Requests()), len(m.Questions())
	for _, tt := range []struct {
		verdict string
		want    engine.Verdict
	}{{"be kind", engine.Passed}, {"be brief", engine.Failed}, {"", engine.Error}} {
		verdict = tt.verdict
		if got, err := e.JudgeAgain(t.Context(), c, o); err != nil || got.Verdict != tt.want {
			t.Errorf("a judge that wants %q gives %+v, %v; want %s", tt.verdict, got, err, tt.want)
		}
	}
	if len(m.Requests()) != replies || len(m.Questions()) != questions+2+2+1 {
		t.Errorf("%d replies and %d questions more", len(m.Requests())-replies, len(m.Questions())-questions)
	}
	verdict = "be kind"
	o.Results[1].Outcome = assert.Failed // JudgeAgain must keep a rule's result
	if got, err := e.JudgeAgain(t.Context(), c, o); err != nil || got.Verdict != engine.Failed {
		t.Errorf("with a failed rule it gives %+v, %v", got, err)
	}
	cancelled, cancel := context.WithCancel(t.Context())
	cancel()
	if got, err := e.JudgeAgain(cancelled, c, o); err != nil || got.Verdict != engine.Cancelled {
		t.Errorf("when cancelled it gives %+v, %v", got, err)
	}
}

// TestJudgeAgainResumes interrupts a judge at each of its calls, and checks that answered calls are not repeated.
func TestJudgeAgainResumes(t *testing.T) {
	t.Parallel()
	c, o := sameAgain(t, newEngine(t, engine.Config{Runner: agent{}, Model: model(2), Judge: newJudge}),
		engine.Case{Run: "r", Version: 1, Scenario: played(judged("a", "be kind"), judged("b", "be brief"))})
	const calls = 4
	for _, moment := range []string{"before", "in flight", "answered"} {
		for at := 1; at <= calls; at++ {
			c.Journal, c.Trial = &engine.MemoryJournal{}, 1
			ctx, cancel := context.WithCancel(t.Context())
			first := &killer{Model: model(2), at: at, moment: moment, kill: cancel}
			judge := func(ctx context.Context, m *killer) (engine.Judgement, error) {
				return newEngine(t, engine.Config{Runner: agent{}, Model: m, Judge: newJudge, Parallel: 1}).JudgeAgain(ctx, c, o)
			}
			if got, err := judge(ctx, first); err != nil || got.Verdict != engine.Cancelled {
				t.Fatalf("%s call %d it gives %+v, %v", moment, at, got, err)
			}
			cancel()
			second := &killer{Model: model(2)}
			if got, err := judge(t.Context(), second); err != nil || got.Verdict != o.Verdict || got.Spend.Tokens != calls*11 {
				t.Errorf("%s call %d it gives %+v, %v", moment, at, got, err)
			}
			most := calls
			if moment == "in flight" {
				most++ // the interrupted call may have been answered
			}
			if first.paid+second.paid != most {
				t.Errorf("%s call %d: %d and %d calls were paid, want %d", moment, at, first.paid, second.paid, most)
			}
		}
	}
}
