package agentstest

import (
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/callwright/callwright"
	"github.com/callwright/callwright/agents"
	"github.com/callwright/callwright/agents/pathway"
	"github.com/callwright/callwright/agents/persona"
	"github.com/callwright/callwright/agents/request"
	"github.com/callwright/callwright/callwrighttest"
)

// RunWebAgentStore tests an agents.WebAgents. newStore and atRest are as in RunCallStore.
func RunWebAgentStore(t *testing.T, newStore func(t *testing.T) agents.WebAgents, atRest callwrighttest.AtRest[agents.WebAgents]) {
	t.Helper()
	tests := map[string]func(*testing.T, agents.WebAgents){
		"keeps every field":                 keepsWebAgent,
		"tells nothing from an empty list":  keepsEmptyLists,
		"shares no memory":                  sharesNoWebAgent,
		"hides other organizations' agents": hidesWebAgents,
		"refuses an id twice":               refusesWebAgentTwice,
		"updates by compare-and-set":        updatesWebAgent,
		"lists and counts":                  listsWebAgents,
		"bounds the bytes of a list":        boundsWebAgents,
		"deletes":                           deletesWebAgent,
		"encrypts secrets":                  func(t *testing.T, s agents.WebAgents) { encryptsWebAgent(t, s, atRest) },
	}
	for name, test := range tests {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			test(t, newStore(t))
		})
	}
}

// fullAgent returns an agent with a value in every stored field.
func fullAgent() agents.Agent {
	warmth, threshold := 0.3, 350*time.Millisecond
	return agents.Agent{
		Task: "Take the order.\nBe kind.", Persona: "You are \u00c9va \U0001F600.", Voice: "slt", Language: "en-US",
		Pathway: agents.PathwayRef{
			ID: "p1", Version: pathway.Selector{Environment: pathway.Staging, Number: 4}, StartNode: "greeting",
		},
		Model: "base", Temperature: &warmth, FirstSentence: "Hello!", WaitForGreeting: true, Record: true,
		MaxDuration: 7 * time.Minute, TransferTo: "+15550000009", Webhook: "https://example.com/hook",
		Interruption: &threshold,
		Tools:        raws(`{"url":"https://x.example/","name":"look_up","timeout":1e1}`, `"TL-1"`),
		DynamicData: []agents.DynamicData{
			{URL: "https://x.example/{{id}}"},
			{
				URL: "https://y.example/", Method: "POST", Cache: true,
				Headers:  []request.Pair{{Name: "X-Key", Value: "{{key}}"}, {Name: "X-Key", Value: "2"}},
				Query:    []request.Pair{{Name: "q", Value: "1"}},
				Body:     []request.Pair{{Name: "who", Value: "{{name}}"}},
				Response: []request.Mapping{{Name: "n", Path: "$.a[0]", Context: "It is {{n}}."}},
			},
		},
		PersonaID: "desk", PersonaVersion: 3, Conditions: []persona.Condition{{Pathway: "p2", When: "the caller is ill"}},
		KnowledgeBases: []string{"kb1", "kb2"},
	}
}

func aWebAgent(id string, org callwright.OrgID) agents.WebAgent {
	return agents.WebAgent{
		ID: id, Org: org, Agent: agents.Agent{Task: "Help."}, CreatedAt: at, UpdatedAt: at, Version: 1,
	}
}

func insertWebAgents(t *testing.T, s agents.WebAgents, all ...agents.WebAgent) {
	t.Helper()
	for _, a := range all {
		if err := s.InsertAgent(t.Context(), a); err != nil {
			t.Fatalf("insert %s: %v", a.ID, err)
		}
	}
}

func wantWebAgent(t *testing.T, s agents.WebAgents, want agents.WebAgent) {
	t.Helper()
	got, err := s.Agent(t.Context(), want.Org, want.ID)
	if err != nil || !sameJSON(t, got, want) {
		t.Errorf("got  %+v, %v\nwant %+v", got, err, want)
	}
}

func fullWebAgent() agents.WebAgent {
	full := aWebAgent("w1", "a")
	full.Agent = fullAgent()
	full.VoiceSettings = json.RawMessage(`{"speed":1.5,"deep":{"b":[null],"a":""}}`)
	full.Keywords = []string{"caf\u00e9", ""}
	full.Metadata = map[string]any{"team": "North", "list": []any{"x", 1.5, nil, true}, "deep": map[string]any{"k": "v"}}
	full.UpdatedAt = at.Add(time.Second)
	return full
}

func keepsWebAgent(t *testing.T, s agents.WebAgents) {
	full := fullWebAgent()
	insertWebAgents(t, s, full)
	wantWebAgent(t, s, full)
	bare := aWebAgent("w1", "a")
	bare.Agent = agents.Agent{}
	if err := s.UpdateAgent(t.Context(), bare); err != nil {
		t.Fatal(err)
	}
	bare.Version = 2
	wantWebAgent(t, s, bare)
}

func keepsEmptyLists(t *testing.T, s agents.WebAgents) {
	none, empty := aWebAgent("none", "a"), aWebAgent("empty", "a")
	empty.Agent.Tools, empty.Agent.DynamicData = []json.RawMessage{}, []agents.DynamicData{}
	empty.Keywords, empty.Metadata, empty.VoiceSettings = []string{}, map[string]any{}, json.RawMessage(`{}`)
	insertWebAgents(t, s, none, empty)
	wantWebAgent(t, s, none)
	wantWebAgent(t, s, empty)
}

