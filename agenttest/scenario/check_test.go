package scenario_test

import (
	"encoding/json"
	"errors"
	"fmt"
	"math"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/callwright/callwright"
	"github.com/callwright/callwright/agents/llm"
	"github.com/callwright/callwright/agenttest/assert"
	"github.com/callwright/callwright/agenttest/scenario"
)

// ids returns a function that returns the ids a1, a2, and so on.
func ids() func() string {
	n := 0
	return func() string { n++; return fmt.Sprint("a", n) }
}

// order returns a valid scenario.
func order() scenario.Scenario {
	return scenario.Scenario{
		Pathway: "p1", Name: "Orders a pizza", CallerPrompt: "You want a pizza.", Kind: scenario.Agent, Category: scenario.HappyPath, MaxTurns: 5,
		Assertions: []assert.Assertion{{
			ID: "a1", Type: assert.NodeReached, Config: json.RawMessage(`{"node_id":"paid"}`), Required: true, Weight: 1,
		}},
	}
}

func TestCheck(t *testing.T) {
	t.Parallel()
	caller := func(text string) []scenario.Message { return []scenario.Message{{Role: llm.RoleCaller, Text: text}} }
	half, much := 0.5, 1.5
	none := math.NaN()
	regex := assert.Assertion{ID: "a2", Type: assert.RegexMatch, Config: json.RawMessage(`{"pattern":"(","pattern2":1}`), Weight: -1}
	tests := map[string]struct {
		change func(*scenario.Scenario)
		want   string // fields of the errors
	}{
		"as it is":              {func(*scenario.Scenario) {}, ""},
		"a persona":             {func(s *scenario.Scenario) { s.Pathway, s.Persona = "", "x" }, ""},
		"nothing to test":       {func(s *scenario.Scenario) { s.Pathway = "" }, "pathway_id"},
		"two things to test":    {func(s *scenario.Scenario) { s.Persona = "x" }, "persona_id"},
		"no name":               {func(s *scenario.Scenario) { s.Name = " " }, "name"},
		"a name that just fits": {func(s *scenario.Scenario) { s.Name = strings.Repeat("é", scenario.MaxName) }, ""},
		"a long name":           {func(s *scenario.Scenario) { s.Name = strings.Repeat("é", scenario.MaxName+1) }, "name"},
		"long texts": {func(s *scenario.Scenario) {
			s.Description, s.CallerPrompt = strings.Repeat("x", scenario.MaxDescription+1), strings.Repeat("x", scenario.MaxPrompt+1)
			s.CallerName, s.Instructions = strings.Repeat("x", scenario.MaxCallerName+1), strings.Repeat("x", scenario.MaxInstructions+1)
			s.StartNode = strings.Repeat("x", scenario.MaxID+1)
		}, "description tester_persona_prompt tester_persona_name advanced_instructions start_node_id"},
		"another category":      {func(s *scenario.Scenario) { s.Category = "happy_path" }, "category"},
		"another kind":          {func(s *scenario.Scenario) { s.Kind = "agent" }, "scenario_type"},
		"no turns":              {func(s *scenario.Scenario) { s.MaxTurns = -1 }, "max_turns"},
		"too many turns":        {func(s *scenario.Scenario) { s.MaxTurns = scenario.MaxTurns + 1 }, "max_turns"},
		"a least score":         {func(s *scenario.Scenario) { s.MinScore = &half }, ""},
		"a least score above 1": {func(s *scenario.Scenario) { s.MinScore = &much }, "min_score"},
		"no least score":        {func(s *scenario.Scenario) { s.MinScore = &none }, "min_score"},
		"a caller without words": {
			func(s *scenario.Scenario) { s.CallerPrompt = "" }, "tester_persona_prompt",
		},
		"a scripted caller":         {func(s *scenario.Scenario) { s.CallerPrompt, s.Messages = "", caller("A pizza.") }, ""},
		"a replay":                  {func(s *scenario.Scenario) { s.Kind, s.Messages = scenario.Replay, caller("A pizza.") }, ""},
		"a replay without a caller": {func(s *scenario.Scenario) { s.Kind = scenario.Historical }, "input_messages"},
		"messages that are none": {func(s *scenario.Scenario) {
			s.Messages = []scenario.Message{{Role: "system", Text: "x"}, {Role: llm.RoleAgent}, {Role: llm.RoleCaller, Text: strings.Repeat("x", scenario.MaxMessage+1)}}
		}, "input_messages[0].role input_messages[1].content input_messages[2].content"},
		"too many messages": {func(s *scenario.Scenario) { s.Messages = slices.Repeat(caller("x"), scenario.MaxMessages+1) }, "input_messages"},
		"large data": {func(s *scenario.Scenario) {
			s.RequestData = map[string]any{"x": strings.Repeat("x", scenario.MaxRequestData)}
			s.Metadata = json.RawMessage(`{"x":"` + strings.Repeat("x", scenario.MaxMetadata) + `"}`)
		}, "request_data metadata"},
		"data that is not JSON": {func(s *scenario.Scenario) { s.RequestData = map[string]any{"x": math.Inf(1)} }, "request_data"},
		"mocks that are none": {func(s *scenario.Scenario) {
			s.Webhooks = []scenario.WebhookMock{
				{Status: 99}, {Delay: scenario.MaxMockDelay + 1}, {Fault: "earthquake"}, {Body: json.RawMessage(`{`)}, {Delay: -time.Second},
				{Body: json.RawMessage(`"` + strings.Repeat("x", scenario.MaxMockBody) + `"`)}, {URL: strings.Repeat("x", scenario.MaxURL+1)},
			}
		}, "webhook_mocks[0].status webhook_mocks[1].delay_ms webhook_mocks[2].fault webhook_mocks[3].body webhook_mocks[4].delay_ms " +
			"webhook_mocks[5].body webhook_mocks[6].url"},
		"too many mocks": {func(s *scenario.Scenario) { s.Webhooks = make([]scenario.WebhookMock, scenario.MaxMocks+1) }, "webhook_mocks"},
		"a wrong assertion": {
			func(s *scenario.Scenario) { s.Assertions = append(s.Assertions, regex) },
			"assertions[1].weight assertions[1].config.pattern assertions[1].config.pattern2",
		},
		"an id twice": {func(s *scenario.Scenario) { s.Assertions = append(s.Assertions, s.Assertions[0]) }, "assertions[1].id"},
		"a tone that is not scored": {func(s *scenario.Scenario) {
			s.Assertions = append(s.Assertions, assert.Assertion{ID: "a2", Type: assert.ServiceTone, Config: json.RawMessage(`{}`)})
		}, "assertions[1].type"},
		"too many assertions": {func(s *scenario.Scenario) {
			for i := range assert.MaxAssertions {
				a := s.Assertions[0]
				a.ID = fmt.Sprint("b", i)
				s.Assertions = append(s.Assertions, a)
			}
		}, "assertions"},
		"much in all, mostly in mocks": {func(s *scenario.Scenario) {
			s.CallerPrompt = strings.Repeat("x", scenario.MaxPrompt)
			for range 9 {
				s.Webhooks = append(s.Webhooks, scenario.WebhookMock{Body: json.RawMessage(`"` + strings.Repeat("x", scenario.MaxMockBody-2) + `"`)})
			}
		}, "webhook_mocks"},
		"much in all, as JSON": {func(s *scenario.Scenario) {
			for range 10 {
				s.Messages = append(s.Messages, scenario.Message{Role: llm.RoleCaller, Text: strings.Repeat("<", scenario.MaxMessage)})
			}
		}, "input_messages"},
		"much, but not too much": {func(s *scenario.Scenario) {
			for range 7 {
				s.Webhooks = append(s.Webhooks, scenario.WebhookMock{Body: json.RawMessage(`"` + strings.Repeat("x", scenario.MaxMockBody-2) + `"`)})
			}
		}, ""},
		"required, and cannot fail": {func(s *scenario.Scenario) { s.Required, s.Assertions[0].Required = true, false }, "assertions"},
		"required":                  {func(s *scenario.Scenario) { s.Required = true }, ""},
	}
	for name, tt := range tests {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			s := order()
			tt.change(&s)
			err := s.Check()
			var fields []string
			if list, ok := errors.AsType[callwright.FieldErrors](err); ok {
				for _, e := range list {
					fields = append(fields, e.Field)
				}
			} else if err != nil {
				t.Fatal(err)
			}
			slices.Sort(fields)
			want := strings.Fields(tt.want)
			slices.Sort(want)
			if !slices.Equal(fields, want) {
				t.Errorf("the faults are %v:\n%v", fields, err)
			}
		})
	}
}

