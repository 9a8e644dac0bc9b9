package httpapi

import (
	"context"
	"time"

	"github.com/callwright/callwright"
	"github.com/callwright/callwright/agents/call"
	"github.com/callwright/callwright/transport/oas"
)

// callRequest is the body of CreateCall in the domain's words.
func (a *api) callRequest(ctx context.Context, req *oas.CallCreate) (call.Request, error) {
	agent, err := a.callAgent(ctx, req)
	if err != nil {
		return call.Request{}, err
	}
	data, err := valuesOf(req.RequestData.Value)
	if err != nil {
		return call.Request{}, err
	}
	metadata, err := valuesOf(req.Metadata.Value)
	return call.Request{
		From: req.From.Or(""), To: req.PhoneNumber, Agent: agent, Plan: callPlan(req),
		StartAt: optional(req.StartTime.Get()), RequestData: data, Metadata: metadata,
	}, err
}

// callAgent is the agent of a call: a web agent where one is named, with what is given beside it.
func (a *api) callAgent(ctx context.Context, req *oas.CallCreate) (call.Agent, error) {
	if req.Task.Set && req.PathwayID.Set {
		return call.Agent{}, callwright.Invalid("task", "task and pathway_id exclude each other")
	}
	var agent call.Agent
	if req.AgentID.Set {
		if a.Agents == nil {
			return call.Agent{}, notBuilt("agent_id")
		}
		w, err := a.Agents.Agent(ctx, orgOf(ctx), req.AgentID.Value)
		if err != nil {
			return call.Agent{}, callwright.InField("agent_id", err)
		}
		agent = w.Agent
		agent.Language = languageTag(agent.Language)
	}
	setLeader(&agent, req)
	override(&agent.Persona, req.Persona.Value, req.Persona.Set)
	override(&agent.Voice, req.Voice.Value, req.Voice.Set)
	override(&agent.Language, languageTag(req.Language.Value), req.Language.Set)
	override(&agent.Model, req.Model.Value, req.Model.Set)
	override(&agent.FirstSentence, req.FirstSentence.Value, req.FirstSentence.Set)
	override(&agent.WaitForGreeting, req.WaitForGreeting.Value, req.WaitForGreeting.Set)
	override(&agent.Record, req.Record.Value, req.Record.Set)
	override(&agent.MaxDuration, minutes(req.MaxDuration.Value), req.MaxDuration.Set)
	override(&agent.TransferTo, callwright.PhoneNumber(req.TransferPhoneNumber.Value), req.TransferPhoneNumber.Set)
	override(&agent.Webhook, req.Webhook.Value, req.Webhook.Set)
	override(&agent.Temperature, optional(req.Temperature.Get()), req.Temperature.Set)
	override(&agent.Interruption, fromMillis(req.InterruptionThreshold.Get()), req.InterruptionThreshold.Set)
	override(&agent.Tools, toolTexts(req.Tools), req.Tools.Set)
	override(&agent.DynamicData, dynamicData(req.DynamicData), req.DynamicData.Set)
	return agent, nil
}

// override sets a setting that is given.
func override[T any](setting *T, value T, given bool) {
	if given {
		*setting = value
	}
}

// setLeader sets what leads the conversation. A task takes the place of a pathway, and the other way round.
func setLeader(agent *call.Agent, req *oas.CallCreate) {
	switch {
	case req.Task.Set:
		agent.Task, agent.Pathway = req.Task.Value, call.PathwayRef{}
	case req.PathwayID.Set:
		agent.Task, agent.Pathway = "", call.PathwayRef{ID: req.PathwayID.Value, Version: selectorOf(req.PathwayVersion.Get())}
	}
	override(&agent.Pathway.Version, selectorOf(req.PathwayVersion.Get()), req.PathwayVersion.Set)
	override(&agent.Pathway.StartNode, req.StartNodeID.Value, req.StartNodeID.Set)
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
