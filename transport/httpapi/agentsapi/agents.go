package agentsapi

import (
	"context"
	"encoding/json"
	"errors"

	"github.com/callwright/callwright"
	"github.com/callwright/callwright/agents"
	"github.com/callwright/callwright/agents/pathway"
	"github.com/callwright/callwright/transport/httpapi"
	"github.com/callwright/callwright/transport/httpapi/internal/agentwire"
	"github.com/callwright/callwright/transport/httpapi/internal/wire"
	oas "github.com/callwright/callwright/transport/oas/agentsoas"
)

// ListAgents serves GET /v1/agents. It returns a page of web agents.
func (a *api) ListAgents(ctx context.Context, params oas.ListAgentsParams) (*oas.WebAgentListReply, error) {
	after, err := callwright.ParseCursor(params.Cursor.Or(""))
	if err != nil {
		return nil, err
	}
	page, err := a.cfg.Agents.ListAgents(ctx, httpapi.Org(ctx), after, params.Limit.Or(0))
	if err != nil {
		return nil, err
	}
	answer := &oas.WebAgentListReply{
		Agents: make([]oas.WebAgent, len(page.Items)), NextCursor: wire.OptText(page.Next.Cursor()),
	}
	for i, w := range page.Items {
		if answer.Agents[i], err = webAgent(w); err != nil {
			return nil, err
		}
	}
	return answer, nil
}

// GetAgent serves GET /v1/agents/{agent_id}. It returns a web agent with warnings about its settings.
func (a *api) GetAgent(ctx context.Context, params oas.GetAgentParams) (*oas.WebAgentReply, error) {
	w, err := a.cfg.Agents.Agent(ctx, httpapi.Org(ctx), params.AgentID)
	if err != nil {
		return nil, err
	}
	record, err := webAgent(w)
	return &oas.WebAgentReply{Agent: record, Warnings: a.cfg.Agents.Warnings(ctx, w.Org, w.Agent)}, err
}

// CreateAgent serves POST /v1/agents. It creates a web agent.
func (a *api) CreateAgent(ctx context.Context, req *oas.WebAgentCreate) (*oas.WebAgentReply, error) {
	w, err := newWebAgent(req)
	if err != nil {
		return nil, err
	}
	if w, err = a.cfg.Agents.CreateAgent(ctx, httpapi.Org(ctx), w); err != nil {
		return nil, aboutPrompt(err)
	}
	httpapi.LogID(ctx, "agent_id", w.ID)
	a.noteVoiceSettings(ctx, req.VoiceSettings.Set, w.Agent)
	ignored, err := a.ignored(ctx, "voice", w.Agent.Voice, w.Agent.Language)
	if err != nil {
		return nil, err
	}
	record, err := webAgent(w)
	return &oas.WebAgentReply{Agent: record, Warnings: a.cfg.Agents.Warnings(ctx, w.Org, w.Agent), Ignored: ignored}, err
}

// ignored returns the members of the body that have no effect. They include the given field if an unknown voice was replaced.
func (a *api) ignored(ctx context.Context, field, voice, language string) (oas.IgnoredMembers, error) {
	if err := httpapi.NoteVoice(ctx, field, voice, language); err != nil {
		return nil, err
	}
	var list oas.IgnoredMembers
	for _, member := range httpapi.IgnoredMembers(ctx) {
		list = append(list, oas.IgnoredMember(member))
	}
	return list, nil
}

// noteVoiceSettings adds the voice settings that have no effect to the ignored members of the body, if the body contains voice settings.
func (a *api) noteVoiceSettings(ctx context.Context, given bool, agent agents.Agent) {
	if given {
		httpapi.IgnoreAll(ctx, a.cfg.Agents.IgnoredVoiceSettings(agent))
	}
}

// aboutPrompt renames the field of an error about the task to "prompt", its name in the contract.
func aboutPrompt(err error) error {
	if e, ok := errors.AsType[*callwright.Error](err); ok && e.Field == string(agents.SettingTask) {
		named := *e
		named.Field = "prompt"
		return &named
	}
	return err
}