func sharesNoWebAgent(t *testing.T, s agents.WebAgents) {
	spoil := func(a agents.WebAgent) {
		*a.Agent.Temperature, *a.Agent.Interruption = 9, 9
		copy(a.Agent.Tools[0], "spoilt")
		copy(a.VoiceSettings, "spoilt")
		a.Agent.DynamicData[1].Headers[0].Value, a.Keywords[0], a.Metadata["team"] = "spoilt", "spoilt", "spoilt"
	}
	given := fullWebAgent()
	insertWebAgents(t, s, given)
	spoil(given)
	for range 2 {
		wantWebAgent(t, s, fullWebAgent())
		got, err := s.Agent(t.Context(), "a", "w1")
		if err != nil {
			t.Fatal(err)
		}
		spoil(got)
	}
}

func hidesWebAgents(t *testing.T, s agents.WebAgents) {
	insertWebAgents(t, s, aWebAgent("w1", "a"))
	_, getErr := s.Agent(t.Context(), "b", "w1")
	for name, err := range map[string]error{
		"get": getErr, "update": s.UpdateAgent(t.Context(), aWebAgent("w1", "b")),
		"delete":        s.DeleteAgent(t.Context(), "b", "w1"),
		"update absent": s.UpdateAgent(t.Context(), aWebAgent("w2", "a")),
		"delete absent": s.DeleteAgent(t.Context(), "a", "w2"),
	} {
		if !errors.Is(err, callwright.ErrNotFound) {
			t.Errorf("%s gave %v, want not found", name, err)
		}
	}
	list, listErr := s.Agents(t.Context(), "b", callwright.Keyset{}, 10)
	if n, err := s.CountAgents(t.Context(), "b"); err != nil || listErr != nil || n != 0 || len(list) != 0 {
		t.Errorf("list gave %+v, %v; count %d, %v", list, listErr, n, err)
	}
	wantWebAgent(t, s, aWebAgent("w1", "a"))
}

func refusesWebAgentTwice(t *testing.T, s agents.WebAgents) {
	insertWebAgents(t, s, aWebAgent("w1", "a"))
	for _, org := range []callwright.OrgID{"a", "b"} {
		if err := s.InsertAgent(t.Context(), aWebAgent("w1", org)); !errors.Is(err, callwright.ErrConflict) {
			t.Errorf("got %v, want a conflict", err)
		}
	}
}

func updatesWebAgent(t *testing.T, s agents.WebAgents) {
	insertWebAgents(t, s, aWebAgent("w1", "a"))
	changed := func(writer int) agents.WebAgent {
		a := aWebAgent("w1", "a")
		a.Agent.Task = fmt.Sprint("task of ", writer)
		return a
	}
	winner := callwrighttest.Race(t, func(writer int) error { return s.UpdateAgent(t.Context(), changed(writer)) })
	want := changed(winner)
	want.Version = 2
	wantWebAgent(t, s, want)
}

// boundsWebAgents reads agents with a small limit.
func boundsWebAgents(t *testing.T, s agents.WebAgents) {
	for i := range 8 {
		a := aWebAgent(fmt.Sprintf("w%d", i), "a")
		a.Agent.Task = strings.Repeat("x", agents.MaxRead/4)
		if i > 4 {
			a.Agent.Task = strings.Repeat("x", 2*agents.MaxRead)
		}
		insertWebAgents(t, s, a)
	}
	for after, want := range map[string]int{"": 4, "w3": 2, "w5": 2, "w6": 1} {
		place := callwright.Keyset{At: at, ID: after}
		if after == "" {
			place = callwright.Keyset{}
		}
		if list, err := s.Agents(t.Context(), "a", place, 10); err != nil || len(list) != want {
			t.Errorf("of large agents after %q %d are read, %v; want %d", after, len(list), err, want)
		}
	}
}

// listsWebAgents lists agents, most with equal times.
func listsWebAgents(t *testing.T, s agents.WebAgents) {
	const count = 25
	for i := count - 1; i >= 0; i-- {
		a := aWebAgent(fmt.Sprintf("w%02d", i), "a")
		a.CreatedAt = at.Add(time.Duration(i/10) * time.Second)
		insertWebAgents(t, s, a)
	}
	insertWebAgents(t, s, aWebAgent("other", "b"))
	var seen []string
	for after := (callwright.Keyset{}); ; {
		list, err := s.Agents(t.Context(), "a", after, 4)
		if err != nil || len(list) > 4 {
			t.Fatalf("got %d, %v", len(list), err)
		}
		if len(list) == 0 {
			break
		}
		for _, a := range list {
			seen, after = append(seen, a.ID), callwright.Keyset{At: a.CreatedAt, ID: a.ID}
		}
	}
	if len(seen) != count || !slices.IsSorted(seen) {
		t.Errorf("got %v", seen)
	}
	if n, err := s.CountAgents(t.Context(), "a"); err != nil || n != count {
		t.Errorf("counted %d, %v", n, err)
	}
}

func deletesWebAgent(t *testing.T, s agents.WebAgents) {
	insertWebAgents(t, s, aWebAgent("w1", "a"), aWebAgent("w2", "a"))
	if err := s.DeleteAgent(t.Context(), "a", "w1"); err != nil {
		t.Fatal(err)
	}
	if _, err := s.Agent(t.Context(), "a", "w1"); !errors.Is(err, callwright.ErrNotFound) {
		t.Errorf("got %v, want not found", err)
	}
	wantWebAgent(t, s, aWebAgent("w2", "a"))
}
