package runner_test

import (
	"context"
	"strings"
	"testing"

	"github.com/callwright/callwright/agents/agentstest"
	"github.com/callwright/callwright/agents/llm"
	"github.com/callwright/callwright/agents/pathway/graph"
	"github.com/callwright/callwright/agenttest/agenttesttest"
	"github.com/callwright/callwright/agenttest/engine"
	"github.com/callwright/callwright/agenttest/runner"
)

// instant is a model that answers with the least possible cost.
type instant struct{ agentstest.Model }

// Answer returns the choice of the first edge.
func (*instant) Answer(context.Context, llm.Question) (llm.Answer, error) {
	return llm.Answer{JSON: []byte(`{"reason": "so", "option": "way 1"}`)}, nil
}

// benchmark measures turns at two nodes. Each session has ten turns, so that every tenth turn includes the start of a session.
func benchmark(b *testing.B, always string) {
	b.Helper()
	v := document(b, map[string]string{
		"a": string(graph.NodeDefault) + `|{"isStart": true, "text": "Thank you, {{name}}. What else can I do for you?"}`,
		"b": string(graph.NodeDefault) + `|{"text": "Very well, {{name}}. And what else?"}`,
	}, "a b", "b a")
	for i, e := range v.Document.Edges {
		v.Document.Edges[i] = []byte(strings.Replace(string(e), `{"alwaysPick": true}`, always, 1))
	}
	g, err := graph.Compile(v.Document)
	if err != nil {
		b.Fatal(err)
	}
	r, err := runner.New(runner.Config{Versions: one{g}})
	if err != nil {
		b.Fatal(err)
	}
	spec := engine.SessionSpec{Org: "a", Pathway: "p", Version: 1, Model: &instant{}, Variables: map[string]any{"name": "Ada"}}
	var s engine.Session
	b.ReportAllocs()
	for i := 0; b.Loop(); i++ {
		in := engine.CallerTurn{Text: "Nothing for now, thank you."}
		if i%10 == 0 {
			if s, err = r.Start(b.Context(), spec); err != nil {
				b.Fatal(err)
			}
			in.Text = ""
		}
		if _, err := s.Reply(b.Context(), in); err != nil {
			b.Fatal(err)
		}
	}
}

// BenchmarkTurn measures a turn that needs no model.
func BenchmarkTurn(b *testing.B) { benchmark(b, `{"alwaysPick": true}`) }

// BenchmarkTurnWithChoice measures a turn in which the model chooses an edge.
func BenchmarkTurnWithChoice(b *testing.B) { benchmark(b, `{"label": "the caller agrees"}`) }

// BenchmarkTurnWithWebhook measures a turn with a request, which the sink answers.
func BenchmarkTurnWithWebhook(b *testing.B) {
	r := newRunner(b, agenttesttest.Version{Org: "a", Pathway: "p", Number: 1, Document: agenttesttest.Shop()})
	b.ReportAllocs()
	for b.Loop() {
		b.StopTimer()
		s := start(b, r, "slots")
		b.StartTimer()
		say(b, s, "")
	}
}
