package call

import (
	"strings"

	"github.com/callwright/callwright"
	"github.com/callwright/callwright/agents/conversation"
	"github.com/callwright/callwright/agents/llm"
)

// TaskLimits returns a human-readable text if this server's model does not follow tasks in free text. The text is empty if the model
// follows every task, or if Config.NewBrain is set.
func (s *Service) TaskLimits() string {
	if s.cfg.NewBrain != nil {
		return "" // the program's own brain may use another model
	}
	return llm.Unfollowed(s.cfg.Model, "", "")
}

// UsesKeywords reports whether the keywords of agents have an effect, because the recognizer can use them.
func (s *Service) UsesKeywords() bool {
	user, ok := s.cfg.Recognizer.(conversation.KeywordUser)
	return ok && user.UsesKeywords()
}

// Warnings returns human-readable warnings about settings of a call's request that have no effect: a task that the model does not follow,
// keywords that the recognizer does not use, voice settings that the speech engine does not change, and a summary or a disposition that no model produces.
func (s *Service) Warnings(c Call) (list []string) {
	if s.cfg.NewBrain == nil && (c.ModelUsed == "" || c.ModelUsed == s.cfg.Model.Name()) { // otherwise another model led the call
		if unfollowed := c.Agent.Unfollowed(s.cfg.Model); unfollowed != "" {
			list = append(list, unfollowed)
		}
	}
	if len(c.Agent.Terms()) > 0 && !s.UsesKeywords() {
		list = append(list, "the keywords have no effect: this server's recognizer cannot use any")
	}
	for _, ignored := range s.IgnoredVoiceSettings(c) {
		list = append(list, ignored.Field+" has no effect: "+ignored.Message)
	}
	if c.Analysis != (Analysis{}) {
		return list // the analysis was attempted: Analysis contains the result or the error
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

// IgnoredVoiceSettings returns the members of the voice settings of a call's agent that have no effect on this server: see
// agents.Agent.IgnoredVoiceSettings.
func (s *Service) IgnoredVoiceSettings(c Call) callwright.FieldErrors {
	return c.Agent.IgnoredVoiceSettings(s.cfg.Voices)
}
