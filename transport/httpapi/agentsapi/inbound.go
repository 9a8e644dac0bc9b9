package agentsapi

import (
	"context"
	"encoding/json"
	"time"

	"github.com/callwright/callwright"
	"github.com/callwright/callwright/agents"
	"github.com/callwright/callwright/agents/pathway"
	"github.com/callwright/callwright/transport/httpapi"
	"github.com/callwright/callwright/transport/httpapi/internal/agentwire"
	"github.com/callwright/callwright/transport/httpapi/internal/pathwaywire"
	"github.com/callwright/callwright/transport/httpapi/internal/wire"
	oas "github.com/callwright/callwright/transport/oas/agentsoas"
)

// ListInboundNumbers serves GET /v1/inbound. It returns a page of the numbers that an agent answers.
func (a *api) ListInboundNumbers(
	ctx context.Context, params oas.ListInboundNumbersParams,
) (*oas.InboundNumberListReply, error) {
	after, err := callwright.ParseCursor(params.Cursor.Or(""))
	if err != nil {
		return nil, err
	}
	page, err := a.cfg.Agents.ListInbound(ctx, httpapi.Org(ctx), after, params.Limit.Or(0))
	if err != nil {
		return nil, err
	}
	answer := &oas.InboundNumberListReply{
		InboundNumbers: make([]oas.InboundNumber, len(page.Items)), NextCursor: wire.OptText(page.Next.Cursor()),
	}
	for i, n := range page.Items {
		if answer.InboundNumbers[i], err = inboundNumber(n); err != nil {
			return nil, err
		}
	}
	return answer, nil
}

// GetInboundNumber serves GET /v1/inbound/{phone_number}. It returns a number with its agent.
func (a *api) GetInboundNumber(
	ctx context.Context, params oas.GetInboundNumberParams,
) (*oas.InboundNumber, error) {
	number, err := a.cfg.Agents.Number(ctx, httpapi.Org(ctx), params.PhoneNumber)
	if err != nil {
		return nil, err
	}
	n, err := a.cfg.Agents.Inbound(ctx, httpapi.Org(ctx), number)
	if err != nil {
		return nil, err
	}
	answer, err := inboundNumber(n)
	answer.Warnings = a.cfg.Agents.NumberWarnings(ctx, n)
	return &answer, err
}

// UpdateInboundNumber serves POST /v1/inbound/{phone_number}. It changes the settings that are valid, and reports the refused ones.
func (a *api) UpdateInboundNumber(
	ctx context.Context, req *oas.InboundNumberUpdate, params oas.UpdateInboundNumberParams,
) (*oas.UpdateReply, error) {
	number, err := a.cfg.Agents.Number(ctx, httpapi.Org(ctx), params.PhoneNumber)
	if err != nil {
		return nil, err
	}
	patch, err := inboundPatch(req)
	if err != nil {
		return nil, err
	}
	n, report, err := a.cfg.Agents.UpdateInbound(ctx, httpapi.Org(ctx), number, patch)
	if err != nil {
		return nil, err
	}
	voice, named := req.Voice.Value, "voice"
	if req.VoiceID.Set {
		voice, named = req.VoiceID.Value, "voice_id"
	}
	a.noteVoiceSettings(ctx, req.VoiceSettings.Set, n.Agent)
	ignored, err := a.ignored(ctx, named, voice, req.Language.Value)
	if err != nil {
		return nil, err
	}
	answer, err := updateReport("Inbound number updated.", a.cfg.Agents.NumberWarnings(ctx, n), ignored, report, []member{
		{"agent_id", agents.SettingAgentID, req.AgentID},
		{"prompt", agents.SettingTask, req.Prompt}, {"pathway_id", agents.SettingPathway, req.PathwayID},
		{"pathway_version", agents.SettingPathwayVersion, req.PathwayVersion}, {"persona_id", agents.SettingPersonaID, req.PersonaID},
		{"brain_url", agents.SettingBrain, req.BrainURL},
		{"persona", agents.SettingPersona, req.Persona}, {"voice", agents.SettingVoice, req.Voice},
		{"voice_id", agents.SettingVoice, req.VoiceID}, {"first_sentence", agents.SettingFirstSentence, req.FirstSentence},
		{"language", agents.SettingLanguage, req.Language}, {"model", agents.SettingModel, req.Model},
		{"fallback_model", agents.SettingFallback, req.FallbackModel},
		{"webhook", agents.SettingWebhook, req.Webhook},
		{"transfer_phone_number", agents.SettingTransferTo, req.TransferPhoneNumber},
		{"wait_for_greeting", agents.SettingWaitForGreeting, req.WaitForGreeting},
		{"record", agents.SettingRecord, req.Record}, {"dynamic_data", agents.SettingDynamicData, req.DynamicData},
		{"tools", agents.SettingTools, req.Tools}, {"temperature", agents.SettingTemperature, req.Temperature},
		{"interruption_threshold", agents.SettingInterruption, req.InterruptionThreshold},
		{"interruptibility", agents.SettingInterruptibility, req.Interruptibility},
		{"min_endpointing_delay", agents.SettingLeastWait, req.MinEndpointingDelay},
		{"max_endpointing_delay", agents.SettingLongestWait, req.MaxEndpointingDelay},
		{"idle", agents.SettingIdle, req.Idle},
		{"max_duration", agents.SettingMaxDuration, req.MaxDuration},
		{"voice_settings", agents.SettingVoiceSettings, req.VoiceSettings},
		{"pronunciation_guide", agents.SettingPronunciation, req.PronunciationGuide},
		{"background_track", agents.SettingBackground, req.BackgroundTrack},
	})
	if err != nil {
		return nil, err
	}
	if req.FallbackNumber.Value != "" {
		answer.FailedUpdates["fallback_number"] = wire.NotBuilt("fallback_number").Message
	}
	if req.Voice.Set && req.VoiceID.Set && req.Voice.Value != req.VoiceID.Value {
		delete(answer.Updates, "voice")
		answer.FailedUpdates["voice"] = "must be the same as voice_id, its other name"
	}
	noteRefusals(answer)
	return answer, nil
}

