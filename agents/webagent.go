package agents

import (
	"context"
	"encoding/json"
	"time"

	"github.com/callwright/callwright"
	"github.com/callwright/callwright/speech/tts"
)

// WebAgent is a stored agent with an id that calls can name. In the contract, a nil value is null, but an empty list stays a list.
type WebAgent struct {
	ID        string
	Org       callwright.OrgID
	Agent     Agent // Language is stored as given
	Metadata  map[string]any
	CreatedAt time.Time
	UpdatedAt time.Time
	Version   int64
}

// The limits of web agents.
const (
	MaxAgents   = 1000            // per organization; one page holds all of them, unless they are large
	MaxSettings = tts.MaxSettings // bytes of an agent's Metadata and Agent.VoiceSettings together, as JSON
)

// setDefaults sets the agent's defaults, without normalizing the language.
func (w *WebAgent) setDefaults() {
	given := w.Agent.Language
	w.Agent.setDefaults()
	w.Agent.Language = given
}

// checkSizes refuses Metadata that exceeds MaxSettings together with Agent.VoiceSettings.
func (w *WebAgent) checkSizes(found *faultList) {
	size := len(w.Agent.VoiceSettings)
	if size > MaxSettings || len(w.Metadata) == 0 { // checkTexts refuses too large VoiceSettings
		return
	}
	metadata, err := json.Marshal(w.Metadata)
	found.add(err)
	found.addIf(size+len(metadata) > MaxSettings,
		"metadata", "must have at most %d bytes of JSON, voice_settings included", MaxSettings)
}

// lead sets the pathway of a web agent. It clears the settings that apply only to an agent without a pathway: the task, the first sentence,
// the model, the dynamic data and the tools.
func lead(a *Agent, ref PathwayRef) {
	a.Pathway = ref
	a.Task, a.FirstSentence, a.Model, a.DynamicData, a.Tools = "", "", "", nil, nil
}

// WebAgents stores web agents. agentstest.RunWebAgentStore tests it.
//
// Given and returned values share no memory with stored values. Returned values equal the stored values: a nil list stays nil, an empty
// list stays empty. JSON keeps its values, but the order of members and the spelling of numbers may change. Another organization's agent
// counts as absent. Tools, DynamicData and Webhook of an Agent are encrypted at rest: they may contain keys of other systems.
type WebAgents interface {
	// InsertAgent adds an agent with Version 1. It returns CodeConflict if an agent of any organization has the same id.
	InsertAgent(ctx context.Context, a WebAgent) error
	// Agent returns one agent. It returns CodeNotFound if the agent is absent.
	Agent(ctx context.Context, org callwright.OrgID, id string) (WebAgent, error)
	// Agents returns up to limit agents of an organization after the keyset, in the order of (CreatedAt, ID). It adds the sizes of the
	// agents (WebAgent.Size), and stops after the agent with which the sum exceeds MaxRead, but never before the second agent.
	Agents(ctx context.Context, org callwright.OrgID, after callwright.Keyset, limit int) ([]WebAgent, error)
	// CountAgents returns the number of an organization's agents.
	CountAgents(ctx context.Context, org callwright.OrgID) (int, error)
	// UpdateAgent replaces an agent whose stored Version is a.Version, and increments the Version. It returns CodeConflict if the Version
	// differs, and CodeNotFound if the agent is absent. Of concurrent calls with the same Version, exactly one succeeds.
	UpdateAgent(ctx context.Context, a WebAgent) error
	// DeleteAgent deletes an agent. It returns CodeNotFound if the agent is absent.
	DeleteAgent(ctx context.Context, org callwright.OrgID, id string) error
}