func TestDefaults(t *testing.T) {
	t.Parallel()
	s := order()
	s.Category, s.Kind, s.MaxTurns = "", "", 0
	s.Assertions = []assert.Assertion{{Name: "second", Order: 2}, {Name: "first", ID: "mine", Order: 1}, {Name: "third", Order: 2}}
	s.SetDefaults(ids())
	if s.Category != scenario.Custom || s.Kind != scenario.Agent || s.MaxTurns != scenario.DefaultMaxTurns {
		t.Errorf("got %+v", s)
	}
	for i, want := range []string{"mine first", "a1 second", "a2 third"} {
		if got := s.Assertions[i].ID + " " + s.Assertions[i].Name; got != want {
			t.Errorf("assertion %d is %q, want %q", i, got, want)
		}
	}
}

func TestNodes(t *testing.T) {
	t.Parallel()
	s := order()
	s.StartNode = "start"
	s.Assertions = append(s.Assertions, assert.Assertion{
		ID: "a2", Type: assert.NodesVisited, Config: json.RawMessage(`{"node_ids":["start","menu"]}`), Weight: 1,
	})
	if got := s.Nodes(); !slices.Equal(got, []string{"menu", "paid", "start"}) {
		t.Errorf("the nodes are %v", got)
	}
}

func TestPatch(t *testing.T) {
	t.Parallel()
	before := order()
	half := 0.5
	before.MinScore, before.StartNode, before.Description = &half, "start", "about"
	after := scenario.Patch{
		Name: callwright.Given("Another"), StartNode: callwright.Cleared[string](), MinScore: callwright.Cleared[float64](),
		Assertions: callwright.Given([]assert.Assertion{}),
	}.Apply(before)
	if after.Name != "Another" || after.StartNode != "" || after.MinScore != nil || len(after.Assertions) != 0 {
		t.Errorf("got %+v", after)
	}
	if after.Description != "about" || after.CallerPrompt != before.CallerPrompt || len(before.Assertions) != 1 || before.Name == after.Name {
		t.Errorf("a change has changed more: %+v", after)
	}
	if same := (scenario.Patch{MinScore: callwright.Given(0.25)}).Apply(before); *same.MinScore != 0.25 || *before.MinScore != 0.5 {
		t.Errorf("got %v", *same.MinScore)
	}
}