// newWebAgent translates the body of CreateAgent.
func newWebAgent(req *oas.WebAgentCreate) (agents.WebAgent, error) {
	metadata, err := wire.Values("metadata", req.Metadata.Value)
	if err != nil {
		return agents.WebAgent{}, err
	}
	settings, err := agentwire.VoiceSettings(req.VoiceSettings.Value)
	if err != nil {
		return agents.WebAgent{}, err
	}
	data, err := agentwire.DynamicData(req.DynamicData)
	if err != nil {
		return agents.WebAgent{}, err
	}
	machines, err := agentwire.Machines(&req.Machines.Value)
	if err != nil {
		return agents.WebAgent{}, err
	}
	idle, err := agentwire.Idle(&req.Idle, req.Idle.Set)
	if err != nil {
		return agents.WebAgent{}, err
	}
	guide, err := agentwire.Pronunciations(req.PronunciationGuide)
	if err != nil {
		return agents.WebAgent{}, err
	}
	w := agents.WebAgent{
		Agent: agents.Agent{
			Task: req.Prompt.Or(""), Brain: req.BrainURL.Or(""), Voice: req.Voice.Or(""), Language: req.Language.Or(""), Model: req.Model.Or(""), Fallback: req.FallbackModel.Or(""),
			Temperature: wire.Ptr(req.Temperature.Get()), FirstSentence: req.FirstSentence.Or(""),
			MaxDuration: wire.Minutes(req.MaxDuration.Or(0)), Webhook: req.Webhook.Or(""),
			Interruption: wire.FromMillis(req.InterruptionThreshold.Get()), Interruptibility: wire.Ptr(req.Interruptibility.Get()),
			LeastWait: wire.FromMillisOr(req.MinEndpointingDelay.Get()), LongestWait: wire.FromMillisOr(req.MaxEndpointingDelay.Get()),
			Keywords: req.Keywords, Tools: wire.Items[json.RawMessage](req.Tools.Value), DynamicData: data, Machines: machines, Idle: idle.Value,
			VoiceSettings: settings, Pronunciation: guide, Background: agentwire.Background(req.BackgroundTrack.Value),
		},
		Metadata: metadata,
	}
	if req.PathwayID.Set {
		w.Agent.Pathway = agents.PathwayRef{ID: wire.ID(req.PathwayID.Value), Version: pathway.Selector{Environment: pathway.Production}}
	}
	return w, nil
}

// UpdateAgent serves POST /v1/agents/{agent_id}. It changes the settings that are valid, and reports the refused ones.
func (a *api) UpdateAgent(
	ctx context.Context, req *oas.WebAgentUpdate, params oas.UpdateAgentParams,
) (*oas.UpdateReply, error) {
	req.PathwayID.Value = wire.ID(req.PathwayID.Value)
	patch, err := agentPatch(req)
	if err != nil {
		return nil, err
	}
	w, report, err := a.cfg.Agents.UpdateAgent(ctx, httpapi.Org(ctx), params.AgentID, patch)
	if err != nil {
		return nil, err
	}
	a.noteVoiceSettings(ctx, req.VoiceSettings.Set, w.Agent)
	ignored, err := a.ignored(ctx, "voice", req.Voice.Value, req.Language.Value)
	if err != nil {
		return nil, err
	}
	answer, err := updateReport("Agent updated.", a.cfg.Agents.Warnings(ctx, w.Org, w.Agent), ignored, report, []member{
		{"prompt", agents.SettingTask, req.Prompt}, {"pathway_id", agents.SettingPathway, req.PathwayID},
		{"brain_url", agents.SettingBrain, req.BrainURL}, {"voice", agents.SettingVoice, req.Voice}, {"webhook", agents.SettingWebhook, req.Webhook},
		{"language", agents.SettingLanguage, req.Language}, {"model", agents.SettingModel, req.Model},
		{"fallback_model", agents.SettingFallback, req.FallbackModel},
		{"first_sentence", agents.SettingFirstSentence, req.FirstSentence},
		{"dynamic_data", agents.SettingDynamicData, req.DynamicData}, {"tools", agents.SettingTools, req.Tools},
		{"temperature", agents.SettingTemperature, req.Temperature},
		{"interruption_threshold", agents.SettingInterruption, req.InterruptionThreshold},
		{"interruptibility", agents.SettingInterruptibility, req.Interruptibility},
		{"machines", agents.SettingMachines, req.Machines},
		{"min_endpointing_delay", agents.SettingLeastWait, req.MinEndpointingDelay},
		{"max_endpointing_delay", agents.SettingLongestWait, req.MaxEndpointingDelay},
		{"idle", agents.SettingIdle, req.Idle},
		{"max_duration", agents.SettingMaxDuration, req.MaxDuration},
		{"voice_settings", agents.SettingVoiceSettings, req.VoiceSettings},
		{"pronunciation_guide", agents.SettingPronunciation, req.PronunciationGuide},
		{"background_track", agents.SettingBackground, req.BackgroundTrack},
		{"keywords", agents.SettingKeywords, req.Keywords}, {"metadata", agents.SettingMetadata, req.Metadata},
	})
	if err == nil {
		noteRefusals(answer)
	}
	return answer, err
}

