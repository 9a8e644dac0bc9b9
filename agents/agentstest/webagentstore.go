package agentstest

import (
	"context"
	"encoding/json"
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
	"github.com/callwright/callwright/speech/ambience"
	"github.com/callwright/callwright/speech/tts"
)

// RunWebAgentStore tests an agents.WebAgents. See RunCallStore for newStore and atRest.
func RunWebAgentStore(t *testing.T, newStore func(t *testing.T) agents.WebAgents, atRest callwrighttest.AtRest[agents.WebAgents]) {
	t.Helper()
	callwrighttest.RunRows(t, callwrighttest.RowsHarness[agents.WebAgents, agents.WebAgent]{
		New: newStore,
		Value: func(_ *testing.T, number int) agents.WebAgent {
			a := fullWebAgent()
			a.ID, a.CreatedAt = fmt.Sprint("w", number), at.Add(time.Duration(number)*time.Second)
			return a
		},
		Partial: true,
		Equal:   func(t *testing.T, got, want agents.WebAgent) bool { t.Helper(); return sameJSON(t, got, want) },
		Org:     func(a *agents.WebAgent) *callwright.OrgID { return &a.Org },
		Version: func(a *agents.WebAgent) *int64 { return &a.Version },
		Insert:  agents.WebAgents.InsertAgent,
		Find: func(s agents.WebAgents, ctx context.Context, a agents.WebAgent) (agents.WebAgent, error) {
			return s.Agent(ctx, a.Org, a.ID)
		},
		Change: func(a *agents.WebAgent, writer int) {
			a.Agent, a.Metadata = agents.Agent{Task: fmt.Sprint("task of ", writer)}, nil
		},
		Replace: agents.WebAgents.UpdateAgent,
		Delete: func(s agents.WebAgents, ctx context.Context, a agents.WebAgent) error {
			return s.DeleteAgent(ctx, a.Org, a.ID)
		},
		Absent: callwright.ErrNotFound,
		Page:   agents.WebAgents.Agents, Ascending: true,
		Place: func(a agents.WebAgent) callwright.Keyset { return callwright.Keyset{At: a.CreatedAt, ID: a.ID} },
		Secret: func(*testing.T) agents.WebAgent {
			a := aWebAgent(callwrighttest.VisibleID, "a")
			a.Agent = secretAgent()
			return a
		},
		Secrets: agentSecrets,
		AtRest:  atRest,
	})
	tests := map[string]func(*testing.T, agents.WebAgents){
		"tells nothing from an empty list": keepsEmptyLists,
		"lists and counts":                 listsWebAgents,
		"bounds the bytes of a list":       boundsWebAgents,
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
		Model: "base", Fallback: "strict", Temperature: &warmth, FirstSentence: "Hello!", WaitForGreeting: true, Record: true,
		MaxDuration: 7 * time.Minute, TransferTo: "+15550000009", Webhook: "https://example.com/hook",
		Interruption: &threshold, Interruptibility: new(3), LeastWait: 450 * time.Millisecond, LongestWait: 4 * time.Second,
		Machines: agents.Machines{
			Voicemail: agents.MachineMessage, VoicemailMessage: "Call {{number}}.", IVR: agents.MachineHangup, Screening: agents.MachineIntroduce,
			ScreeningMessage: "This is \u2603.", Announcement: agents.MachineIgnore, Fax: agents.MachineHangup,
		},
		Keywords: []string{"Callwright"}, Idle: idleSettings(),
		VoiceSettings: `{"speed":1.5,"deep":{"b":[null],"a":""}}`, Background: ambience.Cafe,
		Pronunciation: []tts.Pronunciation{{Word: "API", Spoken: "A P I"}, {Word: "\u00c9va", Spoken: "ava", CaseSensitive: true, Inside: true}},
		Tools:         raws(`{"url":"https://x.example/","name":"look_up","timeout":1e1}`, `"TL-1"`),
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
		Sources:   map[agents.Setting]agents.Source{agents.SettingIdle: agents.SourceCall, agents.SettingVoice: agents.SourcePersona},
		PersonaID: "desk", PersonaVersion: 3, Conditions: []persona.Condition{{Pathway: "p2", When: "the caller is ill"}},
		KnowledgeBases: []string{"kb1", "kb2"}, Brain: "https://brain.example/turns?key=1",
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
	full.Agent.Keywords = []string{"caf\u00e9", ""}
	full.Metadata = map[string]any{"team": "North", "list": []any{"x", 1.5, nil, true}, "deep": map[string]any{"k": "v"}}
	full.UpdatedAt = at.Add(time.Second)
	return full
}

func keepsEmptyLists(t *testing.T, s agents.WebAgents) {
	none, empty := aWebAgent("none", "a"), aWebAgent("empty", "a")
	empty.Agent.Tools, empty.Agent.DynamicData, empty.Agent.Pronunciation = []json.RawMessage{}, []agents.DynamicData{}, []tts.Pronunciation{}
	empty.Agent.Keywords, empty.Metadata, empty.Agent.VoiceSettings = []string{}, map[string]any{}, `{}`
	insertWebAgents(t, s, none, empty)
	wantWebAgent(t, s, none)
	wantWebAgent(t, s, empty)
}

// boundsWebAgents checks that Agents returns fewer agents than requested, but at least one, when large agents exceed agents.MaxRead.
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

// listsWebAgents checks that the pages of Agents together contain each agent of the organization once and in order, although up to ten
// agents share a creation time. It also checks CountAgents.
func listsWebAgents(t *testing.T, s agents.WebAgents) {
	const count = 25
	for i := count - 1; i >= 0; i-- {
		a := aWebAgent(fmt.Sprintf("w%02d", i), "a")
		a.CreatedAt = at.Add(time.Duration(i/10) * time.Second)
		insertWebAgents(t, s, a)
	}
	insertWebAgents(t, s, aWebAgent("other", "b"))
	if n, err := s.CountAgents(t.Context(), "b"); err != nil || n != 1 {
		t.Errorf("of another organization counted %d, %v", n, err)
	}
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
