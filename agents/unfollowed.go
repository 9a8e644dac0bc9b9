package agents

import (
	"context"

	"github.com/callwright/callwright"
	"github.com/callwright/callwright/agents/llm"
)

// Unfollowed returns a human-readable text if the agent's model cannot follow its task. The text lists the tasks that the model can follow.
// It is empty if the model follows the task, if the agent has no task, and if a pathway leads it.
func (a Agent) Unfollowed(m llm.Model) string {
	if a.Task == "" || a.Pathway.ID != "" {
		return ""
	}
	return llm.Unfollowed(m, a.Model, a.Task)
}

// Warnings returns human-readable warnings about settings that have no effect in calls: see Agent.Unfollowed. If the agent has a persona,
// Warnings examines the persona's version in production.
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

// Models returns the names by which agents can select a model, in alphabetical order, or nil if the server accepts every name.
func (s *Service) Models() []string {
	if s.cfg.Model == nil {
		return nil
	}
	return llm.Names(s.cfg.Model)
}
