package agents

import (
	"context"

	"github.com/callwright/callwright"
	"github.com/callwright/callwright/agents/llm"
)

// Unfollowed returns, for people, that the model that an agent asks for does not follow its task, and what it would; empty: it
// does, or the agent has no task of its own or a pathway.
func (a Agent) Unfollowed(m llm.Model) string {
	if a.Task == "" || a.Task == defaultTask || a.Pathway.ID != "" {
		return "" // each model does as the default task says
	}
	return llm.Unfollowed(m, a.Model, a.Task)
}

// Warnings returns, for people, what of an agent's calls will not be as its settings say: see Agent.Unfollowed. An agent with
// a persona follows the version in production.
func (s *Service) Warnings(ctx context.Context, org callwright.OrgID, a Agent) (list []string) {
	if s.cfg.Model == nil {
		return nil
	}
	if led, err := s.byPersona(ctx, org, a); err == nil {
		a = led
	}
	if unfollowed := a.Unfollowed(s.cfg.Model); unfollowed != "" {
		list = append(list, unfollowed)
	}
	return list
}
