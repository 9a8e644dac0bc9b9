package agentsapi

import (
	"cmp"
	"context"
	"encoding/json"
	"time"

	"github.com/callwright/callwright"
	"github.com/callwright/callwright/agents"
	"github.com/callwright/callwright/agents/persona"
	"github.com/callwright/callwright/transport/httpapi"
	"github.com/callwright/callwright/transport/httpapi/internal/agentwire"
	"github.com/callwright/callwright/transport/httpapi/internal/wire"
	oas "github.com/callwright/callwright/transport/oas/agentsoas"
)

// ListPersonas serves GET /v1/personas. It returns a page of personas without their drafts.
func (a *api) ListPersonas(ctx context.Context, params oas.ListPersonasParams) (*oas.PersonaListReply, error) {
	list, err := a.cfg.Personas.List(ctx, httpapi.Org(ctx), params.Page.Or(1), params.Limit.Or(0))
	if err != nil {
		return nil, err
	}
	answer := &oas.PersonaListReply{Data: make([]oas.Persona, len(list))}
	for i, r := range list {
		answer.Data[i] = personaRecord(r)
	}
	return answer, nil
}

// CreatePersona serves POST /v1/personas. It creates a persona with its first version.
func (a *api) CreatePersona(ctx context.Context, req *oas.PersonaCreate) (*oas.PersonaReply, error) {
	change, err := callChange(&req.CallConfig.Value)
	if err != nil {
		return nil, err
	}
	var settings persona.CallConfig
	change.Apply(&settings)
	r, err := a.cfg.Personas.Create(ctx, httpapi.Org(ctx), persona.Persona{
		Name: req.Name, Role: req.Role.Or(""), Description: req.Description.Or(""), Tags: req.Tags.Value, ImageURL: req.ImageURL.Or(""),
	}, persona.Version{
		Orchestration: req.OrchestrationPrompt.Or(""), Personality: req.PersonalityPrompt.Or(""),
		Conditions: conditionsOf(req.PathwayConditions.Value), KnowledgeBases: wire.IDs(req.KBIds.Value),
		Call:  settings,
		Tools: wire.Items[json.RawMessage](req.DefaultTools.Value),
	})
	httpapi.LogID(ctx, "persona_id", r.Persona.ID)
	return a.changedPersona(ctx, r, err, &req.CallConfig.Value)
}

// changedPersona returns the answer to a change of a persona, with the ignored members of its body, which contains the given settings.
func (a *api) changedPersona(ctx context.Context, r persona.Record, err error, given *oas.PersonaCallSettings) (*oas.PersonaReply, error) {
	answer, err := a.personaReply(ctx, r, err)
	if err != nil {
		return nil, err
	}
	if latest := cmp.Or(r.Draft, r.Production); given.VoiceSettings.Set && a.cfg.Agents != nil && latest != nil {
		for _, ignored := range a.cfg.Agents.IgnoredVoiceSettings(agents.Agent{VoiceSettings: latest.Call.VoiceSettings}) {
			ignored.Field = "call_config." + ignored.Field
			httpapi.IgnoreAll(ctx, callwright.FieldErrors{ignored})
		}
	}
	answer.Ignored, err = a.ignored(ctx, "call_config.voice", given.Voice.Value, agents.LanguageTag(given.Language.Value))
	return answer, err
}

// callChange translates the settings of a persona's calls.
func callChange(s *oas.PersonaCallSettings) (persona.CallChange, error) {
	idle, err := agentwire.Idle(&s.Idle, s.Idle.Set)
	if err != nil {
		return persona.CallChange{}, err
	}
	machines, err := agentwire.Machines(&s.Machines.Value)
	if err != nil {
		return persona.CallChange{}, err
	}
	guide, err := agentwire.Pronunciations(s.PronunciationGuide)
	if err != nil {
		return persona.CallChange{}, err
	}
	voice, err := agentwire.VoiceSettings(s.VoiceSettings.Value)
	return persona.CallChange{
		Voice: wire.Change(s.Voice.Value, s.Voice.Set), Record: wire.Change(s.Record.Value, s.Record.Set),
		Language:         wire.Change(agents.LanguageTag(s.Language.Value), s.Language.Set),
		Background:       wire.Change(s.Background.Value, s.Background.Set),
		MaxDuration:      wire.Change(wire.Minutes(s.MaxDuration.Value), s.MaxDuration.Set),
		WaitForGreeting:  wire.Change(s.WaitForGreeting.Value, s.WaitForGreeting.Set),
		Interruption:     wire.PtrChange(wire.FromMillis(s.InterruptionThreshold.Get()), s.InterruptionThreshold.Set),
		Interruptibility: wire.PtrChange(wire.Ptr(s.Interruptibility.Get()), s.Interruptibility.Set),
		LeastWait:        wire.PtrChange(wire.FromMillis(s.MinEndpointingDelay.Get()), s.MinEndpointingDelay.Set),
		LongestWait:      wire.PtrChange(wire.FromMillis(s.MaxEndpointingDelay.Get()), s.MaxEndpointingDelay.Set),
		Idle:             idle, Machines: wire.Change(machines, s.Machines.Set),
		VoiceSettings: wire.Change(voice, s.VoiceSettings.Set), Pronunciation: wire.Change(guide, s.PronunciationGuide.Set),
	}, err
}

