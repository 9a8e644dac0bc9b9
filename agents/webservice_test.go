package agents_test

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/callwright/callwright"
	"github.com/callwright/callwright/adapters/memstore"
	"github.com/callwright/callwright/adapters/memstore/agentstore"
	"github.com/callwright/callwright/agents"
	"github.com/callwright/callwright/agents/call"
	"github.com/callwright/callwright/agents/pathway"
)

// pickyChecker refuses one voice, as a call.Service refuses what engines don't have.
type pickyChecker struct{}

var errVoice = callwright.Invalid("voice", "is not known")

func (pickyChecker) CheckAgent(_ context.Context, _ callwright.OrgID, a *call.Agent) error {
	if a.Voice == "robot" {
		return errVoice
	}
	if a.MaxDuration == 0 {
		a.MaxDuration = call.DefaultMaxDuration
	}
	return nil
}

func newWebService(t *testing.T) *agents.Service {
	t.Helper()
	s := newService(t)
	s.Checker = pickyChecker{}
	return s
}

func create(t *testing.T, s *agents.Service, a call.Agent) agents.WebAgent {
	t.Helper()
	made, err := s.CreateAgent(t.Context(), "a", agents.WebAgent{Agent: a})
	if err != nil {
		t.Fatal(err)
	}
	return made
}

func TestCreateAgent(t *testing.T) {
	t.Parallel()
	s := newWebService(t)
	first := create(t, s, call.Agent{Task: "Help."})
	second := create(t, s, call.Agent{Pathway: call.PathwayRef{ID: "p1"}})
	if first.ID == second.ID || first.Agent.MaxDuration != call.DefaultMaxDuration || first.CreatedAt.IsZero() {
		t.Errorf("got %+v and %+v", first, second)
	}
	got, err := s.Agent(t.Context(), "a", first.ID)
	if err != nil || got.Agent.Task != "Help." || got.Version != 1 || !got.UpdatedAt.Equal(first.CreatedAt) {
		t.Errorf("got %+v, %v", got, err)
	}
	list, err := s.ListAgents(t.Context(), "a")
	if err != nil || len(list) != 2 || list[0].ID != first.ID {
		t.Errorf("got %+v, %v", list, err)
	}
	if list, err := s.ListAgents(t.Context(), "b"); err != nil || len(list) != 0 {
		t.Errorf("another organization lists %+v, %v", list, err)
	}
}

