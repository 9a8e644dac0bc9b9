package agents_test

import (
	"context"
	"encoding/json"
	"errors"
	"reflect"
	"testing"
	"time"

	"github.com/callwright/callwright"
	"github.com/callwright/callwright/agents"
	"github.com/callwright/callwright/agents/dialogue"
	"github.com/callwright/callwright/agents/pathway"
	"github.com/callwright/callwright/agents/persona"
)

// frontDesk is the version in production of the persona desk.
var frontDesk = persona.Version{
	Persona: "desk", Number: 3, Orchestration: "Book.", Personality: "You are calm.",
	Conditions: []persona.Condition{{Pathway: "p1", When: "the caller is ill"}}, KnowledgeBases: []string{"kb"},
	Call: persona.CallConfig{
		Voice: "slt", Record: true, Language: "de", MaxDuration: 5 * time.Minute, WaitForGreeting: true, Background: "cafe",
		Interruption: new(350 * time.Millisecond), Interruptibility: new(3), LeastWait: 400 * time.Millisecond, LongestWait: 2 * time.Second, Idle: &dialogue.Idle{Prompt: "Hello?"},
		VoiceSettings: `{"speed":0.9}`, Pronunciation: []agents.Pronunciation{{Word: "Nguyen", Spoken: "win"}},
		Machines: agents.Machines{Voicemail: agents.MachineHangup},
	},
	Tools: []json.RawMessage{json.RawMessage(`{"name":"book","url":"https://example.com/"}`)},
}

// onePersona contains the persona desk, and a persona without a version in production. Both belong to the organization "a".
type onePersona struct{}

func (onePersona) Load(_ context.Context, org callwright.OrgID, id string) (persona.Persona, persona.Version, error) {
	switch {
	case org == "a" && id == "desk":
		return persona.Persona{ID: id, Org: org}, frontDesk, nil
	case org == "a" && id == "new":
		return persona.Persona{}, persona.Version{}, callwright.InField("persona_id", callwright.Errorf(callwright.CodeInvalidState, "no version is in production"))
	default:
		return persona.Persona{}, persona.Version{}, callwright.InField("persona_id", callwright.NotFound("persona"))
	}
}

func (onePersona) Hold(_ context.Context, _ callwright.OrgID, id string) error {
	if id != "desk" && id != "new" {
		return callwright.NotFound("persona")
	}
	return nil
}

func withPersonas(c *agents.Config) { c.Personas = onePersona{} }

// byDesk returns the agent of a call whose settings all come from the persona "desk".
func byDesk() agents.Agent {
	return agents.Agent{
		PersonaID: "desk", PersonaVersion: 3, Task: "Book.", Persona: "You are calm.", Voice: "slt", Record: true, Language: "de",
		MaxDuration: 5 * time.Minute, WaitForGreeting: true, Tools: frontDesk.Tools, Conditions: frontDesk.Conditions,
		KnowledgeBases: frontDesk.KnowledgeBases, Background: "cafe", Interruption: new(350 * time.Millisecond), Interruptibility: new(3),
		LeastWait: 400 * time.Millisecond, LongestWait: 2 * time.Second, Idle: &dialogue.Idle{Prompt: "Hello?"},
		VoiceSettings: `{"speed":0.9}`, Pronunciation: []agents.Pronunciation{{Word: "Nguyen", Spoken: "win"}},
		Machines: agents.Machines{Voicemail: agents.MachineHangup},
	}
}

