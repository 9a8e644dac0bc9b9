package httpapi

import (
	"context"
	"encoding/json"

	"github.com/callwright/callwright/agents"
	"github.com/callwright/callwright/agents/call"
	"github.com/callwright/callwright/transport/oas"
)

// ListAgents is all web agents.
func (a *api) ListAgents(ctx context.Context) (*oas.WebAgentListReply, error) {
	list, err := a.Agents.ListAgents(ctx, orgOf(ctx))
	if err != nil {
		return nil, err
	}
	answer := &oas.WebAgentListReply{Agents: make([]oas.WebAgent, len(list))}
	for i, w := range list {
		if answer.Agents[i], err = webAgent(w); err != nil {
			return nil, err
		}
	}
	return answer, nil
}

// CreateAgent stores a web agent.
func (a *api) CreateAgent(ctx context.Context, req *oas.WebAgentCreate) (*oas.WebAgentReply, error) {
	w, err := newWebAgent(req)
	if err != nil {
		return nil, err
	}
	if err := a.checkWebAgent(ctx, &w); err != nil {
		return nil, err
	}
	if w, err = a.Agents.CreateAgent(ctx, orgOf(ctx), w); err != nil {
		return nil, err
	}
	record, err := webAgent(w)
	return &oas.WebAgentReply{Agent: record}, err
}

// newWebAgent is the body of CreateAgent in the domain's words.
func newWebAgent(req *oas.WebAgentCreate) (agents.WebAgent, error) {
	metadata, err := valuesOf(req.Metadata.Value)
	if err != nil {
		return agents.WebAgent{}, err
	}
	settings, err := objectText(req.VoiceSettings.Value)
	if err != nil {
		return agents.WebAgent{}, err
	}
	w := agents.WebAgent{
		Agent: call.Agent{
			Task: req.Prompt.Or(""), Voice: req.Voice.Or(""), Language: req.Language.Or(""), Model: req.Model.Or(""),
			Temperature: optional(req.Temperature.Get()), FirstSentence: req.FirstSentence.Or(""),
			MaxDuration: minutes(req.MaxDuration.Or(0)), Webhook: req.Webhook.Or(""),
			Interruption: fromMillis(req.InterruptionThreshold.Get()),
			Tools:        toolTexts(req.Tools), DynamicData: dynamicData(req.DynamicData),
		},
		VoiceSettings: settings, Keywords: req.Keywords, Metadata: metadata,
	}
	if req.PathwayID.Set {
		w.Agent.Pathway = call.PathwayRef{ID: req.PathwayID.Value, Version: selectorOf(oas.PathwayVersionSelector{}, false)}
	}
	return w, nil
}

// checkWebAgent is checkAgent for a web agent.
func (a *api) checkWebAgent(ctx context.Context, w *agents.WebAgent) error {
	if err := a.Agents.CheckWebAgent(ctx, orgOf(ctx), w); err != nil {
		return err
	}
	return a.checkAgent(ctx, &w.Agent)
}

// UpdateAgent changes a web agent, setting by setting: one that is refused leaves the others be.
func (a *api) UpdateAgent(
	ctx context.Context, req *oas.WebAgentUpdate, params oas.UpdateAgentParams,
) (*oas.UpdateReply, error) {
	list, err := agentSettings(req)
	if err != nil {
		return nil, err
	}
	var answer *oas.UpdateReply
	err = a.Atomic.Do(ctx, func(ctx context.Context) error { // the checks read in the transaction of the change
		_, err := a.Agents.UpdateAgent(ctx, orgOf(ctx), params.AgentID, func(w *agents.WebAgent) error {
			answer = updated("Agent updated.")
			return list.make(w, func(w *agents.WebAgent) error { return a.checkWebAgent(ctx, w) }, answer)
		})
		return err
	})
	return answer, err
}

// agentSettings lists the members that are given.
func agentSettings(req *oas.WebAgentUpdate) (settings, error) {
	metadata, err := valuesOf(req.Metadata.Value)
	if err != nil {
		return nil, err
	}
	voiceSettings, err := objectText(req.VoiceSettings.Value)
	if err != nil {
		return nil, err
	}
	var s settings
	s.leader(req.Prompt, req.PathwayID, oas.OptNilPathwayVersionSelector{}, agents.SetPathway)
	s.text("voice", req.Voice, func(agent *call.Agent) *string { return &agent.Voice })
	s.text("webhook", req.Webhook, func(agent *call.Agent) *string { return &agent.Webhook })
	s.text("language", req.Language, func(agent *call.Agent) *string { return &agent.Language })
	s.text("model", req.Model, func(agent *call.Agent) *string { return &agent.Model })
	s.text("first_sentence", req.FirstSentence, func(agent *call.Agent) *string { return &agent.FirstSentence })
	s.common(commonSettings{
		dynamicData: req.DynamicData, tools: req.Tools, temperature: req.Temperature,
		interruption: req.InterruptionThreshold, maxDuration: req.MaxDuration,
	})
	s.add(req.VoiceSettings.Set, "voice_settings", req.VoiceSettings, func(w *agents.WebAgent) { w.VoiceSettings = voiceSettings })
	s.add(req.Keywords.Set, "keywords", req.Keywords, func(w *agents.WebAgent) { w.Keywords = req.Keywords.Value })
	s.add(req.Metadata.Set, "metadata", req.Metadata, func(w *agents.WebAgent) { w.Metadata = metadata })
	return s, nil
}

// DeleteAgent removes a web agent.
func (a *api) DeleteAgent(ctx context.Context, params oas.DeleteAgentParams) (*oas.MessageReply, error) {
	if err := a.Agents.DeleteAgent(ctx, orgOf(ctx), params.AgentID); err != nil {
		return nil, err
	}
	return &oas.MessageReply{Status: oas.SuccessStatusSuccess, Message: "Agent deleted."}, nil
}

// webAgent is a web agent as clients see it. What is not set is null, or empty where the contract has no null; what the
// specification's record does not have is there only when it is set.
func webAgent(w agents.WebAgent) (oas.WebAgent, error) {
	metadata, err := rawOf(w.Metadata)
	if err != nil {
		return oas.WebAgent{}, err
	}
	answer := oas.WebAgent{
		AgentID: w.ID, Prompt: w.Agent.Task, Voice: w.Agent.Voice, Language: w.Agent.Language, Model: w.Agent.Model,
		Webhook: nilText(w.Agent.Webhook), FirstSentence: nilText(w.Agent.FirstSentence),
		DynamicData: dynamicDataList(w.Agent.DynamicData), Tools: itemsAs[oas.AgentTool](w.Agent.Tools),
		InterruptionThreshold: nilMillis(w.Agent.Interruption),
		Temperature:           nilNumber(w.Agent.Temperature),
		MaxDuration:           w.Agent.MaxDuration.Minutes(),
		PathwayID:             oas.OptNilString{Value: w.Agent.Pathway.ID, Set: w.Agent.Pathway.ID != ""},
		Metadata:              oas.OptMetadata{Value: metadata, Set: len(metadata) > 0},
		Keywords:              w.Keywords,
	}
	answer.VoiceSettings.SetToNull()
	if w.VoiceSettings != nil {
		answer.VoiceSettings.Null = false
		err = json.Unmarshal(w.VoiceSettings, &answer.VoiceSettings.Value)
	}
	return answer, err
}

// objectText is a free object as JSON; nil for null.
func objectText(object oas.VoiceSettings) (json.RawMessage, error) {
	if object == nil {
		return nil, nil
	}
	return object.MarshalJSON()
}
