package engine_test

import (
	"context"
	"encoding/json"
	"strconv"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/callwright/callwright/agents/llm"
	"github.com/callwright/callwright/agenttest/assert"
	"github.com/callwright/callwright/agenttest/engine"
)

// TestWorkOfARun checks that the regular expressions of a run share one limit of work, in the order of the assertions.
func TestWorkOfARun(t *testing.T) {
	t.Parallel()
	var lines []string
	for i := range 5 {
		lines = append(lines, strconv.Itoa(i)+"xy"+strings.Repeat("a", 12_000))
	}
	sc := scripted(lines...)
	for i := range 3 {
		sc.Assertions = append(sc.Assertions, assert.Assertion{
			ID: strconv.Itoa(i), Type: assert.RegexMatch, Required: true, Weight: 1, Order: 3 - i,
			Config: json.RawMessage(`{"pattern":"^b(?:xy){900}","role":"user","negate":true}`),
		})
	}
	e := newEngine(t, engine.Config{Runner: says("1", "2", "3", "4", "5", "6")})
	for range 2 {
		o, err := e.Run(t.Context(), engine.Case{Run: "r", Scenario: sc})
		if err != nil || o.Verdict != engine.Error || len(o.Results) != 3 || !strings.Contains(o.Error, "cannot be evaluated") {
			t.Fatalf("got %s %q, %d results, error %v", o.Verdict, o.Error, len(o.Results), err)
		}
		for i, r := range o.Results {
			want := []assert.Code{"", "", assert.CodeTooLarge}[i]
			if r.Assertion != strconv.Itoa(2-i) || r.Code != want || (r.Outcome == assert.Error) != (want != "") {
				t.Errorf("%s: %s %s %s", r.Assertion, r.Outcome, r.Code, r.Reasoning)
			}
		}
	}
}

// TestEvaluationEnds checks that a run that is canceled or times out during a judgment evaluates no further assertions, and that its
// transcript is kept.
func TestEvaluationEnds(t *testing.T) {
	t.Parallel()
	for name, tt := range map[string]struct {
		runTime, cancelAfter time.Duration
		verdict              engine.Verdict
		end                  assert.EndReason
	}{
		"time":    {time.Minute, time.Hour, engine.Error, assert.EndRunTimeout},
		"cancel":  {time.Hour, time.Minute, engine.Cancelled, assert.EndByAgent},
		"in time": {time.Hour, time.Hour, engine.Passed, assert.EndByAgent},
	} {
		synctest.Test(t, func(t *testing.T) {
			ctx, cancel := context.WithTimeout(t.Context(), tt.cancelAfter)
			defer cancel()
			m := model(2)
			answers := m.Answers
			m.Answers = func(ctx context.Context, q llm.Question) (string, error) {
				time.Sleep(2 * time.Minute) // blocks even after ctx is done
				return answers(ctx, q)
			}
			optional := judged("judged", "x")
			optional.Required = false
			sc := played(optional, judged("second", "y"), assert.Assertion{
				ID: "last", Type: assert.RegexMatch, Config: json.RawMessage(`{"pattern":"Caller"}`), Required: true, Weight: 1,
			})
			sc.Assertions[1].Required = false
			e := newEngine(t, engine.Config{Runner: agent{}, Model: m, Judge: newJudge, RunTime: tt.runTime, Parallel: 1})
			o, err := e.Run(ctx, engine.Case{Run: "r", Scenario: sc})
			if err != nil || o.Verdict != tt.verdict || o.Evidence.End != tt.end || (o.Error != "") != (tt.verdict == engine.Error) {
				t.Errorf("%s: %s %s %q, error %v", name, o.Verdict, o.Evidence.End, o.Error, err)
			}
			if len(o.Evidence.Turns) != 3 || (len(o.Results) > 0) != (tt.verdict == engine.Passed) {
				t.Errorf("%s: %d turns, %d results", name, len(o.Evidence.Turns), len(o.Results))
			}
		})
	}
}
