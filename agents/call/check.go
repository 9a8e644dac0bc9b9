package call

import (
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/callwright/callwright"
	"github.com/callwright/callwright/agents"
)

// The limits of a Plan.
const (
	MaxDispositions = 50             // per plan
	MaxDisposition  = 100            // characters per disposition
	MaxMessage      = 5000           // characters of Voicemail.Message
	MaxSummary      = 1999           // characters of Plan.SummaryPrompt
	ShortestRetry   = time.Second    // minimum of Retry.Wait
	LongestRetry    = 24 * time.Hour // maximum of Retry.Wait
)

// checkParts refuses an agent with Record or Webhook if this server lacks the port for it.
func (s *Service) checkParts(a agents.Agent) error {
	_, unrecorded := s.cfg.Recordings.(noRecordings)
	_, untold := s.cfg.Notifier.(noNotifier)
	switch {
	case a.Record && unrecorded:
		return errNoFiles
	case a.Webhook != "" && untold:
		return errNoWebhooks
	}
	return nil
}

// checkPlan refuses a plan that contains an invalid value, that requires a webhook which the agent lacks, or that requires a port which
// this server lacks.
func (s *Service) checkPlan(p Plan, a agents.Agent) error {
	if err := s.checkVoicemail(p.Voicemail, "voicemail.action", "voicemail.message"); err != nil {
		return err
	}
	if s.cfg.AMD == nil && a.Machines != (agents.Machines{}) {
		return callwright.Errorf(callwright.CodeUnavailable, "answering machine detection is not available on this server, and machines needs it")
	}
	if r := p.Retry; r != nil {
		if r.Wait < ShortestRetry || r.Wait > LongestRetry {
			return callwright.Invalid("retry.wait", "must be from %d to %d seconds",
				int(ShortestRetry.Seconds()), int(LongestRetry.Seconds()))
		}
		if err := s.checkVoicemail(r.Voicemail, "retry.voicemail_action", "retry.voicemail_message"); err != nil {
			return err
		}
	}
	switch {
	case len(p.Dispositions) > MaxDispositions:
		return callwright.Invalid("dispositions", "must have at most %d items", MaxDispositions)
	case callwright.Longer(p.SummaryPrompt, MaxSummary):
		return callwright.Invalid("summary_prompt", "must have at most %d characters", MaxSummary)
	case len(p.Events) > 0 && a.Webhook == "":
		return callwright.Invalid("webhook_events", "can be set only together with webhook")
	}
	for i, d := range p.Dispositions {
		if strings.TrimSpace(d) == "" || callwright.Longer(d, MaxDisposition) || slices.Contains(p.Dispositions[:i], d) {
			return callwright.Invalid(fmt.Sprintf("dispositions[%d]", i),
				"must be unique, non-empty and at most %d characters", MaxDisposition)
		}
	}
	for i, e := range p.Events {
		if !slices.Contains(eventCategories, e) {
			return callwright.Invalid(fmt.Sprintf("webhook_events[%d]", i), "must be one of %v", eventCategories)
		}
	}
	return nil
}

// checkVoicemail checks a reaction to answering machines. action and message are the field names for its errors.
func (s *Service) checkVoicemail(v Voicemail, action, message string) error {
	switch v.Action {
	case "", VoicemailIgnore:
	case VoicemailHangup, VoicemailMessage:
		if s.cfg.AMD == nil {
			return callwright.Errorf(callwright.CodeUnavailable, "answering machine detection is not available on this server: the voicemail action must be %s", VoicemailIgnore)
		}
	default:
		return callwright.Invalid(action, "must be %s, %s or %s", VoicemailHangup, VoicemailMessage, VoicemailIgnore)
	}
	switch {
	case v.Action == VoicemailMessage && strings.TrimSpace(v.Message) == "":
		return callwright.Invalid(message, "is required to leave a message")
	case callwright.Longer(v.Message, MaxMessage):
		return callwright.Invalid(message, "must have at most %d characters", MaxMessage)
	}
	return nil
}