// GetPersona serves GET /v1/personas/{id}. It returns a persona with its version in production and its draft.
func (a *api) GetPersona(ctx context.Context, params oas.GetPersonaParams) (*oas.PersonaReply, error) {
	r, err := a.cfg.Personas.Get(ctx, httpapi.Org(ctx), params.ID)
	return a.personaReply(ctx, r, err)
}

// UpdatePersona serves PATCH /v1/personas/{id}. It changes a persona and its draft.
func (a *api) UpdatePersona(
	ctx context.Context, req *oas.PersonaUpdate, params oas.UpdatePersonaParams,
) (*oas.PersonaReply, error) {
	settings, err := callChange(&req.CallConfig.Value)
	if err != nil {
		return nil, err
	}
	r, err := a.cfg.Personas.Update(ctx, httpapi.Org(ctx), params.ID, persona.Change{
		Name: wire.Change(req.Name.Value, req.Name.Set), Role: wire.Change(req.Role.Value, req.Role.Set),
		Description: wire.Change(req.Description.Value, req.Description.Set), Tags: wire.Change(req.Tags.Value, req.Tags.Set),
		ImageURL:       wire.Change(req.ImageURL.Value, req.ImageURL.Set),
		Orchestration:  wire.Change(req.OrchestrationPrompt.Value, req.OrchestrationPrompt.Set),
		Personality:    wire.Change(req.PersonalityPrompt.Value, req.PersonalityPrompt.Set),
		Conditions:     wire.Change(conditionsOf(req.PathwayConditions.Value), req.PathwayConditions.Set),
		KnowledgeBases: wire.Change(wire.IDs(req.KBIds.Value), req.KBIds.Set),
		Call:           settings,
		Tools:          wire.Change(wire.Items[json.RawMessage](req.DefaultTools.Value), req.DefaultTools.Set),
	})
	return a.changedPersona(ctx, r, err, &req.CallConfig.Value)
}

// DeletePersona serves DELETE /v1/personas/{id}. It deletes a persona.
func (a *api) DeletePersona(ctx context.Context, params oas.DeletePersonaParams) (*oas.PersonaDeletedReply, error) {
	if err := a.cfg.Personas.Delete(ctx, httpapi.Org(ctx), params.ID); err != nil {
		return nil, err
	}
	return &oas.PersonaDeletedReply{Data: oas.PersonaDeleted{Deleted: true}}, nil
}

// PromotePersona serves POST /v1/personas/{id}/promote. It makes the draft the version in production.
func (a *api) PromotePersona(ctx context.Context, params oas.PromotePersonaParams) (*oas.PersonaReply, error) {
	r, err := a.cfg.Personas.Promote(ctx, httpapi.Org(ctx), params.ID)
	return a.personaReply(ctx, r, err)
}

// DiscardPersonaDraft serves DELETE /v1/personas/{id}/draft. It deletes the draft.
func (a *api) DiscardPersonaDraft(ctx context.Context, params oas.DiscardPersonaDraftParams) (*oas.PersonaReply, error) {
	r, err := a.cfg.Personas.Discard(ctx, httpapi.Org(ctx), params.ID)
	return a.personaReply(ctx, r, err)
}

// ListPersonaVersions serves GET /v1/personas/{id}/versions. It returns a page of a persona's versions.
func (a *api) ListPersonaVersions(
	ctx context.Context, params oas.ListPersonaVersionsParams,
) (*oas.PersonaVersionListReply, error) {
	after, err := callwright.ParseCursor(params.Cursor.Or(""))
	if err != nil {
		return nil, err
	}
	page, err := a.cfg.Personas.Versions(ctx, httpapi.Org(ctx), params.ID, after, params.Limit.Or(0))
	if err != nil {
		return nil, err
	}
	answer := &oas.PersonaVersionListReply{
		Data: make([]oas.PersonaVersion, len(page.Items)), NextCursor: wire.NilText(page.Next.Cursor()),
	}
	for i, v := range page.Items {
		answer.Data[i] = personaVersionRecord(v)
	}
	return answer, nil
}

func conditionsOf(conditions []oas.PersonaCondition) []persona.Condition {
	out := make([]persona.Condition, len(conditions))
	for i, c := range conditions {
		out[i] = persona.Condition{Pathway: wire.ID(c.PathwayID), When: c.Condition}
	}
	return out
}

