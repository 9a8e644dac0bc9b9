package httpapi

import (
	"context"
	"encoding/json"

	"github.com/go-faster/jx"

	"github.com/callwright/callwright"
	"github.com/callwright/callwright/agents"
	"github.com/callwright/callwright/agents/call"
	"github.com/callwright/callwright/transport/oas"
)

// ListInboundNumbers is all numbers that are answered.
func (a *api) ListInboundNumbers(ctx context.Context) (*oas.ListInboundNumbersResponse, error) {
	numbers, err := a.Agents.ListInbound(ctx, orgOf(ctx))
	if err != nil {
		return nil, err
	}
	answer := &oas.ListInboundNumbersResponse{InboundNumbers: make([]oas.InboundNumber, len(numbers))}
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
	ctx context.Context, req *oas.UpdateInboundNumberRequest, params oas.UpdateInboundNumberParams,
) (*oas.UpdateReportResponse, error) {
	number, err := callwright.ParsePhoneNumber(params.PhoneNumber)
	if err != nil {
		return nil, callwright.InField("phone_number", err)
	}
	var answer *oas.UpdateReportResponse
	_, err = a.Agents.UpdateInbound(ctx, orgOf(ctx), number, func(agent *call.Agent) error {
		answer = &oas.UpdateReportResponse{
			Status: oas.SuccessStatusSuccess, Message: "Inbound number updated.",
			Updates: oas.UpdateReportResponseUpdates{}, FailedUpdates: oas.UpdateReportResponseFailedUpdates{},
		}
		for _, s := range settingsOf(req) {
			if err := a.change(ctx, agent, s, answer); err != nil {
				return err
			}
		}
		return nil
	})
	return answer, err
}

// setting is one member of the body of UpdateInboundNumber.
type setting struct {
	name  string
	value any               // as it is given; nil for null
	set   func(*call.Agent) // nil for what this build has not
}

// change makes one setting if the result is an agent that can take calls, and reports either way.
func (a *api) change(
	ctx context.Context, agent *call.Agent, s setting, answer *oas.UpdateReportResponse,
) error {
	if s.set == nil {
		answer.FailedUpdates[s.name] = notBuilt(s.name).Message
		return nil
	}
	changed := *agent
	s.set(&changed)
	if a.Calls != nil {
		if err := a.Calls.CheckAgent(ctx, orgOf(ctx), &changed); err != nil {
			f := failureOf(err)
			if f.code != callwright.CodeBadRequest {
				return err
			}
			answer.FailedUpdates[s.name] = f.lines[0].text
			return nil
		}
	}
	text, err := json.Marshal(s.value)
	*agent, answer.Updates[s.name] = changed, jx.Raw(text)
	return err
}

// settingsOf lists the members that are given.
func settingsOf(req *oas.UpdateInboundNumberRequest) []setting {
	var list []setting
	text := func(name string, given oas.OptNilString, target func(*call.Agent) *string) {
		if given.Set {
			s := setting{name: name, set: func(a *call.Agent) { *target(a) = given.Value }}
			if !given.Null {
				s.value = given.Value
			}
			list = append(list, s)
		}
	}
	flag := func(name string, given oas.OptBool, target func(*call.Agent) *bool) {
		if given.Set {
			list = append(list, setting{name, given.Value, func(a *call.Agent) { *target(a) = given.Value }})
		}
	}
	text("prompt", req.Prompt, func(a *call.Agent) *string { return &a.Task })
	text("voice", req.Voice, func(a *call.Agent) *string { return &a.Voice })
	text("voice_id", req.VoiceID, func(a *call.Agent) *string { return &a.Voice })
	text("first_sentence", req.FirstSentence, func(a *call.Agent) *string { return &a.FirstSentence })
	req.Language.Value = languageTag(req.Language.Value)
	text("language", req.Language, func(a *call.Agent) *string { return &a.Language })
	text("model", req.Model, func(a *call.Agent) *string { return &a.Model })
	text("webhook", req.Webhook, func(a *call.Agent) *string { return &a.Webhook })
	text("transfer_phone_number", req.TransferPhoneNumber, func(a *call.Agent) *string { return (*string)(&a.TransferTo) })
	flag("wait_for_greeting", req.WaitForGreeting, func(a *call.Agent) *bool { return &a.WaitForGreeting })
	flag("record", req.Record, func(a *call.Agent) *bool { return &a.Record })
	if t := req.Temperature; t.Set {
		s := setting{name: "temperature", set: func(a *call.Agent) { a.Temperature = optional(t.Get()) }}
		if !t.Null {
			s.value = t.Value
		}
		list = append(list, s)
	}
	if m := req.MaxDuration; m.Set {
		list = append(list, setting{"max_duration", m.Value, func(a *call.Agent) { a.MaxDuration = minutes(m.Value) }})
	}
	return append(list, unbuiltSettings(req)...)
}

// unbuiltSettings lists the members that are given and that this build has not.
func unbuiltSettings(req *oas.UpdateInboundNumberRequest) []setting {
	var list []setting
	for _, s := range []struct {
		name  string
		given bool
	}{
		{"pathway_id", req.PathwayID.Set}, {"pathway_version", req.PathwayVersion.Set}, {"persona_id", req.PersonaID.Set},
		{"persona", req.Persona.Set}, {"tools", req.Tools.Set},
		{"interruption_threshold", req.InterruptionThreshold.Set}, {"dynamic_data", req.DynamicData.Set},
		{"voice_settings", req.VoiceSettings.Set}, {"background_track", req.BackgroundTrack.Set},
		{"fallback_number", req.FallbackNumber.Set},
	} {
		if s.given {
			list = append(list, setting{name: s.name})
		}
	}
	return list
}

// inboundNumber is a number with its agent. What this build has not is null.
func inboundNumber(n agents.InboundNumber) oas.InboundNumber {
	absent := oas.OptNilString{Set: true, Null: true}
	answer := oas.InboundNumber{
		PhoneNumber: n.Number.String(), CreatedAt: n.CreatedAt,
		Prompt: nilText(n.Agent.Task), Webhook: nilText(n.Agent.Webhook), VoiceID: nilText(n.Agent.Voice),
		FirstSentence:       nilText(n.Agent.FirstSentence),
		TransferPhoneNumber: nilText(n.Agent.TransferTo.String()),
		Language:            optNilText(n.Agent.Language),
		Model:               optNilText(n.Agent.Model),
		Temperature:         oas.OptNilFloat64{Set: true, Null: n.Agent.Temperature == nil},
		WaitForGreeting:     oas.NewOptBool(n.Agent.WaitForGreeting),
		Record:              n.Agent.Record, MaxDuration: n.Agent.MaxDuration.Minutes(),
		PathwayID: absent, PathwayVersion: oas.OptNilPathwayVersionSelector{Set: true, Null: true}, PersonaID: absent,
		InterruptionThreshold: oas.NilFloat64{Null: true}, VoiceSettings: oas.NilVoiceSettings{Null: true},
		BackgroundTrack: absent, FallbackNumber: absent,
	}
	if n.Agent.Temperature != nil {
		answer.Temperature.SetTo(*n.Agent.Temperature)
	}
	return answer
}
