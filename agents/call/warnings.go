package call

import (
	"strings"

	"github.com/callwright/callwright/agents/llm"
)

// TaskLimits returns, for people, that this server's model does not follow a task in free text, and what it follows instead;
// empty: it follows any task.
func (s *Service) TaskLimits() string {
	if s.cfg.NewBrain != nil {
		return "" // the program's own brain may use another model
	}
	return llm.Unfollowed(s.cfg.Model, "", "")
}

// Warnings returns, for people, what of a call will not be, or was not, as its request may expect: a task that is not followed, and
// a summary or a disposition that nothing makes.
func (s *Service) Warnings(c Call) (list []string) {
	if s.cfg.NewBrain == nil && (c.ModelUsed == "" || c.ModelUsed == s.cfg.Model.Name()) { // otherwise something else led it
		if unfollowed := c.Agent.Unfollowed(s.cfg.Model); unfollowed != "" {
			list = append(list, unfollowed)
		}
	}
	if c.Analysis != (Analysis{}) {
		return list // the record says what came of it
	}
	var wanted []string
	if c.Plan.SummaryPrompt != "" {
		wanted = append(wanted, "a summary")
	}
	if len(c.Plan.Dispositions) > 0 {
		wanted = append(wanted, "a disposition")
	}
	if unanswered := llm.Unanswered(s.cfg.Model, c.Agent.Model, llm.TaskAnalyze); unanswered != "" && len(wanted) > 0 {
		list = append(list, "the call gets no analysis ("+strings.Join(wanted, " and ")+"): "+unanswered)
	}
	return list
}
