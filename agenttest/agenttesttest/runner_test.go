package agenttesttest_test

import (
	"context"
	"errors"
	"testing"

	"github.com/callwright/callwright"
	"github.com/callwright/callwright/agents/pathway/graph"
	"github.com/callwright/callwright/agenttest/agenttesttest"
	"github.com/callwright/callwright/agenttest/assert"
	"github.com/callwright/callwright/agenttest/engine"
)

func TestScriptedRunner(t *testing.T) {
	t.Parallel()
	r := &agenttesttest.Runner{
		Turns: []engine.AgentTurn{{Text: "Hello."}, {Text: "And?"}}, Nodes: assert.Graph{"a": {Name: "A"}},
	}
	s, err := r.Start(t.Context(), engine.SessionSpec{Org: "a", Pathway: "p"})
	if err != nil {
		t.Fatal(err)
	}
	for i, want := range []string{"Hello.", "And?", "And?"} {
		if got, err := s.Reply(t.Context(), engine.CallerTurn{Text: want}); err != nil || got.Text != want {
			t.Errorf("turn %d is %+v, error %v", i, got, err)
		}
	}
	ended, cancel := context.WithCancel(t.Context())
	cancel()
	if _, err := s.Reply(ended, engine.CallerTurn{}); !errors.Is(err, context.Canceled) {
		t.Errorf("with a context that has ended the error is %v", err)
	}
	if len(r.Started()) != 1 || len(r.Heard()) != 3 || r.Open() != 1 || s.Graph()["a"].Name != "A" {
		t.Errorf("it has started %+v and heard %+v, %d are open", r.Started(), r.Heard(), r.Open())
	}
	if err := errors.Join(s.Close(), s.Close()); err != nil || r.Open() != 0 {
		t.Errorf("after the end %d are open, error %v", r.Open(), err)
	}
	if _, err := s.Reply(t.Context(), engine.CallerTurn{}); callwright.CodeOf(err) != callwright.CodeInvalidState {
		t.Errorf("a closed session gives %v", err)
	}
}

func TestScriptedRunnerAnswers(t *testing.T) {
	t.Parallel()
	r := &agenttesttest.Runner{Answer: func(_ context.Context, turn int, in engine.CallerTurn) (engine.AgentTurn, error) {
		return engine.AgentTurn{Text: in.Text, Ended: turn == 1}, nil
	}}
	s, err := r.Start(t.Context(), engine.SessionSpec{})
	if err != nil {
		t.Fatal(err)
	}
	for turn := range 3 {
		got, err := s.Reply(t.Context(), engine.CallerTurn{Text: "Yes."})
		if over := turn == 2; over != (callwright.CodeOf(err) == callwright.CodeInvalidState) || !over && got.Text != "Yes." {
			t.Errorf("turn %d is %+v, error %v", turn, got, err)
		}
	}
}

func TestShop(t *testing.T) {
	t.Parallel()
	if _, err := graph.Check(agenttesttest.Shop()); err != nil {
		t.Error(err)
	}
	versions := agenttesttest.Versions{{Org: "a", Pathway: "p", Number: 1, Document: agenttesttest.Shop()}}
	if _, err := versions.LoadPinned(t.Context(), "b", "p", 1); callwright.CodeOf(err) != callwright.CodeNotFound {
		t.Errorf("another organization's version: %v", err)
	}
}
