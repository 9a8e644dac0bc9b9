package agents

import (
	"cmp"
	"context"
	"errors"
	"reflect"

	"github.com/callwright/callwright"
	"github.com/callwright/callwright/agents/persona"
	"github.com/callwright/callwright/speech/ambience"
)

// Answering returns the agent that answers at a number, with its persona's settings, and defaults for other settings. For a number without a
// task, pathway, persona and brain, which includes an unregistered and a released number, it returns CodeInvalidState with the field
// phone_number, and the configured agent: a number never answers with something that its owner has not set. Answering does not check the agent
// again: a deleted pathway is detected when the telephone call begins. If the persona was deleted or has no version in production,
// Answering returns the configured agent with CodeNotFound or CodeInvalidState, and the field persona_id.
func (s *Service) Answering(
	ctx context.Context, org callwright.OrgID, number callwright.PhoneNumber,
) (Agent, error) {
	n, err := s.Inbound(ctx, org, number)
	if err != nil && !errors.Is(err, callwright.ErrNotFound) {
		return Agent{}, err
	}
	a := n.Agent
	a.noteSources(SourceNumber)
	if err := n.notAnswered(); err != nil {
		a.setDefaults()
		return a, err
	}
	led, err := s.byPersona(ctx, org, a)
	if err != nil {
		return a, err
	}
	led.setDefaults()
	return led, nil
}

// Choice selects a call's agent, either a web agent or the given Agent, and the settings that the call overrides.
type Choice struct {
	ID        string // id of a web agent; empty means Agent
	Agent     Agent  // must be zero if ID is set
	Overrides Patch
}

// Calling returns the agent that makes a call, with its overrides and defaults. It returns an error for an invalid agent, and for an agent
// without a task, pathway, persona or brain. The error's field has the name of the /v1 contract.
//
// The agent receives the task, personality, tools, conditions, knowledge bases and settings of its persona's version in production. The
// agent's own settings, and overrides, take precedence; a MaxDuration of DefaultMaxDuration counts as unset. Later versions do not change
// the call.
func (s *Service) Calling(ctx context.Context, org callwright.OrgID, c Choice) (Agent, error) {
	a := c.Agent
	if a.noteSources(SourceCall); c.ID != "" {
		if !reflect.ValueOf(c.Agent).IsZero() {
			return Agent{}, callwright.Invalid("agent_id", "excludes Choice.Agent: change the settings of the web agent with Choice.Overrides")
		}
		w, err := s.cfg.WebAgents.Agent(ctx, org, c.ID)
		if err != nil {
			return Agent{}, callwright.InField("agent_id", err)
		}
		a = w.Agent
		a.noteSources(SourceAgent)
	}
	a, err := c.Overrides.lead(a)
	if err != nil {
		return Agent{}, err
	}
	var found faultList
	a.checkPurpose(&found, "pathway_id, persona_id and brain_url")
	a.checkLeaders(&found)
	if found.first() != nil {
		return Agent{}, found.first()
	}
	if a, err = s.byPersona(ctx, org, a); err != nil {
		return Agent{}, err
	}
	a = c.Overrides.applied(a)
	a.noteOverrides(c.Overrides)
	a.setDefaults()
	found = s.faults(ctx, org, &a)
	return a, found.first()
}

// byPersona returns the agent with the settings of its persona's version in production. Without a persona, it returns the agent unchanged.
func (s *Service) byPersona(ctx context.Context, org callwright.OrgID, a Agent) (Agent, error) {
	if a.PersonaID == "" {
		return a, nil
	}
	v, err := s.loadPersona(ctx, org, a.PersonaID)
	if err != nil {
		return a, err
	}
	a.Task, a.PersonaVersion, a.Conditions, a.KnowledgeBases = v.Orchestration, v.Number, v.Conditions, v.KnowledgeBases
	a.Persona, a.Voice, a.Language = cmp.Or(a.Persona, v.Personality), cmp.Or(a.Voice, v.Call.Voice), cmp.Or(a.Language, v.Call.Language)
	a.Record, a.WaitForGreeting = a.Record || v.Call.Record, a.WaitForGreeting || v.Call.WaitForGreeting
	if a.Interruption == nil && a.Interruptibility == nil {
		a.Interruption, a.Interruptibility = v.Call.Interruption, v.Call.Interruptibility
	}
	a.Background = cmp.Or(a.Background, ambience.Track(v.Call.Background))
	a.LeastWait, a.LongestWait = cmp.Or(a.LeastWait, v.Call.LeastWait), cmp.Or(a.LongestWait, v.Call.LongestWait)
	a.Idle, a.Machines = cmp.Or(a.Idle, v.Call.Idle), cmp.Or(a.Machines, v.Call.Machines)
	a.VoiceSettings = cmp.Or(a.VoiceSettings, v.Call.VoiceSettings)
	if a.Pronunciation == nil {
		a.Pronunciation = v.Call.Pronunciation
	}
	if a.MaxDuration == DefaultMaxDuration {
		a.MaxDuration = 0
	}
	a.MaxDuration = cmp.Or(a.MaxDuration, v.Call.MaxDuration)
	if len(a.Tools) == 0 {
		a.Tools = v.Tools
	}
	a.noteSources(SourcePersona)
	return a, nil
}

// loadPersona returns the version in production of a persona. It returns CodeUnavailable if the server has no personas.
func (s *Service) loadPersona(ctx context.Context, org callwright.OrgID, id string) (persona.Version, error) {
	if s.cfg.Personas == nil {
		return persona.Version{}, callwright.Errorf(callwright.CodeUnavailable, "this server has no personas")
	}
	_, v, err := s.cfg.Personas.Load(ctx, org, id)
	return v, err
}
