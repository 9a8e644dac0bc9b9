package agents_test

import (
	"cmp"
	"encoding/json"
	"errors"
	"fmt"
	"strings"
	"sync"
	"testing"

	"github.com/callwright/callwright"
	"github.com/callwright/callwright/adapters/memstore"
	"github.com/callwright/callwright/adapters/memstore/agentstore"
	"github.com/callwright/callwright/agents"
	"github.com/callwright/callwright/agents/pathway"
)

func create(t *testing.T, s *agents.Service, a agents.Agent) agents.WebAgent {
	t.Helper()
	made, err := s.CreateAgent(t.Context(), "a", agents.WebAgent{Agent: a})
	if err != nil {
		t.Fatal(err)
	}
	return made
}

func TestCreateAgent(t *testing.T) {
	t.Parallel()
	s := newService(t)
	first := create(t, s, agents.Agent{Task: "Help."})
	second := create(t, s, agents.Agent{Pathway: agents.PathwayRef{ID: "p1"}})
	if first.ID == second.ID || first.Agent.MaxDuration != agents.DefaultMaxDuration || first.CreatedAt.IsZero() {
		t.Errorf("got %+v and %+v", first, second)
	}
	got, err := s.Agent(t.Context(), "a", first.ID)
	if err != nil || got.Agent.Task != "Help." || got.Version != 1 || !got.UpdatedAt.Equal(first.CreatedAt) {
		t.Errorf("got %+v, %v", got, err)
	}
	list, err := s.ListAgents(t.Context(), "a", callwright.Keyset{}, 0)
	if err != nil || len(list.Items) != 2 || list.Items[0].ID != first.ID {
		t.Errorf("got %+v, %v", list, err)
	}
	if list, err := s.ListAgents(t.Context(), "b", callwright.Keyset{}, 0); err != nil || len(list.Items) != 0 {
		t.Errorf("another organization lists %+v, %v", list, err)
	}
}

func TestCreateAgentRefuses(t *testing.T) {
	t.Parallel()
	for name, test := range map[string]struct {
		agent agents.Agent
		field string
	}{
		"nothing to do":        {agents.Agent{Task: " \n"}, "task"},
		"neither":              {agents.Agent{}, "task"},
		"task and pathway":     {agents.Agent{Task: "Help.", Pathway: agents.PathwayRef{ID: "p1"}}, "task"},
		"what no call can do":  {agents.Agent{Task: "Help.", Voice: "robot"}, "voice"},
		"the same of pathways": {agents.Agent{Pathway: agents.PathwayRef{ID: "p1"}, Voice: "robot"}, "voice"},
	} {
		s := newService(t)
		_, err := s.CreateAgent(t.Context(), "a", agents.WebAgent{Agent: test.agent})
		var e *callwright.Error
		if !errors.As(err, &e) || e.Code != callwright.CodeBadRequest || e.Field != test.field {
			t.Errorf("%s: got %v", name, err)
		}
		if list, err := s.ListAgents(t.Context(), "a", callwright.Keyset{}, 0); err != nil || len(list.Items) != 0 {
			t.Errorf("%s: kept %+v, %v", name, list, err)
		}
	}
}

func TestCreateAgentBound(t *testing.T) {
	t.Parallel()
	store := memstore.New()
	web := agentstore.WebAgents{Store: store}
	for i := range agents.MaxAgents {
		if err := web.InsertAgent(t.Context(), agents.WebAgent{ID: fmt.Sprint(i), Org: "a"}); err != nil {
			t.Fatal(err)
		}
	}
	s, err := agents.New(agents.Config{Numbers: agentstore.Numbers{Store: store}, WebAgents: web, Atomic: store})
	if err != nil {
		t.Fatal(err)
	}
	one := agents.WebAgent{Agent: agents.Agent{Task: "Help."}}
	if _, err := s.CreateAgent(t.Context(), "a", one); !errors.Is(err, callwright.ErrInvalidState) {
		t.Errorf("got %v", err)
	}
	if _, err := s.CreateAgent(t.Context(), "b", one); err != nil {
		t.Errorf("another organization got %v", err)
	}
}