// inboundPatch translates the body of UpdateInboundNumber. If it names a voice as both voice and voice_id, voice_id takes precedence.
func inboundPatch(req *oas.InboundNumberUpdate) (agents.Patch, error) {
	data, err := agentwire.DynamicData(req.DynamicData)
	if err != nil {
		return agents.Patch{}, err
	}
	idle, err := agentwire.Idle(&req.Idle, req.Idle.Set)
	if err != nil {
		return agents.Patch{}, err
	}
	guide, err := agentwire.Pronunciations(req.PronunciationGuide)
	if err != nil {
		return agents.Patch{}, err
	}
	settings, err := agentwire.VoiceSettings(req.VoiceSettings.Value)
	if err != nil {
		return agents.Patch{}, err
	}
	voice := req.Voice
	if req.VoiceID.Set {
		voice = req.VoiceID
	}
	req.Language.Value, req.PathwayID.Value = agents.LanguageTag(req.Language.Value), wire.ID(req.PathwayID.Value)
	patch := agents.Patch{
		AgentID: wire.ID(req.AgentID.Value),
		Task:    wire.Change(req.Prompt.Value, req.Prompt.Set), Pathway: wire.Change(req.PathwayID.Value, req.PathwayID.Set),
		PathwayVersion: callwright.Optional[pathway.Selector]{Set: req.PathwayVersion.Set},
		PersonaID:      wire.Change(wire.ID(req.PersonaID.Value), req.PersonaID.Set),
		Brain:          wire.Change(req.BrainURL.Value, req.BrainURL.Set),
		Persona:        wire.Change(req.Persona.Value, req.Persona.Set), Voice: wire.Change(voice.Value, voice.Set),
		FirstSentence: wire.Change(req.FirstSentence.Value, req.FirstSentence.Set),
		Language:      wire.Change(req.Language.Value, req.Language.Set), Model: wire.Change(req.Model.Value, req.Model.Set),
		Fallback:        wire.Change(req.FallbackModel.Value, req.FallbackModel.Set),
		Webhook:         wire.Change(req.Webhook.Value, req.Webhook.Set),
		TransferTo:      wire.Change(callwright.PhoneNumber(req.TransferPhoneNumber.Value), req.TransferPhoneNumber.Set),
		WaitForGreeting: wire.Change(req.WaitForGreeting.Get()), Record: wire.Change(req.Record.Get()),
		DynamicData:      wire.Change(data, req.DynamicData.Set),
		Idle:             idle,
		Tools:            wire.Change(wire.Items[json.RawMessage](req.Tools.Value), req.Tools.Set),
		Temperature:      wire.PtrChange(wire.Ptr(req.Temperature.Get()), req.Temperature.Set),
		Interruption:     wire.PtrChange(wire.FromMillis(req.InterruptionThreshold.Get()), req.InterruptionThreshold.Set),
		MaxDuration:      wire.Change(wire.Minutes(req.MaxDuration.Value), req.MaxDuration.Set),
		Interruptibility: wire.PtrChange(wire.Ptr(req.Interruptibility.Get()), req.Interruptibility.Set),
		VoiceSettings:    wire.Change(settings, req.VoiceSettings.Set),
		Pronunciation:    wire.Change(guide, req.PronunciationGuide.Set),
		Background:       wire.Change(agentwire.Background(req.BackgroundTrack.Value), req.BackgroundTrack.Set),
		LeastWait:        wire.PtrChange(wire.FromMillis(req.MinEndpointingDelay.Get()), req.MinEndpointingDelay.Set),
		LongestWait:      wire.PtrChange(wire.FromMillis(req.MaxEndpointingDelay.Get()), req.MaxEndpointingDelay.Set),
	}
	if version, ok := req.PathwayVersion.Get(); ok {
		selector, err := pathwaywire.Selector(version)
		if err != nil {
			return patch, err
		}
		patch.PathwayVersion = callwright.Given(selector)
	}
	return patch, nil
}

