package runner_test

import (
	"context"
	"reflect"
	"sync/atomic"
	"testing"
	"time"

	"github.com/callwright/callwright/agents/agentstest"
	"github.com/callwright/callwright/agents/llm"
	"github.com/callwright/callwright/agenttest/agenttesttest"
	"github.com/callwright/callwright/agenttest/engine"
	"github.com/callwright/callwright/agenttest/scenario"
)

// untimed returns an outcome without times and durations, which differ between runs.
func untimed(o engine.Outcome) engine.Outcome {
	o.Took = 0
	for i := range o.Turns {
		o.Turns[i].Took, o.Turns[i].CallerTook = 0, 0
	}
	for i := range o.Evidence.Webhooks {
		o.Evidence.Webhooks[i].At = time.Time{}
	}
	return o
}

// TestResume interrupts a run of a pathway with tools at each of its model calls, while the call is in flight. It checks that the resumed
// run has the same outcome and repeats only that call.
func TestResume(t *testing.T) {
	t.Parallel()
	s := scenario.Scenario{Org: "a", Pathway: "shop", Kind: scenario.Replay, RequestData: map[string]any{"name": "Ada"}}
	for _, text := range []string{"day=monday bicycles=2 talk", "look:a+b", "what does it cost", "look:c"} {
		s.Messages = append(s.Messages, scenario.Message{Role: llm.RoleCaller, Text: text})
	}
	r := newRunner(t, agenttesttest.Version{Org: "a", Pathway: "shop", Number: 2, Document: agenttesttest.Shop()})
	// run executes the scenario, and cancels it at the given call; 0 means never. It returns the outcome and the number of calls.
	run := func(journal engine.Journal, at int64) (engine.Outcome, int64) {
		ctx, kill := context.WithCancel(t.Context())
		defer kill()
		var calls atomic.Int64
		literal := agenttesttest.Literal()
		m := &agentstest.Model{Usage: literal.Usage}
		die := func() error {
			if calls.Add(1) != at {
				return nil
			}
			kill()
			return &llm.Failure{Class: llm.ClassTransient, Message: "the process has died", Cause: ctx.Err()}
		}
		m.Says = func(ctx context.Context, r llm.ReplyRequest) ([]llm.ReplyPart, error) {
			if err := die(); err != nil {
				return nil, err
			}
			return literal.Says(ctx, r)
		}
		m.Answers = func(ctx context.Context, q llm.Question) (string, error) {
			if err := die(); err != nil {
				return "", err
			}
			return literal.Answers(ctx, q)
		}
		e, err := engine.New(engine.Config{Runner: r, Model: m})
		if err != nil {
			t.Fatal(err)
		}
		o, err := e.Run(ctx, engine.Case{Run: "r", Scenario: s, Version: 2, Journal: journal})
		if err != nil {
			t.Fatal(err)
		}
		return untimed(o), calls.Load()
	}
	want, all := run(&engine.MemoryJournal{}, 0)
	if want.Verdict != engine.Passed || want.Evidence.End != "caller_ended" || len(want.Evidence.Webhooks) != 3 || all < 8 {
		t.Fatalf("%d calls, the outcome is %+v", all, want)
	}
	for at := int64(1); at <= all; at++ {
		journal := &engine.MemoryJournal{}
		killed, first := run(journal, at)
		got, second := run(journal, 0)
		if killed.Verdict != engine.Cancelled || !reflect.DeepEqual(got, want) {
			t.Errorf("killed at call %d (%s), it comes to\n%+v\nwant\n%+v", at, killed.Verdict, got.Turns, want.Turns)
		}
		if first+second != all+1 {
			t.Errorf("killed at call %d, %d and %d calls are made, want %d in all", at, first, second, all+1)
		}
	}
}
