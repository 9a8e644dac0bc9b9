package runner_test

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"reflect"
	"slices"
	"strings"
	"testing"

	"github.com/callwright/callwright"
	"github.com/callwright/callwright/adapters/scripted"
	"github.com/callwright/callwright/agents/pathway"
	"github.com/callwright/callwright/agents/pathway/graph"
	"github.com/callwright/callwright/agents/persona"
	"github.com/callwright/callwright/agenttest/agenttesttest"
	"github.com/callwright/callwright/agenttest/engine"
	"github.com/callwright/callwright/agenttest/runner"
	"github.com/callwright/callwright/agenttest/scenario"
)

// house contains version 2 of the persona "desk" of the organization "a", and the pathway "booking" in production. If broken is set, Load
// returns it.
type house struct{ broken error }

func (h house) LoadPinned(_ context.Context, org callwright.OrgID, id string, number int) (persona.Version, error) {
	if org != "a" || id != "desk" || number != 2 {
		return persona.Version{}, callwright.NotFound("version")
	}
	return persona.Version{
		Number: 2, Personality: "You are {{name}}.", Orchestration: "start: say \"Front desk.\"\nwhen \"bye\": say \"Goodbye.\" and end\notherwise: say \"Pardon?\"",
		Conditions: []persona.Condition{
			{Pathway: "booking", When: `the caller says "appointment"`}, {Pathway: "gone", When: `the caller says "complaint"`},
		},
	}, nil
}

func (h house) Load(_ context.Context, _ callwright.OrgID, id string, sel pathway.Selector) (*graph.Graph, int, error) {
	switch {
	case h.broken != nil:
		return nil, 0, h.broken
	case id != "booking" || sel != pathway.Selector{Environment: pathway.Production}:
		return nil, 0, callwright.InField("pathway_id", callwright.NotFound("pathway"))
	}
	g, err := graph.Compile(graph.Document{
		Nodes: []json.RawMessage{
			json.RawMessage(`{"id":"day","type":"Default","data":{"name":"day","isStart":true,"text":"Which day, {{name}}?"}}`),
			json.RawMessage(`{"id":"keys","type":"Press Button","data":{"name":"keys","text":"One moment.","digits":"1"}}`),
			json.RawMessage(`{"id":"ask","type":"Webhook","data":{"name":"ask","text":"Asking.","url":"https://example.com/","responseData":[{"name":"slot","data":"$.slot"}]}}`),
			json.RawMessage(`{"id":"end","type":"End Call","data":{"name":"end","text":"Come at {{slot}}."}}`),
		},
		Edges: []json.RawMessage{
			json.RawMessage(`{"id":"1","source":"day","target":"keys","data":{"alwaysPick":true}}`),
			json.RawMessage(`{"id":"2","source":"keys","target":"ask","data":{"alwaysPick":true}}`),
			json.RawMessage(`{"id":"3","source":"ask","target":"end","data":{"alwaysPick":true}}`),
		},
	})
	return g, 4, err
}

func newDesk(t *testing.T, h house) *runner.Runner {
	t.Helper()
	r, err := runner.New(runner.Config{Versions: agenttesttest.Versions{}, Personas: h, Production: h})
	if err != nil {
		t.Fatal(err)
	}
	return r
}

func deskSpec() engine.SessionSpec {
	return engine.SessionSpec{
		Org: "a", Persona: "desk", Version: 2, Model: scripted.New(), Variables: map[string]any{"name": "Ada"},
		Webhooks: []scenario.WebhookMock{{Body: json.RawMessage(`{"slot":"nine"}`)}},
	}
}

