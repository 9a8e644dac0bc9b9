package callsapi

import (
	"encoding/json"
	"time"

	"github.com/callwright/callwright"
	"github.com/callwright/callwright/agents"
	"github.com/callwright/callwright/agents/call"
	"github.com/callwright/callwright/transport/httpapi/agentwire"
	"github.com/callwright/callwright/transport/httpapi/pathwaywire"
	"github.com/callwright/callwright/transport/httpapi/wire"
	oas "github.com/callwright/callwright/transport/oas/callsoas"
)

// callRequest translates the body of CreateCall.
func callRequest(req *oas.CallCreate) (call.Request, error) {
	data, err := wire.Values("request_data", req.RequestData.Value)
	if err != nil {
		return call.Request{}, err
	}
	metadata, err := wire.Values("metadata", req.Metadata.Value)
	if err != nil {
		return call.Request{}, err
	}
	overrides, err := callOverrides(req)
	return call.Request{
		From: req.From.Or(""), To: req.PhoneNumber, AgentID: wire.ID(req.AgentID.Value), Overrides: overrides,
		Plan: callPlan(req), StartAt: wire.Ptr(req.StartTime.Get()), RequestData: data, Metadata: metadata,
	}, err
}

// callOverrides returns the agent's settings that are given for the call.
func callOverrides(req *oas.CallCreate) (agents.Patch, error) {
	data, err := agentwire.DynamicData(req.DynamicData)
	if err != nil {
		return agents.Patch{}, err
	}
	patch := agents.Patch{
		Task: wire.Change(req.Task.Get()), Pathway: wire.Change(wire.ID(req.PathwayID.Value), req.PathwayID.Set), StartNode: wire.Change(req.StartNodeID.Get()),
		PersonaID: wire.Change(wire.ID(req.PersonaID.Value), req.PersonaID.Set),
		Persona:   wire.Change(req.Persona.Get()), Voice: wire.Change(req.Voice.Get()), Language: wire.Change(req.Language.Get()),
		Model: wire.Change(req.Model.Get()), FirstSentence: wire.Change(req.FirstSentence.Get()),
		WaitForGreeting: wire.Change(req.WaitForGreeting.Get()), Record: wire.Change(req.Record.Get()),
		MaxDuration:  wire.Change(wire.Minutes(req.MaxDuration.Value), req.MaxDuration.Set),
		TransferTo:   wire.Change(callwright.PhoneNumber(req.TransferPhoneNumber.Value), req.TransferPhoneNumber.Set),
		Webhook:      wire.Change(req.Webhook.Get()),
		Temperature:  wire.Change(req.Temperature.Get()),
		Interruption: wire.PtrChange(wire.FromMillis(req.InterruptionThreshold.Get()), req.InterruptionThreshold.Set),
		Tools:        wire.Change(wire.Items[json.RawMessage](req.Tools.Value), req.Tools.Set),
		DynamicData:  wire.Change(data, req.DynamicData.Set),
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

// callPlan returns what is to happen around the call: voicemail, retry, analysis and webhooks.
func callPlan(req *oas.CallCreate) call.Plan {
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
	for _, category := range req.WebhookEvents {
		plan.Events = append(plan.Events, call.EventCategory(category))
	}
	return plan
}