// agentPatch translates the body of UpdateAgent.
func agentPatch(req *oas.WebAgentUpdate) (agents.WebAgentPatch, error) {
	metadata, err := wire.Values("metadata", req.Metadata.Value)
	if err != nil {
		return agents.WebAgentPatch{}, err
	}
	voiceSettings, err := agentwire.VoiceSettings(req.VoiceSettings.Value)
	if err != nil {
		return agents.WebAgentPatch{}, err
	}
	data, err := agentwire.DynamicData(req.DynamicData)
	if err != nil {
		return agents.WebAgentPatch{}, err
	}
	machines, err := agentwire.Machines(&req.Machines.Value)
	if err != nil {
		return agents.WebAgentPatch{}, err
	}
	idle, err := agentwire.Idle(&req.Idle, req.Idle.Set)
	if err != nil {
		return agents.WebAgentPatch{}, err
	}
	guide, err := agentwire.Pronunciations(req.PronunciationGuide)
	if err != nil {
		return agents.WebAgentPatch{}, err
	}
	return agents.WebAgentPatch{
		Patch: agents.Patch{
			Task: wire.Change(req.Prompt.Value, req.Prompt.Set), Pathway: wire.Change(req.PathwayID.Value, req.PathwayID.Set),
			Brain: wire.Change(req.BrainURL.Value, req.BrainURL.Set),
			Voice: wire.Change(req.Voice.Value, req.Voice.Set), Webhook: wire.Change(req.Webhook.Value, req.Webhook.Set),
			Language: wire.Change(req.Language.Value, req.Language.Set), Model: wire.Change(req.Model.Value, req.Model.Set),
			Fallback:         wire.Change(req.FallbackModel.Value, req.FallbackModel.Set),
			FirstSentence:    wire.Change(req.FirstSentence.Value, req.FirstSentence.Set),
			DynamicData:      wire.Change(data, req.DynamicData.Set),
			Machines:         wire.Change(machines, req.Machines.Set),
			Keywords:         wire.Change(req.Keywords.Value, req.Keywords.Set),
			Idle:             idle,
			Tools:            wire.Change(wire.Items[json.RawMessage](req.Tools.Value), req.Tools.Set),
			Temperature:      wire.PtrChange(wire.Ptr(req.Temperature.Get()), req.Temperature.Set),
			Interruption:     wire.PtrChange(wire.FromMillis(req.InterruptionThreshold.Get()), req.InterruptionThreshold.Set),
			MaxDuration:      wire.Change(wire.Minutes(req.MaxDuration.Value), req.MaxDuration.Set),
			Interruptibility: wire.PtrChange(wire.Ptr(req.Interruptibility.Get()), req.Interruptibility.Set),
			VoiceSettings:    wire.Change(voiceSettings, req.VoiceSettings.Set),
			Pronunciation:    wire.Change(guide, req.PronunciationGuide.Set),
			Background:       wire.Change(agentwire.Background(req.BackgroundTrack.Value), req.BackgroundTrack.Set),
			LeastWait:        wire.PtrChange(wire.FromMillis(req.MinEndpointingDelay.Get()), req.MinEndpointingDelay.Set),
			LongestWait:      wire.PtrChange(wire.FromMillis(req.MaxEndpointingDelay.Get()), req.MaxEndpointingDelay.Set),
		},
		Metadata: wire.Change(metadata, req.Metadata.Set),
	}, nil
}

