package agents

import (
	"context"
	"encoding/json"
	"time"

	"github.com/callwright/callwright"
)

// WebAgent is an agent with an id, whose settings calls can use. A nil value is null in the contract, an empty list is not.
type WebAgent struct {
	ID            string
	Org           callwright.OrgID
	Agent         Agent           // its Language is stored as given
	VoiceSettings json.RawMessage // an object, stored as given; nil: null
	Keywords      []string        // stored as given
	Metadata      map[string]any
	CreatedAt     time.Time
	UpdatedAt     time.Time
	Version       int64
}

// The limits of web agents.
const (
	MaxAgents   = 1000     // of an organization; they fit into one page, unless they are large
	MaxSettings = 64 << 10 // bytes of an agent's Metadata and VoiceSettings together, as JSON
)

// setDefaults sets the defaults, without normalizing the language.
func (w *WebAgent) setDefaults() {
	given := w.Agent.Language
	w.Agent.setDefaults()
	w.Agent.Language = given
}

// checkSizes refuses too large settings beside the agent.
func (w *WebAgent) checkSizes(found *faultList) {
	size := len(w.VoiceSettings)
	if size > MaxSettings {
		found.add(callwright.Invalid("voice_settings", "must have at most %d bytes", MaxSettings))
		return
	}
	if len(w.Metadata) == 0 {
		return
	}
	metadata, err := json.Marshal(w.Metadata)
	found.add(err)
	found.addIf(size+len(metadata) > MaxSettings,
		"metadata", "must have at most %d bytes of JSON, voice_settings included", MaxSettings)
}

// lead sets the pathway of a web agent. It replaces the settings of an agent without one: the task, the first sentence, the model,
// the dynamic data and the tools.
func lead(a *Agent, ref PathwayRef) {
	a.Pathway = ref
	a.Task, a.FirstSentence, a.Model, a.DynamicData, a.Tools = "", "", "", nil, nil
}

// WebAgents stores web agents. agentstest.RunWebAgentStore tests it.
//
// Given and returned values share no memory with stored ones. They equal the stored values: a nil list stays nil, an empty one stays
// empty, and JSON keeps its values; the order of members and the spelling of numbers may change. Another organization's agent is absent.
// Tools, DynamicData and Webhook of an Agent are encrypted at rest: they may contain keys of other systems.
type WebAgents interface {
	// InsertAgent adds an agent with Version 1; CodeConflict when any organization's agent has the same id.
	InsertAgent(ctx context.Context, a WebAgent) error
	// Agent returns one agent; CodeNotFound when it is absent.
	Agent(ctx context.Context, org callwright.OrgID, id string) (WebAgent, error)
	// Agents returns up to limit of an organization's agents in the order of (CreatedAt, ID), after the keyset. The result ends
	// early, after the second or a later agent at which the total exceeds MaxRead bytes (WebAgent.Size).
	Agents(ctx context.Context, org callwright.OrgID, after callwright.Keyset, limit int) ([]WebAgent, error)
	// CountAgents returns the number of an organization's agents.
	CountAgents(ctx context.Context, org callwright.OrgID) (int, error)
	// UpdateAgent replaces an agent whose stored Version is a.Version and adds one to it; CodeConflict when the Version differs; of
	// concurrent calls with the same Version exactly one succeeds. CodeNotFound when it is absent.
	UpdateAgent(ctx context.Context, a WebAgent) error
	// DeleteAgent deletes an agent; CodeNotFound when it is absent.
	DeleteAgent(ctx context.Context, org callwright.OrgID, id string) error
}