func TestCreateAgentRefuses(t *testing.T) {
	t.Parallel()
	for name, test := range map[string]struct {
		agent call.Agent
		field string
	}{
		"nothing to do":        {call.Agent{Task: " \n"}, "prompt"},
		"prompt and pathway":   {call.Agent{Task: "Help.", Pathway: call.PathwayRef{ID: "p1"}}, "prompt"},
		"what no call can do":  {call.Agent{Task: "Help.", Voice: "robot"}, "voice"},
		"the same of pathways": {call.Agent{Pathway: call.PathwayRef{ID: "p1"}, Voice: "robot"}, "voice"},
	} {
		s := newWebService(t)
		_, err := s.CreateAgent(t.Context(), "a", agents.WebAgent{Agent: test.agent})
		var e *callwright.Error
		if !errors.As(err, &e) || e.Code != callwright.CodeBadRequest || e.Field != test.field {
			t.Errorf("%s: got %v", name, err)
		}
		if list, err := s.ListAgents(t.Context(), "a"); err != nil || len(list) != 0 {
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
	s, err := agents.New(agents.Config{Store: agentstore.Numbers{Store: store}, WebAgents: web, Atomic: store})
	if err != nil {
		t.Fatal(err)
	}
	one := agents.WebAgent{Agent: call.Agent{Task: "Help."}}
	if _, err := s.CreateAgent(t.Context(), "a", one); !errors.Is(err, callwright.ErrInvalidState) {
		t.Errorf("got %v", err)
	}
	if _, err := s.CreateAgent(t.Context(), "b", one); err != nil {
		t.Errorf("another organization got %v", err)
	}
}

func TestSizeOfSettings(t *testing.T) {
	t.Parallel()
	s := newWebService(t)
	made := create(t, s, call.Agent{Task: "Help."})
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
		w := agents.WebAgent{Agent: call.Agent{Task: "Help."}, VoiceSettings: test.voice, Metadata: test.metadata}
		_, createErr := s.CreateAgent(t.Context(), "a", w)
		_, updateErr := s.UpdateAgent(t.Context(), "a", made.ID, func(a *agents.WebAgent) error {
			a.VoiceSettings, a.Metadata = test.voice, test.metadata
			return nil
		})
		for _, err := range []error{createErr, updateErr} {
			e, _ := errors.AsType[*callwright.Error](err)
			if (err == nil) != (test.field == "") || e != nil && (e.Field != test.field || e.Code != callwright.CodeBadRequest) {
				t.Errorf("%s gave %v", name, err)
			}
		}
	}
}

func TestUpdateAgent(t *testing.T) {
	t.Parallel()
	s := newWebService(t)
	made := create(t, s, call.Agent{Task: "Help.", Voice: "slt"})
	updated, err := s.UpdateAgent(t.Context(), "a", made.ID, func(a *agents.WebAgent) error {
		a.Agent.FirstSentence, a.Keywords = "Hello.", []string{}
		a.ID, a.Org, a.Version = "other", "b", 9 // not settings
		return nil
	})
	if err != nil || updated.Version != 2 || updated.ID != made.ID {
		t.Fatalf("got %+v, %v", updated, err)
	}
	got, err := s.Agent(t.Context(), "a", made.ID)
	if err != nil || got.Agent.FirstSentence != "Hello." || got.Agent.Voice != "slt" || got.Keywords == nil || got.Version != 2 {
		t.Errorf("got %+v, %v", got, err)
	}
}

func TestUpdateAgentRefuses(t *testing.T) {
	t.Parallel()
	s := newWebService(t)
	made := create(t, s, call.Agent{Task: "Help."})
	refusal := errors.New("no")
	for want, change := range map[error]func(*agents.WebAgent) error{
		refusal:  func(*agents.WebAgent) error { return refusal },
		errVoice: func(a *agents.WebAgent) error { a.Agent.Voice = "robot"; return nil },
	} {
		if _, err := s.UpdateAgent(t.Context(), "a", made.ID, change); !errors.Is(err, want) {
			t.Errorf("got %v, want %v", err, want)
		}
	}
	if _, err := s.UpdateAgent(t.Context(), "b", made.ID, func(*agents.WebAgent) error { return nil }); !errors.Is(err, callwright.ErrNotFound) {
		t.Errorf("another organization got %v", err)
	}
	if got, err := s.Agent(t.Context(), "a", made.ID); err != nil || got.Version != 1 {
		t.Errorf("got %+v, %v", got, err)
	}
}

func TestUpdateAgentTogether(t *testing.T) {
	t.Parallel()
	s := newWebService(t)
	made := create(t, s, call.Agent{Task: "Help."})
	const editors = 4
	var editing sync.WaitGroup
	for i := range editors {
		editing.Go(func() {
			_, err := s.UpdateAgent(t.Context(), "a", made.ID, func(a *agents.WebAgent) error {
				a.Keywords = append(a.Keywords, fmt.Sprint(i))
				return nil
			})
			if err != nil {
				t.Error(err)
			}
		})
	}
	editing.Wait()
	got, err := s.Agent(t.Context(), "a", made.ID)
	if slices.Sort(got.Keywords); err != nil || !slices.Equal(got.Keywords, []string{"0", "1", "2", "3"}) {
		t.Errorf("got %+v, %v; an edit was lost", got.Keywords, err)
	}
}

func TestDeleteAgent(t *testing.T) {
	t.Parallel()
	s := newWebService(t)
	made := create(t, s, call.Agent{Task: "Help."})
	if err := s.DeleteAgent(t.Context(), "b", made.ID); !errors.Is(err, callwright.ErrNotFound) {
		t.Errorf("another organization got %v", err)
	}
	for _, want := range []error{nil, callwright.ErrNotFound} {
		if err := s.DeleteAgent(t.Context(), "a", made.ID); !errors.Is(err, want) {
			t.Errorf("got %v, want %v", err, want)
		}
	}
}

func TestSetPathway(t *testing.T) {
	t.Parallel()
	warmth := 0.5
	a := call.Agent{
		Task: "Help.", FirstSentence: "Hi.", Model: "base", Voice: "slt", Temperature: &warmth,
		Tools: []json.RawMessage{json.RawMessage(`{}`)}, DynamicData: []call.DynamicData{{URL: "https://x.example/"}},
	}
	ref := call.PathwayRef{ID: "p1", Version: pathway.Selector{Environment: pathway.Production}}
	agents.SetPathway(&a, ref)
	if a.Task+a.FirstSentence+a.Model != "" || a.Tools != nil || a.DynamicData != nil || a.Pathway != ref {
		t.Errorf("left %+v", a)
	}
	if a.Voice != "slt" || a.Temperature != &warmth {
		t.Errorf("took %+v", a)
	}
	a.Model = "turbo"
	if agents.SetPathway(&a, call.PathwayRef{}); a.Model != "turbo" || a.Pathway.ID != "" {
		t.Errorf("without a pathway it is %+v", a)
	}
}

func TestAnsweringByPathway(t *testing.T) {
	t.Parallel()
	s := newService(t)
	if err := s.RegisterInbound(t.Context(), "a", number); err != nil {
		t.Fatal(err)
	}
	ref := call.PathwayRef{ID: "p1", Version: pathway.Selector{Number: 4}}
	_, err := s.UpdateInbound(t.Context(), "a", number, func(a *call.Agent) error {
		a.Pathway, a.Persona, a.MaxDuration = ref, "You are Ada.", time.Minute
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	got, err := s.Answering(t.Context(), "a", number)
	if err != nil || got.Task != "" || got.Pathway != ref || got.Persona != "You are Ada." {
		t.Errorf("got %+v, %v", got, err)
	}
}