// inboundNumber translates a number with its agent. Members of features that are not built are null.
func inboundNumber(n agents.InboundNumber) (oas.InboundNumber, error) {
	data, err := agentwire.DynamicDataList[oas.DynamicDataList](n.Agent.DynamicData)
	if err != nil {
		return oas.InboundNumber{}, err
	}
	idle, given, err := agentwire.IdleOptions[oas.IdleOptions](n.Agent.Idle)
	if err != nil {
		return oas.InboundNumber{}, err
	}
	settings, err := voiceSettings(n.Agent)
	if err != nil {
		return oas.InboundNumber{}, err
	}
	guide, err := agentwire.PronunciationGuide[oas.PronunciationGuide](n.Agent.Pronunciation)
	absent := oas.OptNilString{Set: true, Null: true}
	temperature := wire.NilPtr(n.Agent.Temperature)
	tools := wire.Items[oas.AgentTool](n.Agent.Tools)
	return oas.InboundNumber{
		PhoneNumber: n.Number.String(), CreatedAt: n.CreatedAt,
		Prompt: wire.NilText(n.Agent.Task), Webhook: wire.NilText(n.Agent.Webhook), VoiceID: wire.NilText(n.Agent.Voice),
		FirstSentence:       wire.NilText(n.Agent.FirstSentence),
		TransferPhoneNumber: wire.NilText(n.Agent.TransferTo.String()),
		Language:            wire.OptNilText(n.Agent.Language),
		Model:               wire.OptNilText(n.Agent.Model),
		FallbackModel:       wire.OptNilText(n.Agent.Fallback),
		Persona:             wire.OptNilText(n.Agent.Persona),
		Temperature:         oas.OptNilFloat64{Value: temperature.Value, Set: true, Null: temperature.Null},
		WaitForGreeting:     oas.NewOptBool(n.Agent.WaitForGreeting),
		Record:              n.Agent.Record, MaxDuration: n.Agent.MaxDuration.Minutes(),
		PathwayID: wire.OptNilText(n.Agent.Pathway.ID), PathwayVersion: selectorRecord(n.Agent.Pathway),
		InterruptionThreshold: nilMillis(n.Agent.Interruption),
		Interruptibility:      wire.OptPtr(n.Agent.Interruptibility),
		MinEndpointingDelay:   wire.OptMillis(n.Agent.LeastWait),
		MaxEndpointingDelay:   wire.OptMillis(n.Agent.LongestWait),
		Idle:                  oas.OptNilIdleOptions{Value: idle, Set: given},
		DynamicData:           data,
		Tools:                 oas.OptNilAgentTools{Value: tools, Set: true, Null: tools == nil},
		PersonaID:             wire.OptNilText(n.Agent.PersonaID), VoiceSettings: settings,
		BrainURL:           oas.OptNilString{Value: n.Agent.Brain, Set: n.Agent.Brain != ""},
		PronunciationGuide: oas.OptNilPronunciationGuide{Value: guide, Set: guide != nil},
		BackgroundTrack:    wire.OptNilText(string(n.Agent.Background)), FallbackNumber: absent,
	}, err
}

// nilMillis returns a duration in milliseconds, or null for nil.
func nilMillis(d *time.Duration) wire.Nil[float64] {
	if d == nil {
		return wire.Nil[float64]{Null: true}
	}
	return wire.Nil[float64]{Value: float64(*d) / float64(time.Millisecond)}
}

// selectorRecord translates the version that an agent selects of its pathway. It returns null for an agent without a pathway.
func selectorRecord(ref agents.PathwayRef) oas.OptNilPathwayVersionSelector {
	version := oas.OptNilPathwayVersionSelector{Set: true, Null: true}
	switch {
	case ref.ID == "":
	case ref.Version.Environment != "":
		version.SetTo(oas.NewPathwayEnvironmentPathwayVersionSelector(oas.PathwayEnvironment(ref.Version.Environment)))
	default:
		version.SetTo(oas.NewIntPathwayVersionSelector(ref.Version.Number))
	}
	return version
}