func TestCallingByPersona(t *testing.T) {
	t.Parallel()
	s := newService(t, withPersonas)
	desk := callwright.Given("desk")
	web := create(t, s, agents.Agent{Task: "Help.", Voice: "rms", MaxDuration: time.Hour}).ID
	for name, test := range map[string]struct {
		choice agents.Choice
		change func(a *agents.Agent) // difference from an agent with only the persona's settings
	}{
		"alone":            {agents.Choice{Agent: agents.Agent{PersonaID: "desk"}}, nil},
		"as an override":   {agents.Choice{Overrides: agents.Patch{PersonaID: desk}}, nil},
		"of a web agent":   {agents.Choice{ID: web, Overrides: agents.Patch{PersonaID: desk}}, func(a *agents.Agent) { a.Voice, a.MaxDuration = "rms", time.Hour }},
		"with own manners": {agents.Choice{Agent: agents.Agent{PersonaID: "desk", Persona: "You are Ada."}}, func(a *agents.Agent) { a.Persona = "You are Ada." }},
		"with its own level": {agents.Choice{Overrides: agents.Patch{PersonaID: desk, Interruptibility: callwright.Given(0)}}, func(a *agents.Agent) {
			a.Interruption, a.Interruptibility = nil, new(0)
		}},
		"with its own threshold": {agents.Choice{Agent: agents.Agent{PersonaID: "desk", Interruption: new(time.Second)}}, func(a *agents.Agent) {
			a.Interruption, a.Interruptibility = new(time.Second), nil
		}},
		"with settings of the call": {
			agents.Choice{Overrides: agents.Patch{
				PersonaID: desk, Record: callwright.Given(false), WaitForGreeting: callwright.Given(false), Voice: callwright.Given("rms"),
				Tools: callwright.Cleared[[]json.RawMessage](), MaxDuration: callwright.Given(agents.DefaultMaxDuration),
				VoiceSettings: callwright.Given(`{"pitch":1.1}`), Machines: callwright.Given(agents.Machines{IVR: agents.MachineHangup}),
				Pronunciation: callwright.Cleared[[]agents.Pronunciation](),
			}},
			func(a *agents.Agent) {
				a.VoiceSettings, a.Pronunciation, a.Machines = `{"pitch":1.1}`, nil, agents.Machines{IVR: agents.MachineHangup}
				a.Record, a.WaitForGreeting, a.Voice, a.Tools, a.MaxDuration = false, false, "rms", nil, agents.DefaultMaxDuration
			},
		},
	} {
		want := byDesk()
		if test.change != nil {
			test.change(&want)
		}
		got, err := s.Calling(t.Context(), "a", test.choice)
		if got.Sources = nil; err != nil || !reflect.DeepEqual(got, want) { // TestSources checks the sources
			t.Errorf("%s: got  %+v, %v\nwant %+v", name, got, err, want)
		}
	}
	got, err := s.Calling(t.Context(), "a", agents.Choice{Overrides: agents.Patch{Task: callwright.Given("Ask.")}})
	if err != nil || got.PersonaVersion != 0 {
		t.Errorf("an agent without a persona is %+v, %v", got, err)
	}
}

func TestCallingByPersonaRefuses(t *testing.T) {
	t.Parallel()
	s := newService(t, withPersonas)
	for name, test := range map[string]struct {
		agent agents.Agent
		patch agents.Patch
		org   callwright.OrgID
		code  callwright.Code
		field string
	}{
		"an absent one":             {agents.Agent{PersonaID: "nobody"}, agents.Patch{}, "a", callwright.CodeNotFound, "persona_id"},
		"another's":                 {agents.Agent{PersonaID: "desk"}, agents.Patch{}, "b", callwright.CodeNotFound, "persona_id"},
		"one without a version":     {agents.Agent{PersonaID: "new"}, agents.Patch{}, "a", callwright.CodeInvalidState, "persona_id"},
		"beside a task":             {agents.Agent{PersonaID: "desk", Task: "Ask."}, agents.Patch{}, "a", callwright.CodeBadRequest, "persona_id"},
		"beside a pathway":          {agents.Agent{PersonaID: "desk", Pathway: agents.PathwayRef{ID: "p1"}}, agents.Patch{}, "a", callwright.CodeBadRequest, "persona_id"},
		"beside a task, overridden": {agents.Agent{}, agents.Patch{PersonaID: callwright.Given("desk"), Task: callwright.Given("Ask.")}, "a", callwright.CodeBadRequest, "persona_id"},
		"with a version of none": {
			agents.Agent{}, agents.Patch{PersonaID: callwright.Given("desk"), PathwayVersion: callwright.Given(pathway.Selector{Number: 1})},
			"a", callwright.CodeBadRequest, "pathway_version",
		},
	} {
		_, err := s.Calling(t.Context(), test.org, agents.Choice{Agent: test.agent, Overrides: test.patch})
		if e, ok := errors.AsType[*callwright.Error](err); !ok || e.Code != test.code || e.Field != test.field {
			t.Errorf("%s: %v", name, err)
		}
	}
	s = newService(t)
	if _, err := s.Calling(t.Context(), "a", agents.Choice{Agent: agents.Agent{PersonaID: "desk"}}); callwright.CodeOf(err) != callwright.CodeUnavailable {
		t.Errorf("without personas: %v", err)
	}
}

