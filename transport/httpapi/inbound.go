package httpapi

import (
	"context"

	"github.com/callwright/callwright"
	"github.com/callwright/callwright/agents"
	"github.com/callwright/callwright/agents/pathway"
	"github.com/callwright/callwright/transport/oas"
)

// ListInboundNumbers is all numbers that are answered.
func (a *api) ListInboundNumbers(ctx context.Context) (*oas.InboundNumberListReply, error) {
	numbers, err := a.Agents.ListInbound(ctx, orgOf(ctx))
	if err != nil {
		return nil, err
	}
	answer := &oas.InboundNumberListReply{InboundNumbers: make([]oas.InboundNumber, len(numbers))}
	for i, n := range numbers {
		answer.InboundNumbers[i] = inboundNumber(n)
	}
	return answer, nil
}

// GetInboundNumber is one number that is answered.
func (a *api) GetInboundNumber(
	ctx context.Context, params oas.GetInboundNumberParams,
) (*oas.InboundNumber, error) {
	number, err := callwright.ParsePhoneNumber(params.PhoneNumber)
	if err != nil {
		return nil, callwright.InField("phone_number", err)
	}
	n, err := a.Agents.Inbound(ctx, orgOf(ctx), number)
	if err != nil {
		return nil, err
	}
	answer := inboundNumber(n)
	return &answer, nil
}

// UpdateInboundNumber changes what answers at a number, setting by setting: one that is refused leaves the others be.
func (a *api) UpdateInboundNumber(
	ctx context.Context, req *oas.InboundNumberUpdate, params oas.UpdateInboundNumberParams,
) (*oas.UpdateReply, error) {
	number, err := callwright.ParsePhoneNumber(params.PhoneNumber)
	if err != nil {
		return nil, callwright.InField("phone_number", err)
	}
	_, report, err := a.Agents.UpdateInbound(ctx, orgOf(ctx), number, inboundPatch(req))
	if err != nil {
		return nil, err
	}
	answer, err := updateReport("Inbound number updated.", report, []member{
		{"prompt", agents.SettingTask, req.Prompt}, {"pathway_id", agents.SettingPathway, req.PathwayID},
		{"pathway_version", agents.SettingPathwayVersion, req.PathwayVersion},
		{"persona", agents.SettingPersona, req.Persona}, {"voice", agents.SettingVoice, req.Voice},
		{"voice_id", agents.SettingVoice, req.VoiceID}, {"first_sentence", agents.SettingFirstSentence, req.FirstSentence},
		{"language", agents.SettingLanguage, req.Language}, {"model", agents.SettingModel, req.Model},
		{"webhook", agents.SettingWebhook, req.Webhook},
		{"transfer_phone_number", agents.SettingTransferTo, req.TransferPhoneNumber},
		{"wait_for_greeting", agents.SettingWaitForGreeting, req.WaitForGreeting},
		{"record", agents.SettingRecord, req.Record}, {"dynamic_data", agents.SettingDynamicData, req.DynamicData},
		{"tools", agents.SettingTools, req.Tools}, {"temperature", agents.SettingTemperature, req.Temperature},
		{"interruption_threshold", agents.SettingInterruption, req.InterruptionThreshold},
		{"max_duration", agents.SettingMaxDuration, req.MaxDuration},
	})
	if err != nil {
		return nil, err
	}
	for name, given := range map[string]bool{
		"persona_id": req.PersonaID.Set, "voice_settings": req.VoiceSettings.Set,
		"background_track": req.BackgroundTrack.Set, "fallback_number": req.FallbackNumber.Set,
	} {
		if given {
			answer.FailedUpdates[name] = notBuilt(name).Message
		}
	}
	if req.Voice.Set && req.VoiceID.Set && req.Voice.Value != req.VoiceID.Value {
		delete(answer.Updates, "voice")
		answer.FailedUpdates["voice"] = "must be the same as voice_id, its other name"
	}
	return answer, nil
}

// inboundPatch is the body of UpdateInboundNumber in the domain's words. Of the voice's two names voice_id is heard first.
func inboundPatch(req *oas.InboundNumberUpdate) agents.Patch {
	voice := req.Voice
	if req.VoiceID.Set {
		voice = req.VoiceID
	}
	req.Language.Value = agents.LanguageTag(req.Language.Value)
	patch := agents.Patch{
		Task: change(req.Prompt.Value, req.Prompt.Set), Pathway: change(req.PathwayID.Value, req.PathwayID.Set),
		PathwayVersion: callwright.Optional[pathway.Selector]{Set: req.PathwayVersion.Set},
		Persona:        change(req.Persona.Value, req.Persona.Set), Voice: change(voice.Value, voice.Set),
		FirstSentence: change(req.FirstSentence.Value, req.FirstSentence.Set),
		Language:      change(req.Language.Value, req.Language.Set), Model: change(req.Model.Value, req.Model.Set),
		Webhook:         change(req.Webhook.Value, req.Webhook.Set),
		TransferTo:      change(callwright.PhoneNumber(req.TransferPhoneNumber.Value), req.TransferPhoneNumber.Set),
		WaitForGreeting: change(req.WaitForGreeting.Get()), Record: change(req.Record.Get()),
		DynamicData:  change(dynamicData(req.DynamicData), req.DynamicData.Set),
		Tools:        change(toolTexts(req.Tools), req.Tools.Set),
		Temperature:  pointerChange(optional(req.Temperature.Get()), req.Temperature.Set),
		Interruption: pointerChange(fromMillis(req.InterruptionThreshold.Get()), req.InterruptionThreshold.Set),
		MaxDuration:  change(minutes(req.MaxDuration.Value), req.MaxDuration.Set),
	}
	if version, ok := req.PathwayVersion.Get(); ok {
		patch.PathwayVersion = callwright.Given(selectorOf(version, true))
	}
	return patch
}

// inboundNumber is a number with its agent. What this build has not is null.
func inboundNumber(n agents.InboundNumber) oas.InboundNumber {
	absent := oas.OptNilString{Set: true, Null: true}
	temperature := nilNumber(n.Agent.Temperature)
	tools := itemsAs[oas.AgentTool](n.Agent.Tools)
	return oas.InboundNumber{
		PhoneNumber: n.Number.String(), CreatedAt: n.CreatedAt,
		Prompt: nilText(n.Agent.Task), Webhook: nilText(n.Agent.Webhook), VoiceID: nilText(n.Agent.Voice),
		FirstSentence:       nilText(n.Agent.FirstSentence),
		TransferPhoneNumber: nilText(n.Agent.TransferTo.String()),
		Language:            optNilText(n.Agent.Language),
		Model:               optNilText(n.Agent.Model),
		Persona:             optNilText(n.Agent.Persona),
		Temperature:         oas.OptNilFloat64{Value: temperature.Value, Set: true, Null: temperature.Null},
		WaitForGreeting:     oas.NewOptBool(n.Agent.WaitForGreeting),
		Record:              n.Agent.Record, MaxDuration: n.Agent.MaxDuration.Minutes(),
		PathwayID: optNilText(n.Agent.Pathway.ID), PathwayVersion: selectorRecord(n.Agent.Pathway),
		InterruptionThreshold: nilMillis(n.Agent.Interruption),
		DynamicData:           dynamicDataList(n.Agent.DynamicData),
		Tools:                 oas.OptNilAgentTools{Value: tools, Set: true, Null: tools == nil},
		PersonaID:             absent, VoiceSettings: oas.NilVoiceSettings{Null: true},
		BackgroundTrack: absent, FallbackNumber: absent,
	}
}
