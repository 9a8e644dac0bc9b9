package call

import "github.com/callwright/callwright/agents/llm"

// TaskLimits returns, for people, that this server's model does not follow a task in free text, and what it follows instead;
// empty: it follows any task.
func (s *Service) TaskLimits() string {
	if s.cfg.NewBrain != nil {
		return "" // the program's own brain may use another model
	}
	return llm.Unfollowed(s.cfg.Model, "")
}

// Unfollowed returns, for people, that the task of a call is not followed, and what would be; empty: it is, or something else
// leads the call.
func (s *Service) Unfollowed(c Call) string {
	switch {
	case c.Agent.Task == "" || c.Agent.Pathway.ID != "" || s.cfg.NewBrain != nil:
		return ""
	case c.ModelUsed != "" && c.ModelUsed != s.cfg.Model.Name():
		return "" // a model of the time led it
	default:
		return llm.Unfollowed(s.cfg.Model, c.Agent.Task)
	}
}
