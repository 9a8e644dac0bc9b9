package agenttest_test

import (
	"context"
	"encoding/json"
	"errors"
	"reflect"
	"slices"
	"testing"
	"testing/synctest"
	"time"

	"github.com/callwright/callwright"
	"github.com/callwright/callwright/agents/llm"
	"github.com/callwright/callwright/agenttest"
	"github.com/callwright/callwright/agenttest/assert"
	"github.com/callwright/callwright/agenttest/engine"
	"github.com/callwright/callwright/agenttest/group"
	"github.com/callwright/callwright/agenttest/run"
)

// expects returns an assertion that requires a word in the conversation.
func expects(word string) callwright.Optional[[]assert.Assertion] {
	return callwright.Given([]assert.Assertion{{
		Type: assert.StringCheck, Config: json.RawMessage(`{"value":"` + word + `"}`), Required: true, Weight: 1,
	}})
}

// TestRescore checks scores by the stored assertions and by other ones, and that runs and scenario remain unchanged.
func TestRescore(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		l := newLab(t)
		l.run(l.Service)
		sc := l.scenario(failing)
		var before []run.Run
		for range 3 {
			before = append(before, l.start(sc, run.Request{}))
		}
		settled()
		for i, r := range before {
			before[i] = l.get(r.ID)
		}
		for name, c := range map[string]struct {
			assertions callwright.Optional[[]assert.Assertion]
			want       agenttest.RescoreTotals
		}{
			"its own":        {callwright.Optional[[]assert.Assertion]{}, agenttest.RescoreTotals{Runs: 3, Failed: 3}},
			"what it says":   {expects("Goodbye"), agenttest.RescoreTotals{Runs: 3, Passed: 3, Changed: 3}},
			"something else": {expects("refund"), agenttest.RescoreTotals{Runs: 3, Failed: 3}},
			"none":           {callwright.Given([]assert.Assertion{}), agenttest.RescoreTotals{Runs: 3, Passed: 3, Changed: 3}},
			"a judge's": {callwright.Given([]assert.Assertion{{
				Type: assert.LLMJudge, Config: json.RawMessage(`{"prompt":"Is it kind?"}`), Required: true, Weight: 1,
			}}), agenttest.RescoreTotals{Runs: 3, Incomplete: 3}},
		} {
			got, err := l.Rescore(t.Context(), org, sc.ID, agenttest.RescoreRequest{Assertions: c.assertions})
			if err != nil || got.Totals != c.want || !got.Page.Next.IsZero() {
				t.Errorf("%s: got %+v, %v", name, got, err)
			}
		}
		for _, r := range before {
			if after := l.get(r.ID); !reflect.DeepEqual(after, r) {
				t.Errorf("the run has become %+v", after)
			}
		}
		if after, err := l.Service.Scenario(t.Context(), org, sc.ID); err != nil || !reflect.DeepEqual(after, sc) {
			t.Errorf("the scenario has become %+v, %v", after, err)
		}
	})
}

// TestRescoreWhatNoAssertionDecides checks that a run that was canceled while it waited, and a run whose agent failed, keep their state.
func TestRescoreWhatNoAssertionDecides(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		l := newLab(t)
		sc := l.scenario()
		b, _, err := l.StartBatch(t.Context(), org, group.BatchRequest{Scenarios: []string{sc.ID}})
		if err != nil {
			t.Fatal(err)
		}
		if err := l.CancelBatch(t.Context(), org, b.ID); err != nil {
			t.Fatal(err)
		}
		l.agent.Answer = func(context.Context, int, engine.CallerTurn) (engine.AgentTurn, error) {
			return engine.AgentTurn{}, &llm.Failure{Class: llm.ClassPermanent, Message: "no"}
		}
		l.run(l.Service)
		l.start(sc, run.Request{})
		settled()
		got, err := l.Rescore(t.Context(), org, sc.ID, agenttest.RescoreRequest{Assertions: expects("refund")})
		if err != nil || got.Totals != (agenttest.RescoreTotals{Runs: 2, Error: 1, Cancelled: 1}) {
			t.Errorf("got %+v, %v", got, err)
		}
		for _, r := range got.Page.Items {
			if len(r.Results) > 0 || r.Score != nil {
				t.Errorf("got %+v", r)
			}
		}
	})
}

func TestRescoreOfWhatIsWrong(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		l := newLab(t)
		sc := l.scenario()
		if _, err := l.Rescore(t.Context(), "another", sc.ID, agenttest.RescoreRequest{}); !errors.Is(err, callwright.ErrNotFound) {
			t.Errorf("another organization's scenario: %v", err)
		}
		wrong := callwright.Given([]assert.Assertion{{Type: assert.RegexMatch, Config: json.RawMessage(`{"pattern":"("}`), Weight: 1}})
		_, err := l.Rescore(t.Context(), org, sc.ID, agenttest.RescoreRequest{Assertions: wrong})
		if list, ok := errors.AsType[callwright.FieldErrors](err); !ok || list[0].Field != "assertions[0].config.pattern" {
			t.Errorf("a wrong assertion: %v", err)
		}
	})
}

// tardy is a store whose reads of single runs take a configurable time.
type tardy struct {
	agenttest.Store

	takes *time.Duration
}

func (s tardy) Run(ctx context.Context, org callwright.OrgID, id string) (run.Run, error) {
	time.Sleep(*s.takes)
	return s.Store.Run(ctx, org, id)
}

// TestRescoreEndsInTime checks that the time limit of a page also stops the scoring of the current run, and that the next page begins with
// that run. If it is the first run, Rescore fails.
func TestRescoreEndsInTime(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		l := newLab(t)
		takes := time.Duration(0)
		l.cfg.Store = tardy{l.cfg.Store, &takes}
		l.Service = l.another()
		l.run(l.Service)
		sc := l.scenario()
		for range 3 {
			l.start(sc, run.Request{})
			settled()
		}
		takes = 6 * time.Second // the read of the second run exceeds the time limit
		var seen []string
		request := agenttest.RescoreRequest{}
		for range 3 {
			got, err := l.Rescore(t.Context(), org, sc.ID, request)
			if err != nil || got.Totals != (agenttest.RescoreTotals{Runs: 1, Passed: 1}) {
				t.Fatalf("got %+v, %v", got, err)
			}
			seen = append(seen, got.Page.Items[0].Run.ID)
			request.After = got.Page.Next
		}
		if slices.Sort(seen); len(slices.Compact(seen)) != 3 || !request.After.IsZero() {
			t.Errorf("saw the runs %v, then %v", seen, request.After)
		}
		takes = 11 * time.Second
		if got, err := l.Rescore(t.Context(), org, sc.ID, agenttest.RescoreRequest{}); !errors.Is(err, callwright.ErrUnavailable) {
			t.Errorf("got %+v, %v", got, err)
		}
		ctx, cancel := context.WithTimeout(t.Context(), time.Second)
		defer cancel()
		if got, err := l.Rescore(ctx, org, sc.ID, agenttest.RescoreRequest{}); !errors.Is(err, context.DeadlineExceeded) {
			t.Errorf("of a request that has ended: %+v, %v", got, err)
		}
	})
}
