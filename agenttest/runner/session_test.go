package runner_test

import (
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/callwright/callwright"
	"github.com/callwright/callwright/agents/agentstest"
	"github.com/callwright/callwright/agents/pathway/graph"
	"github.com/callwright/callwright/agenttest/agenttesttest"
	"github.com/callwright/callwright/agenttest/engine"
	"github.com/callwright/callwright/agenttest/runner"
)

// shop is version 1 of the conformance suite's pathway.
var shop = agenttesttest.Version{Org: "a", Pathway: "p", Number: 1, Document: agenttesttest.Shop()}

// start starts a session at a node of version 1 of the pathway "p".
func start(tb testing.TB, r *runner.Runner, node string) engine.Session {
	tb.Helper()
	s, err := r.Start(tb.Context(), engine.SessionSpec{
		Org: "a", Pathway: "p", Version: 1, StartNode: node, Model: agenttesttest.Literal(), Variables: map[string]any{"name": "Ada"},
	})
	if err != nil {
		tb.Fatal(err)
	}
	return s
}

// say executes a turn in which the caller says text.
func say(tb testing.TB, s engine.Session, text string) engine.AgentTurn {
	tb.Helper()
	turn, err := s.Reply(tb.Context(), engine.CallerTurn{Text: text})
	if err != nil {
		tb.Fatal(err)
	}
	return turn
}

// document returns a version with these nodes and edges. A node is given by id as "type|data", and an unconditional edge as "from to".
func document(tb testing.TB, nodes map[string]string, edges ...string) agenttesttest.Version {
	tb.Helper()
	v := agenttesttest.Version{Org: "a", Pathway: "p", Number: 1}
	for id, text := range nodes {
		kind, data, _ := strings.Cut(text, "|")
		v.Document.Nodes = append(v.Document.Nodes, json.RawMessage(fmt.Sprintf(`{"id": %q, "type": %q, "data": %s}`, id, kind, data)))
	}
	for _, e := range edges {
		from, to, _ := strings.Cut(e, " ")
		v.Document.Edges = append(v.Document.Edges,
			json.RawMessage(fmt.Sprintf(`{"id": %q, "source": %q, "target": %q, "data": {"alwaysPick": true}}`, e, from, to)))
	}
	return v
}

func TestNew(t *testing.T) {
	t.Parallel()
	if _, err := runner.New(runner.Config{}); err == nil || !strings.Contains(err.Error(), "Versions") {
		t.Errorf("without versions the error is %v", err)
	}
}

func TestStartRefuses(t *testing.T) {
	t.Parallel()
	r := newRunner(t, shop)
	model := agenttesttest.Literal()
	for name, test := range map[string]struct {
		spec  engine.SessionSpec
		field string
	}{
		"a persona":      {engine.SessionSpec{Org: "a", Persona: "p", Version: 1, Model: model}, "persona_id"},
		"nothing at all": {engine.SessionSpec{Org: "a", Version: 1, Model: model}, "pathway_id"},
	} {
		_, err := r.Start(t.Context(), test.spec)
		if e, ok := errors.AsType[*callwright.Error](err); !ok || e.Code != callwright.CodeBadRequest || e.Field != test.field {
			t.Errorf("%s: error %v", name, err)
		}
	}
	always, err := runner.New(runner.Config{Versions: one{}})
	if err != nil {
		t.Fatal(err)
	}
	if _, err := always.Start(t.Context(), engine.SessionSpec{Org: "a", Pathway: "p", Model: model}); callwright.CodeOf(err) != callwright.CodeNotFound {
		t.Errorf("a draft: error %v", err)
	}
	if _, err := r.Start(t.Context(), engine.SessionSpec{Org: "a", Pathway: "p", Version: 1}); err == nil {
		t.Error("it starts without a model")
	}
}

// TestPresses checks that digits are noted at the node that sends them, and that a node without digits is noted as an error.
func TestPresses(t *testing.T) {
	t.Parallel()
	const press = string(graph.NodePress)
	s := start(t, newRunner(t, document(t, map[string]string{
		"a": press + `|{"isStart": true, "digits": "1", "showDigits": true}`, "b": press + `|{"digits": "{{nothing}}"}`,
		"c": press + `|{"digits": "23"}`, "d": string(graph.NodeDefault) + `|{"text": "Done."}`,
	}, "a b", "b c", "c d")), "")
	turn := say(t, s, "")
	var got []string
	for _, n := range turn.Notes {
		if n.Kind == "action" || n.Kind == "error" {
			got = append(got, n.Node+" "+n.Text)
		}
	}
	if want := []string{"b the digits to press must have only 0-9, A-D, *, # and w, and must not be empty", "d no value for nothing", "a presses 1", "c presses ••"}; !slices.Equal(got, want) {
		t.Errorf("the notes are %q, want %q", got, want)
	}
	if turn.Text != "Done." || turn.Node != "d" {
		t.Errorf("the turn is %+v", turn)
	}
}

// TestKnowledge checks that a session searches the runner's knowledge bases.
func TestKnowledge(t *testing.T) {
	t.Parallel()
	shelf := &agentstest.Knowledge{}
	shelf.Add("a", "base", "We open at eight.")
	v := document(t, map[string]string{"a": string(graph.NodeKnowledge) + `|{"isStart": true, "kbTool": "base"}`})
	r, err := runner.New(runner.Config{Versions: agenttesttest.Versions{v}, Knowledge: shelf})
	if err != nil {
		t.Fatal(err)
	}
	model := agenttesttest.Literal()
	s, err := r.Start(t.Context(), engine.SessionSpec{Org: "a", Pathway: "p", Version: 1, Model: model})
	if err != nil {
		t.Fatal(err)
	}
	say(t, s, "")
	say(t, s, "When do you open?")
	requests := model.Requests()
	if got := requests[len(requests)-1].Knowledge; !slices.Equal(got, []string{"We open at eight."}) {
		t.Errorf("the model gets %q", got)
	}
}

// TestManyWebhooks checks that a session continues without recording requests beyond MaxWebhooks, and reports that in a note.
func TestManyWebhooks(t *testing.T) {
	t.Parallel()
	s := start(t, newRunner(t, shop), "talk")
	say(t, s, "")
	total := 0
	for i := range 70 {
		turn := say(t, s, "look:1+2+3+4+5+6+7+8")
		total += len(turn.Webhooks)
		cut := slices.ContainsFunc(turn.Notes, func(n engine.Note) bool { return n.Kind == "error" && strings.Contains(n.Text, "500") })
		if cut != (8*(i+1) > runner.MaxWebhooks) {
			t.Errorf("after turn %d the notes are %+v", i, turn.Notes)
		}
	}
	if total != runner.MaxWebhooks {
		t.Errorf("it has recorded %d requests", total)
	}
}

func TestCloseBefore(t *testing.T) {
	t.Parallel()
	s := start(t, newRunner(t, shop), "")
	if err := errors.Join(s.Close(), s.Close()); err != nil {
		t.Error(err)
	}
}