// personaReply returns the answer with a persona and its draft, or err. The answer contains warnings about the draft or, without a draft,
// about the version in production.
func (a *api) personaReply(ctx context.Context, r persona.Record, err error) (*oas.PersonaReply, error) {
	if err != nil {
		return nil, err
	}
	record := personaRecord(r)
	record.CurrentDraftVersion.SetToNull()
	if r.Draft != nil {
		record.CurrentDraftVersion.SetTo(personaVersionRecord(*r.Draft))
	}
	answer := &oas.PersonaReply{Data: record}
	if latest := cmp.Or(r.Draft, r.Production); a.cfg.Agents != nil && latest != nil {
		answer.Warnings = a.cfg.Agents.Warnings(ctx, httpapi.Org(ctx), agents.Agent{Task: latest.Orchestration})
	}
	return answer, nil
}

// personaRecord translates a persona without its draft.
func personaRecord(r persona.Record) oas.Persona {
	p := r.Persona
	record := oas.Persona{
		ID: p.ID, Name: p.Name, Role: wire.NilText(p.Role), Description: wire.NilText(p.Description), Tags: wire.Texts[string](p.Tags),
		ImageURL: wire.NilText(p.ImageURL), CreatedAt: p.CreatedAt, UpdatedAt: p.UpdatedAt, DeletedAt: oas.NilDateTime{Null: true},
		UserID: wire.NilText(p.CreatedBy), CurrentProductionVersionID: wire.NilText(p.Production),
		CurrentDraftVersionID: wire.NilText(p.Draft), InboundNumbers: wire.Texts[string](r.Numbers),
		CurrentProductionVersion: oas.NilPersonaVersion{Null: true},
	}
	if r.Production != nil {
		record.CurrentProductionVersion = oas.NewNilPersonaVersion(personaVersionRecord(*r.Production))
	}
	return record
}

func personaVersionRecord(v persona.Version) oas.PersonaVersion {
	record := oas.PersonaVersion{
		ID: v.ID, PersonaID: v.Persona, VersionType: string(v.Type), VersionNumber: v.Number,
		OrchestrationPrompt: wire.NilText(v.Orchestration), PersonalityPrompt: wire.NilText(v.Personality),
		PathwayConditions: make([]oas.PersonaCondition, len(v.Conditions)), KBIds: wire.Texts[string](v.KnowledgeBases),
		CallConfig: oas.PersonaCallConfig{
			Voice: wire.NilText(v.Call.Voice), Record: v.Call.Record, Language: wire.NilText(v.Call.Language),
			Background: wire.NilText(v.Call.Background), MaxDuration: nilMinutes(v.Call.MaxDuration), WaitForGreeting: v.Call.WaitForGreeting,
			Interruptibility:    wire.OptPtr(v.Call.Interruptibility),
			MinEndpointingDelay: wire.OptMillis(v.Call.LeastWait), MaxEndpointingDelay: wire.OptMillis(v.Call.LongestWait),
		},
		DefaultTools: append([]oas.AgentTool{}, wire.Items[oas.AgentTool](v.Tools)...),
		CreatedAt:    v.CreatedAt, UpdatedAt: v.UpdatedAt,
	}
	// The following settings were checked, so that they always have a JSON.
	idle, given, _ := agentwire.IdleOptions[oas.IdleOptions](v.Call.Idle)
	record.CallConfig.Idle = oas.OptNilIdleOptions{Value: idle, Set: given}
	machines, given, _ := agentwire.MachineOptions[oas.MachineOptions](v.Call.Machines)
	record.CallConfig.Machines = oas.OptMachineOptions{Value: machines, Set: given}
	guide, _ := agentwire.PronunciationGuide[oas.PronunciationGuide](v.Call.Pronunciation)
	record.CallConfig.PronunciationGuide = oas.OptNilPronunciationGuide{Value: guide, Set: guide != nil}
	if v.Call.VoiceSettings != "" {
		settings, _ := voiceSettings(agents.Agent{VoiceSettings: v.Call.VoiceSettings})
		record.CallConfig.VoiceSettings = oas.OptNilVoiceSettings{Value: settings.Value, Set: true}
	}
	if v.Call.Interruption != nil {
		record.CallConfig.InterruptionThreshold = oas.NewOptFloat64(nilMillis(v.Call.Interruption).Value)
	}
	for i, c := range v.Conditions {
		record.PathwayConditions[i] = oas.PersonaCondition{PathwayID: c.Pathway, Condition: c.When}
	}
	return record
}

// nilMinutes returns a duration in minutes, or null for 0.
func nilMinutes(d time.Duration) wire.Nil[float64] {
	return wire.Nil[float64]{Value: d.Minutes(), Null: d == 0}
}