// DeleteAgent serves POST /v1/agents/{agent_id}/delete. It deletes a web agent.
func (a *api) DeleteAgent(ctx context.Context, params oas.DeleteAgentParams) (*oas.MessageReply, error) {
	return a.deleted(ctx, params.AgentID)
}

// RemoveAgent serves DELETE /v1/agents/{agent_id}. It does the same as DeleteAgent.
func (a *api) RemoveAgent(ctx context.Context, params oas.RemoveAgentParams) (*oas.MessageReply, error) {
	return a.deleted(ctx, params.AgentID)
}

func (a *api) deleted(ctx context.Context, id string) (*oas.MessageReply, error) {
	if err := a.cfg.Agents.DeleteAgent(ctx, httpapi.Org(ctx), id); err != nil {
		return nil, err
	}
	return &oas.MessageReply{Status: oas.SuccessStatusSuccess, Message: "Agent deleted."}, nil
}

// webAgent translates a web agent. Unset members are null, or empty where the contract forbids null. Members that the contract adds to the
// original specification are present only if they are set.
func webAgent(w agents.WebAgent) (oas.WebAgent, error) {
	metadata, err := wire.Raw(w.Metadata)
	if err != nil {
		return oas.WebAgent{}, err
	}
	data, err := agentwire.DynamicDataList[oas.DynamicDataList](w.Agent.DynamicData)
	if err != nil {
		return oas.WebAgent{}, err
	}
	answer := oas.WebAgent{
		AgentID: w.ID, Prompt: w.Agent.Task, Voice: w.Agent.Voice, Language: w.Agent.Language, Model: w.Agent.Model, FallbackModel: wire.OptText(w.Agent.Fallback),
		Webhook: wire.NilText(w.Agent.Webhook), FirstSentence: wire.NilText(w.Agent.FirstSentence),
		DynamicData: data, Tools: wire.Items[oas.AgentTool](w.Agent.Tools),
		InterruptionThreshold: nilMillis(w.Agent.Interruption),
		Interruptibility:      wire.OptPtr(w.Agent.Interruptibility),
		MinEndpointingDelay:   wire.OptMillis(w.Agent.LeastWait),
		MaxEndpointingDelay:   wire.OptMillis(w.Agent.LongestWait),
		Temperature:           wire.NilPtr(w.Agent.Temperature),
		MaxDuration:           w.Agent.MaxDuration.Minutes(),
		PathwayID:             oas.OptNilString{Value: w.Agent.Pathway.ID, Set: w.Agent.Pathway.ID != ""},
		BrainURL:              oas.OptNilString{Value: w.Agent.Brain, Set: w.Agent.Brain != ""},
		Metadata:              oas.OptMetadata{Value: metadata, Set: len(metadata) > 0},
		Keywords:              w.Agent.Keywords,
	}
	if answer.Machines.Value, answer.Machines.Set, err = agentwire.MachineOptions[oas.MachineOptions](w.Agent.Machines); err != nil {
		return answer, err
	}
	if answer.Idle.Value, answer.Idle.Set, err = agentwire.IdleOptions[oas.IdleOptions](w.Agent.Idle); err != nil {
		return answer, err
	}
	answer.VoiceSettings, err = voiceSettings(w.Agent)
	if err != nil {
		return answer, err
	}
	if w.Agent.Background != "" {
		answer.BackgroundTrack = wire.OptNilText(string(w.Agent.Background))
	}
	if w.Agent.Pronunciation != nil {
		answer.PronunciationGuide.Set = true
		answer.PronunciationGuide.Value, err = agentwire.PronunciationGuide[oas.PronunciationGuide](w.Agent.Pronunciation)
	}
	return answer, err
}

// voiceSettings returns the voice settings of an agent, or null if it has none.
func voiceSettings(a agents.Agent) (settings oas.NilVoiceSettings, err error) {
	if a.VoiceSettings == "" {
		return oas.NilVoiceSettings{Null: true}, nil
	}
	return settings, json.Unmarshal([]byte(a.VoiceSettings), &settings.Value)
}
