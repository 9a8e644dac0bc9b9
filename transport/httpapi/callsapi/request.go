package callsapi

import (
	"context"
	"encoding/json"
	"fmt"
	"maps"
	"slices"
	"time"

	"github.com/callwright/callwright"
	"github.com/callwright/callwright/agents"
	"github.com/callwright/callwright/agents/call"
	"github.com/callwright/callwright/transport/httpapi"
	"github.com/callwright/callwright/transport/httpapi/internal/agentwire"
	"github.com/callwright/callwright/transport/httpapi/internal/pathwaywire"
	"github.com/callwright/callwright/transport/httpapi/internal/wire"
	oas "github.com/callwright/callwright/transport/oas/callsoas"
)

// callRequest translates the body of CreateCall.
func callRequest(ctx context.Context, req *oas.CallCreate) (call.Request, error) {
	data, err := wire.Values("request_data", req.RequestData.Value)
	if err != nil {
		return call.Request{}, err
	}
	metadata, err := wire.Values("metadata", req.Metadata.Value)
	if err != nil {
		return call.Request{}, err
	}
	overrides, err := callOverrides(req)
	if to, ok := transferTo(ctx, req); ok {
		overrides.TransferTo = callwright.Given(callwright.PhoneNumber(to))
	}
	return call.Request{
		From: req.From.Or(""), To: req.PhoneNumber, AgentID: wire.ID(req.AgentID.Value), Overrides: overrides,
		Plan: callPlan(ctx, req), StartAt: wire.Ptr(req.StartTime.Get()), RequestData: data, Metadata: metadata,
	}, err
}

// callOverrides returns the agent's settings that the body overrides for this call.
func callOverrides(req *oas.CallCreate) (agents.Patch, error) {
	data, err := agentwire.DynamicData(req.DynamicData)
	if err != nil {
		return agents.Patch{}, err
	}
	machines, err := agentwire.Machines(&req.Machines.Value)
	if err != nil {
		return agents.Patch{}, err
	}
	idle, err := agentwire.Idle(&req.Idle, req.Idle.Set && !req.Idle.Null)
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
	patch := agents.Patch{
		Task: wire.Change(req.Task.Get()), Pathway: wire.Change(wire.ID(req.PathwayID.Value), req.PathwayID.Set), StartNode: wire.Change(req.StartNodeID.Get()),
		PersonaID: wire.Change(wire.ID(req.PersonaID.Value), req.PersonaID.Set),
		Brain:     wire.Change(req.BrainURL.Get()),
		Persona:   wire.Change(req.Persona.Get()), Voice: wire.Change(req.Voice.Get()), Language: wire.Change(req.Language.Get()),
		Model: wire.Change(req.Model.Get()), Fallback: wire.Change(req.FallbackModel.Get()), FirstSentence: wire.Change(req.FirstSentence.Get()),
		WaitForGreeting: wire.Change(req.WaitForGreeting.Get()), Record: wire.Change(req.Record.Get()),
		MaxDuration:      wire.Change(wire.Minutes(req.MaxDuration.Value), req.MaxDuration.Set),
		Webhook:          wire.Change(req.Webhook.Get()),
		Temperature:      wire.Change(req.Temperature.Get()),
		Interruption:     wire.PtrChange(wire.FromMillis(req.InterruptionThreshold.Get()), req.InterruptionThreshold.Set),
		Interruptibility: interruptibility(req),
		Keywords:         wire.Change(req.Keywords, req.Keywords != nil),
		LeastWait:        wire.PtrChange(wire.FromMillis(req.MinEndpointingDelay.Get()), req.MinEndpointingDelay.Set),
		LongestWait:      wire.PtrChange(wire.FromMillis(req.MaxEndpointingDelay.Get()), req.MaxEndpointingDelay.Set),
		Tools:            wire.Change(wire.Items[json.RawMessage](req.Tools.Value), req.Tools.Set),
		DynamicData:      wire.Change(data, req.DynamicData.Set),
		Idle:             idle,
		VoiceSettings:    wire.Change(settings, settings != ""), // null is absent, as in all settings of a call
		Pronunciation:    wire.Change(guide, guide != nil),
		Background:       wire.Change(agentwire.Background(req.BackgroundTrack.Value), req.BackgroundTrack.Set && !req.BackgroundTrack.Null),
		Machines:         wire.Change(machines, req.Machines.Set),
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

// interruptibility returns the change of Agent.Interruptibility. block_interruptions takes precedence over interruptibility.
func interruptibility(req *oas.CallCreate) callwright.Optional[int] {
	if req.BlockInterruptions.Value {
		return callwright.Given(0)
	}
	return wire.Change(req.Interruptibility.Get())
}

// callPlan translates the plan of a call: voicemail, retry, analysis and webhooks.
func callPlan(ctx context.Context, req *oas.CallCreate) call.Plan {
	plan := call.Plan{
		Voicemail: call.Voicemail{
			Action: call.VoicemailAction(req.Voicemail.Value.Action), Message: req.Voicemail.Value.Message.Or(""),
		},
		Dispositions: req.Dispositions, SummaryPrompt: req.SummaryPrompt.Or(""),
	}
	if retry, ok := req.Retry.Get(); ok {
		plan.Retry = &call.Retry{
			Wait: time.Duration(retry.Wait) * time.Second,
			Voicemail: call.Voicemail{
				Action: call.VoicemailAction(retry.VoicemailAction.Value), Message: retry.VoicemailMessage.Or(""),
			},
		}
	}
	for i, category := range req.WebhookEvents {
		switch category {
		case oas.CallEventCategoryCitations, oas.CallEventCategoryEvals, oas.CallEventCategoryPostTransferTranscript:
			httpapi.Ignore(ctx, fmt.Sprintf("webhook_events[%d]", i), "calls have no events of this category")
		default:
			plan.Events = append(plan.Events, call.EventCategory(category))
		}
	}
	return plan
}

// transferTo returns the number to which the call may be transferred, if one is given. The default of transfer_list takes precedence over
// transfer_phone_number. Other entries of the list are reported as ignored.
func transferTo(ctx context.Context, req *oas.CallCreate) (string, bool) {
	to, given := req.TransferPhoneNumber.Get()
	for _, name := range slices.Sorted(maps.Keys(req.TransferList.Value)) {
		if name == "default" {
			to, given = req.TransferList.Value[name], true
		} else {
			httpapi.Ignore(ctx, wire.Join("transfer_list", name), "a call is transferred to one number: the list's default")
		}
	}
	return to, given
}