func TestSizeOfSettings(t *testing.T) {
	t.Parallel()
	s := newService(t)
	voice := func(size int) json.RawMessage {
		return json.RawMessage(`{"x":"` + strings.Repeat("x", size-len(`{"x":""}`)) + `"}`)
	}
	metadata := func(size int) map[string]any {
		return map[string]any{"x": strings.Repeat("x", size-len(`{"x":""}`))}
	}
	for name, test := range map[string]struct {
		voice    json.RawMessage
		metadata map[string]any
		field    string
	}{
		"a voice that fits":   {voice(agents.MaxSettings), nil, ""},
		"metadata that fit":   {nil, metadata(agents.MaxSettings), ""},
		"both, which fit":     {voice(agents.MaxSettings / 2), metadata(agents.MaxSettings / 2), ""},
		"too much of a voice": {voice(agents.MaxSettings + 1), nil, "voice_settings"},
		"too much metadata":   {nil, metadata(agents.MaxSettings + 1), "metadata"},
		"too much of both":    {voice(agents.MaxSettings / 2), metadata(agents.MaxSettings/2 + 1), "metadata"},
	} {
		made := create(t, s, agents.Agent{Task: "Help."})
		w := agents.WebAgent{Agent: agents.Agent{Task: "Help."}, VoiceSettings: test.voice, Metadata: test.metadata}
		_, createErr := s.CreateAgent(t.Context(), "a", w)
		_, report, err := s.UpdateAgent(t.Context(), "a", made.ID, agents.WebAgentPatch{
			VoiceSettings: callwright.Given(test.voice), Metadata: callwright.Given(test.metadata),
		})
		if err != nil {
			t.Fatal(err)
		}
		for _, err := range []error{createErr, cmp.Or(report[agents.SettingVoiceSettings], report[agents.SettingMetadata])} {
			e, _ := errors.AsType[*callwright.Error](err)
			if (err == nil) != (test.field == "") || e != nil && (e.Field != test.field || e.Code != callwright.CodeBadRequest) {
				t.Errorf("%s gave %v", name, err)
			}
		}
	}
}

func TestUpdateAgent(t *testing.T) {
	t.Parallel()
	s := newService(t)
	made := create(t, s, agents.Agent{Task: "Help.", Voice: "slt", Language: "ENG"})
	updated, report, err := s.UpdateAgent(t.Context(), "a", made.ID, agents.WebAgentPatch{
		Patch: agents.Patch{FirstSentence: callwright.Given("Hello."), Keywords: callwright.Given([]string{})},
	})
	if err != nil || updated.Version != 2 || updated.ID != made.ID {
		t.Fatalf("got %+v, %v", updated, err)
	}
	if len(report) != 2 || report[agents.SettingFirstSentence] != nil || report[agents.SettingKeywords] != nil {
		t.Errorf("the report is %v", report)
	}
	got, err := s.Agent(t.Context(), "a", made.ID)
	if err != nil || got.Agent.FirstSentence != "Hello." || got.Agent.Voice != "slt" || got.Agent.Keywords == nil || got.Version != 2 {
		t.Errorf("got %+v, %v", got, err)
	}
	if got.Agent.Language != "ENG" {
		t.Errorf("the language is kept as %q", got.Agent.Language)
	}
}

func TestUpdateAgentRefuses(t *testing.T) {
	t.Parallel()
	s := newService(t)
	made := create(t, s, agents.Agent{Task: "Help."})
	patch := agents.WebAgentPatch{Patch: agents.Patch{Voice: callwright.Given("robot"), Task: callwright.Cleared[string]()}}
	_, report, err := s.UpdateAgent(t.Context(), "a", made.ID, patch)
	if err != nil || !errors.Is(report[agents.SettingVoice], errVoice) || report[agents.SettingTask] == nil {
		t.Errorf("got %v, %v", report, err)
	}
	if _, _, err := s.UpdateAgent(t.Context(), "b", made.ID, patch); !errors.Is(err, callwright.ErrNotFound) {
		t.Errorf("another organization got %v", err)
	}
	if got, err := s.Agent(t.Context(), "a", made.ID); err != nil || got.Version != 1 {
		t.Errorf("got %+v, %v", got, err)
	}
}

func TestUpdateAgentTogether(t *testing.T) {
	t.Parallel()
	s := newService(t)
	made := create(t, s, agents.Agent{Task: "Help."})
	var editing sync.WaitGroup
	for _, p := range []agents.WebAgentPatch{
		{Patch: agents.Patch{Keywords: callwright.Given([]string{"x"})}}, {Metadata: callwright.Given(map[string]any{"y": 1.0})},
		{Patch: agents.Patch{Persona: callwright.Given("You are kind.")}},
		{Patch: agents.Patch{FirstSentence: callwright.Given("Hello.")}},
	} {
		editing.Go(func() {
			if _, _, err := s.UpdateAgent(t.Context(), "a", made.ID, p); err != nil {
				t.Error(err)
			}
		})
	}
	editing.Wait()
	got, err := s.Agent(t.Context(), "a", made.ID)
	if err != nil || len(got.Agent.Keywords) != 1 || len(got.Metadata) != 1 || got.Agent.Persona == "" || got.Agent.FirstSentence == "" {
		t.Errorf("got %+v, %v; an edit was lost", got, err)
	}
}

