package agents

import (
	"context"
	"encoding/json"
	"strings"

	"github.com/callwright/callwright"
)

// The limits of web agents.
const (
	MaxAgents   = 1000     // of an organization; they are listed all at once
	MaxSettings = 64 << 10 // bytes of an agent's Metadata and VoiceSettings together, as JSON
)

// CreateAgent keeps a new web agent. Its id, times and version are set here. Either a task or a pathway leads it;
// CodeInvalidState when the organization has MaxAgents.
func (s *Service) CreateAgent(ctx context.Context, org callwright.OrgID, a WebAgent) (WebAgent, error) {
	now := s.Clock.Now()
	a.ID, a.Org, a.CreatedAt, a.UpdatedAt, a.Version = s.IDs.New(), org, now, now, 1
	if err := s.CheckWebAgent(ctx, org, &a); err != nil {
		return WebAgent{}, err
	}
	return a, s.Atomic.Do(ctx, func(ctx context.Context) error {
		n, err := s.WebAgents.CountAgents(ctx, org)
		if err != nil {
			return err
		}
		if n >= MaxAgents {
			return callwright.Errorf(callwright.CodeInvalidState, "there are %d web agents, and no more are possible", n)
		}
		return s.WebAgents.InsertAgent(ctx, a)
	})
}

// CheckWebAgent fills in an agent's defaults and refuses what no call could do. CreateAgent and UpdateAgent do so
// themselves; it is for those who want to know which of several changes is at fault.
func (s *Service) CheckWebAgent(ctx context.Context, org callwright.OrgID, a *WebAgent) error {
	if err := a.checkSettings(); err != nil {
		return err
	}
	switch led := a.Agent.Pathway.ID != ""; {
	case led && a.Agent.Task != "":
		return callwright.Invalid("prompt", "is not possible beside pathway_id: the pathway leads the agent")
	case !led && strings.TrimSpace(a.Agent.Task) == "":
		return callwright.Invalid("prompt", "is required without pathway_id: it says what the agent is there for")
	case s.Checker == nil:
		return nil
	default:
		return s.Checker.CheckAgent(ctx, org, &a.Agent)
	}
}

// checkSettings refuses what is too large to be kept beside the agent.
func (a *WebAgent) checkSettings() error {
	size := len(a.VoiceSettings)
	if size > MaxSettings {
		return callwright.Invalid("voice_settings", "has more than %d bytes", MaxSettings)
	}
	if len(a.Metadata) == 0 {
		return nil
	}
	metadata, err := json.Marshal(a.Metadata)
	if err == nil && size+len(metadata) > MaxSettings {
		return callwright.Invalid("metadata", "has, together with voice_settings, more than %d bytes of JSON", MaxSettings)
	}
	return err
}

// Agent is one web agent.
func (s *Service) Agent(ctx context.Context, org callwright.OrgID, id string) (WebAgent, error) {
	return s.WebAgents.Agent(ctx, org, id)
}

// ListAgents is all web agents of an organization, oldest first.
func (s *Service) ListAgents(ctx context.Context, org callwright.OrgID) ([]WebAgent, error) {
	return s.WebAgents.Agents(ctx, org)
}

// UpdateAgent changes a web agent. change sees the stored one and may change its settings; it may be called again when
// somebody else changes the agent meanwhile, and its error is given back as it is.
func (s *Service) UpdateAgent(
	ctx context.Context, org callwright.OrgID, id string, change func(*WebAgent) error,
) (a WebAgent, err error) {
	err = s.again(ctx, func(ctx context.Context) error {
		stored, err := s.WebAgents.Agent(ctx, org, id)
		if err != nil {
			return err
		}
		a = stored
		if err := change(&a); err != nil {
			return err
		}
		a.ID, a.Org, a.CreatedAt, a.UpdatedAt, a.Version = id, org, stored.CreatedAt, s.Clock.Now(), stored.Version
		if err := s.CheckWebAgent(ctx, org, &a); err != nil {
			return err
		}
		return s.WebAgents.UpdateAgent(ctx, a)
	})
	a.Version++
	return a, err
}

// DeleteAgent removes a web agent. Calls that it has made keep their records.
func (s *Service) DeleteAgent(ctx context.Context, org callwright.OrgID, id string) error {
	return s.WebAgents.DeleteAgent(ctx, org, id)
}
