package httpapi

import (
	"context"

	"github.com/callwright/callwright"
	"github.com/callwright/callwright/agents"
	"github.com/callwright/callwright/agents/call"
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
	list := inboundSettings(req)
	var answer *oas.UpdateReply
	err = a.Atomic.Do(ctx, func(ctx context.Context) error { // the checks read in the transaction of the change
		_, err := a.Agents.UpdateInbound(ctx, orgOf(ctx), number, func(agent *call.Agent) error {
			answer = updated("Inbound number updated.")
			w := agents.WebAgent{Agent: *agent}
			err := list.make(&w, func(w *agents.WebAgent) error { return a.checkAgent(ctx, &w.Agent) }, answer)
			*agent = w.Agent
			return err
		})
		return err
	})
	return answer, err
}

// inboundSettings lists the members that are given.
func inboundSettings(req *oas.InboundNumberUpdate) settings {
	var s settings
	s.leader(req.Prompt, req.PathwayID, req.PathwayVersion, func(a *call.Agent, ref call.PathwayRef) { a.Task, a.Pathway = "", ref })
	s.text("persona", req.Persona, func(agent *call.Agent) *string { return &agent.Persona })
	s.text("voice", req.Voice, func(agent *call.Agent) *string { return &agent.Voice })
	s.text("voice_id", req.VoiceID, func(agent *call.Agent) *string { return &agent.Voice })
	s.text("first_sentence", req.FirstSentence, func(agent *call.Agent) *string { return &agent.FirstSentence })
	req.Language.Value = languageTag(req.Language.Value)
	s.text("language", req.Language, func(agent *call.Agent) *string { return &agent.Language })
	s.text("model", req.Model, func(agent *call.Agent) *string { return &agent.Model })
	s.text("webhook", req.Webhook, func(agent *call.Agent) *string { return &agent.Webhook })
	s.text("transfer_phone_number", req.TransferPhoneNumber, func(agent *call.Agent) *string {
		return (*string)(&agent.TransferTo)
	})
	s.flag("wait_for_greeting", req.WaitForGreeting, func(agent *call.Agent) *bool { return &agent.WaitForGreeting })
	s.flag("record", req.Record, func(agent *call.Agent) *bool { return &agent.Record })
	s.common(commonSettings{
		dynamicData: req.DynamicData, tools: req.Tools, temperature: req.Temperature,
		interruption: req.InterruptionThreshold, maxDuration: req.MaxDuration,
	})
	for name, given := range map[string]bool{
		"persona_id": req.PersonaID.Set, "voice_settings": req.VoiceSettings.Set,
		"background_track": req.BackgroundTrack.Set, "fallback_number": req.FallbackNumber.Set,
	} {
		s.refuse(given, name, notBuilt(name).Message)
	}
	return s
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