func TestDeleteAgent(t *testing.T) {
	t.Parallel()
	s := newService(t)
	made := create(t, s, agents.Agent{Task: "Help."})
	if err := s.DeleteAgent(t.Context(), "b", made.ID); !errors.Is(err, callwright.ErrNotFound) {
		t.Errorf("another organization got %v", err)
	}
	for _, want := range []error{nil, callwright.ErrNotFound} {
		if err := s.DeleteAgent(t.Context(), "a", made.ID); !errors.Is(err, want) {
			t.Errorf("got %v, want %v", err, want)
		}
	}
}

// TestPathwayTakesThePlaceOfATask checks that a new pathway clears the settings that apply only to an agent without a pathway, and keeps
// the others.
func TestPathwayTakesThePlaceOfATask(t *testing.T) {
	t.Parallel()
	s := newService(t)
	warmth := 0.5
	made := create(t, s, agents.Agent{
		Task: "Help.", FirstSentence: "Hi.", Model: "base", Voice: "slt", Temperature: &warmth,
		Tools:       []json.RawMessage{json.RawMessage(`{"name":"a","url":"https://x.example/"}`)},
		DynamicData: []agents.DynamicData{{URL: "https://x.example/"}},
	})
	change := func(p agents.Patch) agents.Agent {
		w, _, err := s.UpdateAgent(t.Context(), "a", made.ID, agents.WebAgentPatch{Patch: p})
		if err != nil {
			t.Fatal(err)
		}
		return w.Agent
	}
	a := change(agents.Patch{Pathway: callwright.Given("p1"), Model: callwright.Given("turbo")})
	want := agents.PathwayRef{ID: "p1", Version: pathway.Selector{Environment: pathway.Production}}
	if a.Task+a.FirstSentence != "" || a.Model != "turbo" || a.Tools != nil || a.DynamicData != nil || a.Pathway != want {
		t.Errorf("left %+v", a)
	}
	if a.Voice != "slt" || a.Temperature == nil || *a.Temperature != warmth {
		t.Errorf("took %+v", a)
	}
	a = change(agents.Patch{Pathway: callwright.Cleared[string](), Task: callwright.Given("Help.")})
	if a.Model != "turbo" || a.Pathway.ID != "" || a.Task != "Help." {
		t.Errorf("without a pathway it is %+v", a)
	}
}

// TestPagesOfAgents checks that every page has at most MaxRead bytes and at most limit agents, and that the pages contain every agent once.
func TestPagesOfAgents(t *testing.T) {
	t.Parallel()
	s := newService(t)
	const count = 30
	for range count {
		create(t, s, agents.Agent{Task: strings.Repeat("é", agents.MaxTask)})
	}
	seen := map[string]bool{}
	pages := 0
	for after := (callwright.Keyset{}); ; pages++ {
		page, err := s.ListAgents(t.Context(), "a", after, 0)
		if err != nil {
			t.Fatal(err)
		}
		size := 0
		for _, w := range page.Items {
			seen[w.ID] = true
			size += w.Size()
		}
		if size > agents.MaxRead || len(page.Items) == 0 {
			t.Errorf("a page has %d agents of %d bytes", len(page.Items), size)
		}
		if after = page.Next; after.IsZero() {
			break
		}
	}
	if len(seen) != count || pages != 2 {
		t.Errorf("%d pages after the first have %d agents", pages, len(seen))
	}
	page, err := s.ListAgents(t.Context(), "a", callwright.Keyset{}, 3)
	if err != nil || len(page.Items) != 3 || page.Next != page.Items[2].Keyset() {
		t.Errorf("3 agents are %d, %v", len(page.Items), err)
	}
	for _, limit := range []int{-1, agents.MaxAgents + 1} {
		if _, err := s.ListAgents(t.Context(), "a", callwright.Keyset{}, limit); !errors.Is(err, callwright.ErrBadRequest) {
			t.Errorf("limit %d gave %v", limit, err)
		}
	}
}
