package httpapi

import (
	"time"

	"github.com/callwright/callwright"
	"github.com/callwright/callwright/agents"
	"github.com/callwright/callwright/agents/call"
	"github.com/callwright/callwright/transport/oas"
)

// callRequest is the body of CreateCall in the domain's words.
func callRequest(req *oas.CallCreate) (call.Request, error) {
	data, err := valuesOf(req.RequestData.Value)
	if err != nil {
		return call.Request{}, err
	}
	metadata, err := valuesOf(req.Metadata.Value)
	return call.Request{
		From: req.From.Or(""), To: req.PhoneNumber, AgentID: req.AgentID.Or(""), Overrides: callOverrides(req),
		Plan: callPlan(req), StartAt: optional(req.StartTime.Get()), RequestData: data, Metadata: metadata,
	}, err
}

// callOverrides are the settings of an agent that are given for the call.
func callOverrides(req *oas.CallCreate) agents.Patch {
	patch := agents.Patch{
		Task: change(req.Task.Get()), Pathway: change(req.PathwayID.Get()), StartNode: change(req.StartNodeID.Get()),
		Persona: change(req.Persona.Get()), Voice: change(req.Voice.Get()), Language: change(req.Language.Get()),
		Model: change(req.Model.Get()), FirstSentence: change(req.FirstSentence.Get()),
		WaitForGreeting: change(req.WaitForGreeting.Get()), Record: change(req.Record.Get()),
		MaxDuration:  change(minutes(req.MaxDuration.Value), req.MaxDuration.Set),
		TransferTo:   change(callwright.PhoneNumber(req.TransferPhoneNumber.Value), req.TransferPhoneNumber.Set),
		Webhook:      change(req.Webhook.Get()),
		Temperature:  change(req.Temperature.Get()),
		Interruption: pointerChange(fromMillis(req.InterruptionThreshold.Get()), req.InterruptionThreshold.Set),
		Tools:        change(toolTexts(req.Tools), req.Tools.Set),
		DynamicData:  change(dynamicData(req.DynamicData), req.DynamicData.Set),
	}
	if version, ok := req.PathwayVersion.Get(); ok {
		patch.PathwayVersion = callwright.Given(selectorOf(version, true))
	}
	return patch
}

// callPlan is what is to happen around the call.
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