// TestAnsweringByPersona checks that setting a number's persona replaces its task and pathway, and that setting a task or a pathway later,
// or clearing the persona, removes the persona.
func TestAnsweringByPersona(t *testing.T) {
	t.Parallel()
	s := registered(t, withPersonas)
	update(t, s, agents.Patch{Task: callwright.Given("Sell."), Voice: callwright.Given("rms")})
	a, report := update(t, s, agents.Patch{PersonaID: callwright.Given("desk"), Pathway: callwright.Cleared[string]()})
	if err, told := report[agents.SettingPersonaID]; !told || err != nil || report[agents.SettingPathway] != nil || a.PersonaID != "desk" || a.Task != "" || a.PersonaVersion != 0 {
		t.Fatalf("the agent is %+v, the report %v", a, report)
	}
	want := byDesk()
	want.Voice = "rms"
	got, err := s.Answering(t.Context(), "a", number)
	if got.Sources = nil; err != nil || !reflect.DeepEqual(got, want) {
		t.Errorf("got  %+v, %v\nwant %+v", got, err, want)
	}
	for name, p := range map[string]agents.Patch{
		"a task": {Task: callwright.Given("Sell.")}, "a pathway": {Pathway: callwright.Given("p1")}, "nothing": {PersonaID: callwright.Cleared[string]()},
	} {
		update(t, s, agents.Patch{PersonaID: callwright.Given("desk")})
		a, report := update(t, s, p)
		got, err := s.Answering(t.Context(), "a", number)
		if name == "nothing" && isUnanswered(err) {
			err = nil
		}
		if a.PersonaID != "" || len(report) != 1 || err != nil || got.PersonaVersion != 0 {
			t.Errorf("after %s: %+v, %v, %v", name, a, report, err)
		}
	}
}

func TestUpdateInboundRefusesPersonas(t *testing.T) {
	t.Parallel()
	for name, test := range map[string]struct {
		patch agents.Patch
		made  []agents.Setting
	}{
		"absent":         {agents.Patch{PersonaID: callwright.Given("nobody")}, nil},
		"without any":    {agents.Patch{PersonaID: callwright.Given("new")}, nil},
		"with a task":    {agents.Patch{PersonaID: callwright.Given("desk"), Task: callwright.Given("Sell.")}, []agents.Setting{agents.SettingTask}},
		"with a pathway": {agents.Patch{PersonaID: callwright.Given("desk"), Pathway: callwright.Given("p1")}, []agents.Setting{agents.SettingPathway}},
	} {
		s := registered(t, withPersonas)
		a, report := update(t, s, test.patch)
		if report[agents.SettingPersonaID] == nil || a.PersonaID != "" {
			t.Errorf("%s: %+v, %v", name, a, report)
		}
		for _, made := range test.made {
			if err, told := report[made]; !told || err != nil {
				t.Errorf("%s: %s: %v", name, made, err)
			}
		}
	}
}

// TestPersonaThatIsGone checks that Answering returns the number's agent together with the error, because the record of the call needs it.
func TestPersonaThatIsGone(t *testing.T) {
	t.Parallel()
	there := true
	s := registered(t, func(c *agents.Config) { c.Personas = leaving{there: &there} })
	update(t, s, agents.Patch{PersonaID: callwright.Given("desk"), Webhook: callwright.Given("https://example.com/")})
	there = false
	a, err := s.Answering(t.Context(), "a", number)
	if !errors.Is(err, callwright.ErrNotFound) || a.PersonaID != "desk" || a.Webhook == "" || a.Task != "" {
		t.Errorf("got %+v, %v", a, err)
	}
}

// leaving is a Personas like onePersona, but its Load finds no persona while *there is false.
type leaving struct {
	onePersona

	there *bool
}

func (l leaving) Load(ctx context.Context, org callwright.OrgID, id string) (persona.Persona, persona.Version, error) {
	if !*l.there {
		id = ""
	}
	return onePersona{}.Load(ctx, org, id)
}