// TestPersona checks the conversation of a persona that hands over to a pathway, which sends digits and a request.
func TestPersona(t *testing.T) {
	t.Parallel()
	var conversations [2][]engine.AgentTurn
	for i := range conversations {
		s, err := newDesk(t, house{}).Start(t.Context(), deskSpec())
		if err != nil {
			t.Fatal(err)
		}
		for _, text := range []string{"", "a complaint", "an appointment", "monday"} {
			turn := say(t, s, text)
			for j := range turn.Webhooks {
				turn.Webhooks[j].At = turn.Webhooks[j].At.UTC().Truncate(1 << 62) // only the times differ
			}
			conversations[i] = append(conversations[i], turn)
		}
		if _, err := s.Reply(t.Context(), engine.CallerTurn{Text: "hello"}); callwright.CodeOf(err) != callwright.CodeInvalidState {
			t.Errorf("a turn after the end: %v", err)
		}
		if nodes := s.Graph(); len(nodes) != 4 || !slices.Equal(nodes["day"].Next, []string{"keys"}) {
			t.Errorf("the graph is %v", nodes)
		}
		if err := s.Close(); err != nil {
			t.Error(err)
		}
	}
	turns := conversations[0]
	if !reflect.DeepEqual(turns, conversations[1]) {
		t.Errorf("the same conversation went as %+v and as %+v", turns, conversations[1])
	}
	for i, want := range []string{"Front desk.", "Pardon?", "Which day, Ada?", "One moment. Asking. Come at nine."} {
		if turns[i].Text != want || turns[i].Ended != (i == 3) {
			t.Errorf("turn %d is %+v", i, turns[i])
		}
	}
	if n := turns[1].Notes; len(n) != 1 || n[0].Kind != "error" || !strings.Contains(n[0].Text, "gone cannot take over") {
		t.Errorf("the pathway that is gone is noted as %+v", n)
	}
	if n := turns[2].Notes; len(n) == 0 || n[0].Kind != "decision" || !strings.Contains(n[0].Text, "the pathway booking takes over") {
		t.Errorf("the handover is noted as %+v", n)
	}
	last := turns[3]
	if !slices.Equal(turns[2].Visits, []string{"day"}) || !slices.Equal(last.Visits, []string{"keys", "ask", "end"}) || last.Node != "end" ||
		last.Variables["slot"] != "nine" || len(last.Webhooks) != 1 || last.Webhooks[0].Node != "ask" {
		t.Errorf("the last turn is %+v", last)
	}
	pressed := slices.IndexFunc(last.Notes, func(n engine.Note) bool { return n.Kind == "action" && strings.HasPrefix(n.Text, "presses") })
	if pressed < 0 || last.Notes[pressed].Node != "keys" {
		t.Errorf("the notes are %+v", last.Notes)
	}
}

// TestPersonaEnds checks that a persona can end the conversation.
func TestPersonaEnds(t *testing.T) {
	t.Parallel()
	s, err := newDesk(t, house{}).Start(t.Context(), deskSpec())
	if err != nil {
		t.Fatal(err)
	}
	say(t, s, "")
	if turn := say(t, s, "bye"); !turn.Ended || turn.Text != "Goodbye." || turn.Node != "" || len(turn.Visits) > 0 {
		t.Errorf("the turn is %+v", turn)
	}
}

// TestPersonaTurnThatIsCancelled checks that the conversation can continue after a turn whose context is canceled.
func TestPersonaTurnThatIsCancelled(t *testing.T) {
	t.Parallel()
	s, err := newDesk(t, house{}).Start(t.Context(), deskSpec())
	if err != nil {
		t.Fatal(err)
	}
	say(t, s, "")
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if _, err := s.Reply(ctx, engine.CallerTurn{Text: "hm"}); !errors.Is(err, context.Canceled) {
		t.Errorf("the turn ended with %v", err)
	}
	if turn := say(t, s, "bye"); turn.Text != "Goodbye." {
		t.Errorf("the next turn is %+v", turn)
	}
}

func TestStartPersonaRefuses(t *testing.T) {
	t.Parallel()
	for name, test := range map[string]struct {
		change func(*engine.SessionSpec)
		house  house
		code   callwright.Code
		field  string
	}{
		"a start node":             {func(s *engine.SessionSpec) { s.StartNode = "day" }, house{}, callwright.CodeBadRequest, "start_node_id"},
		"another version":          {func(s *engine.SessionSpec) { s.Version = 3 }, house{}, callwright.CodeNotFound, ""},
		"another organization":     {func(s *engine.SessionSpec) { s.Org = "b" }, house{}, callwright.CodeNotFound, ""},
		"no version":               {func(s *engine.SessionSpec) { s.Version = 0 }, house{}, callwright.CodeNotFound, ""},
		"a store that is away":     {func(*engine.SessionSpec) {}, house{broken: callwright.ErrUnavailable}, callwright.CodeUnavailable, ""},
		"neither it nor a pathway": {func(s *engine.SessionSpec) { s.Persona = "" }, house{}, callwright.CodeBadRequest, "pathway_id"},
	} {
		spec := deskSpec()
		test.change(&spec)
		_, err := newDesk(t, test.house).Start(t.Context(), spec)
		e, ok := errors.AsType[*callwright.Error](err)
		if !ok || e.Code != test.code || e.Field != test.field {
			t.Errorf("%s: %v", name, err)
		}
	}
	if _, err := newRunner(t).Start(t.Context(), deskSpec()); fmt.Sprint(err) != "persona_id: must be absent: this runner tests only pathways" {
		t.Errorf("without personas: %v", err)
	}
}
