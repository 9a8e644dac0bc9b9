package call

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/callwright/callwright"
	"github.com/callwright/callwright/agents/conversation"
	"github.com/callwright/callwright/agents/pathway"
	"github.com/callwright/callwright/agents/tool"
)

// Bounds of what an agent and a plan may be, in bytes where they are of texts.
const (
	MaxTask         = 100_000
	MaxPersona      = 32 << 10
	MaxInterruption = 10 * time.Second
	MaxDynamicData  = 20
	MaxRequests     = 256 << 10 // of Agent.Tools and Agent.DynamicData together, as JSON
	MaxDispositions = 50
	MaxDisposition  = 100
	MaxSummary      = 1999 // of Plan.SummaryPrompt
	ShortestRetry   = time.Second
	LongestRetry    = 24 * time.Hour
)

// CheckAgent fills in an agent's defaults and refuses what no call could do; the error names the field as the /v1
// contract does. An agent that answers calls may be without a task and without a pathway.
func (s *Service) CheckAgent(ctx context.Context, org callwright.OrgID, a *Agent) error {
	if err := a.checkTexts(); err != nil {
		return err
	}
	if err := s.checkEngines(a); err != nil {
		return err
	}
	if a.MaxDuration == 0 {
		a.MaxDuration = DefaultMaxDuration
	}
	if a.TransferTo != "" {
		to, err := callwright.ParsePhoneNumber(a.TransferTo.String())
		if err != nil {
			return callwright.InField("transfer_phone_number", err)
		}
		a.TransferTo = to
	}
	if a.Webhook != "" {
		if err := s.Notifier.CheckURL(a.Webhook); err != nil {
			return callwright.InField("webhook", err)
		}
	}
	if err := s.checkRequests(a); err != nil {
		return err
	}
	return s.checkPathway(ctx, org, a.Pathway)
}

// checkTexts checks what needs nobody's help.
func (a *Agent) checkTexts() error {
	switch {
	case a.Task != "" && a.Pathway.ID != "":
		return callwright.Invalid("task", "task and pathway_id exclude each other: either says what the agent is there for")
	case a.Task != "" && strings.TrimSpace(a.Task) == "":
		return callwright.Invalid("task", "says nothing")
	case len(a.Task) > MaxTask:
		return callwright.Invalid("task", "has more than %d bytes", MaxTask)
	case len(a.Persona) > MaxPersona:
		return callwright.Invalid("persona", "has more than %d bytes", MaxPersona)
	case len(a.FirstSentence) > conversation.MaxSpeech:
		return callwright.Invalid("first_sentence", "has more than %d bytes", conversation.MaxSpeech)
	case a.MaxDuration < 0 || a.MaxDuration > LongestCall:
		return callwright.Invalid("max_duration", "must be more than 0 and at most %d minutes", int(LongestCall/time.Minute))
	case a.Temperature != nil && (*a.Temperature < 0 || *a.Temperature > 1):
		return callwright.Invalid("temperature", "must be from 0 to 1")
	case a.Interruption != nil && (*a.Interruption < 0 || *a.Interruption > MaxInterruption):
		return callwright.Invalid("interruption_threshold", "must be from 0 to %d milliseconds", MaxInterruption.Milliseconds())
	case a.Pathway.ID == "" && a.Pathway.Version != pathway.Selector{}:
		return callwright.Invalid("pathway_version", "needs a pathway_id")
	case a.Pathway.ID == "" && a.Pathway.StartNode != "":
		return callwright.Invalid("start_node_id", "needs a pathway_id")
	}
	return nil
}

// checkEngines refuses a voice or a language that the engines are known not to have: better now than when somebody has
// picked up.
func (s *Service) checkEngines(a *Agent) error {
	if v, ok := s.Synthesizer.(conversation.VoiceChecker); ok {
		if err := v.CheckVoice(a.Voice, a.Language); err != nil {
			return err
		}
	}
	if l, ok := s.Recognizer.(conversation.LanguageChecker); ok {
		return l.CheckLanguage(a.Language)
	}
	return nil
}

// checkRequests checks what the agent asks of other systems.
func (s *Service) checkRequests(a *Agent) error {
	if err := a.checkRequestsSize(); err != nil {
		return err
	}
	tools, err := tool.NewSet(a.Tools)
	if err != nil {
		return err
	}
	for i, url := range tools.URLs() {
		if err := s.Requests.CheckURL(url); err != nil {
			return callwright.InField(fmt.Sprintf("tools[%d].url", i), err)
		}
	}
	if len(a.DynamicData) > MaxDynamicData {
		return callwright.Invalid("dynamic_data", "has more than %d requests", MaxDynamicData)
	}
	for i, d := range a.DynamicData {
		field := fmt.Sprintf("dynamic_data[%d]", i)
		if _, err := d.source().Parse(); err != nil {
			return within(field, err)
		}
		if err := s.Requests.CheckURL(d.URL); err != nil {
			return callwright.InField(field+".url", err)
		}
	}
	return nil
}

// checkRequestsSize refuses more than MaxRequests: every call keeps its agent, and lists of web agents hold all of each.
func (a *Agent) checkRequestsSize() error {
	size := 0
	for _, raw := range a.Tools {
		size += len(raw)
	}
	if size > MaxRequests {
		return callwright.Invalid("tools", "have more than %d bytes", MaxRequests)
	}
	if len(a.DynamicData) == 0 {
		return nil
	}
	data, err := json.Marshal(a.DynamicData) //nolint:musttag // only its length counts
	if err == nil && size+len(data) > MaxRequests {
		return callwright.Invalid("dynamic_data", "has, together with tools, more than %d bytes", MaxRequests)
	}
	return err
}

// within puts a path before the field of an error.
func within(path string, err error) error {
	e, ok := errors.AsType[*callwright.Error](err)
	if !ok {
		return err
	}
	fault := callwright.FieldErrors{e}.Within(path)[0]
	fault.Field = strings.NewReplacer(".variables[", ".response_data[", "].path", "].data").Replace(fault.Field)
	return fault
}

// checkPathway looks whether the pathway that is to lead the conversation could do so now.
func (s *Service) checkPathway(ctx context.Context, org callwright.OrgID, ref PathwayRef) error {
	if ref.ID == "" {
		return nil
	}
	if s.Pathways == nil {
		return callwright.Errorf(callwright.CodeUnavailable, "there are no pathways on this server")
	}
	graph, _, err := s.Pathways.Load(ctx, org, ref.ID, ref.Version)
	if err == nil && ref.StartNode != "" && graph.Nodes[ref.StartNode] == nil {
		return callwright.Invalid("start_node_id", "the pathway has no such node")
	}
	return err
}

// checkPlan refuses what can't be done around a call.
func (s *Service) checkPlan(p Plan, a Agent) error {
	if err := s.checkVoicemail(p.Voicemail, "voicemail.action", "voicemail.message"); err != nil {
		return err
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
	case p.Dispositions != nil && len(p.Dispositions) == 0 || len(p.Dispositions) > MaxDispositions:
		return callwright.Invalid("dispositions", "must be from 1 to %d", MaxDispositions)
	case len(p.SummaryPrompt) > MaxSummary:
		return callwright.Invalid("summary_prompt", "has more than %d bytes", MaxSummary)
	case len(p.Events) > 0 && a.Webhook == "":
		return callwright.Invalid("webhook_events", "need a webhook that is told of them")
	}
	for i, d := range p.Dispositions {
		if strings.TrimSpace(d) == "" || len(d) > MaxDisposition || slices.Contains(p.Dispositions[:i], d) {
			return callwright.Invalid(fmt.Sprintf("dispositions[%d]", i),
				"must be a text of at most %d bytes that is there once", MaxDisposition)
		}
	}
	for i, e := range p.Events {
		if !slices.Contains(eventCategories, e) {
			return callwright.Invalid(fmt.Sprintf("webhook_events[%d]", i), "must be one of %v", eventCategories)
		}
	}
	return nil
}

// checkVoicemail checks what to do about answering machines.
func (s *Service) checkVoicemail(v Voicemail, action, message string) error {
	switch v.Action {
	case "", VoicemailIgnore:
	case VoicemailHangup, VoicemailMessage:
		if s.Screener == nil {
			return callwright.Errorf(callwright.CodeUnavailable, "nobody listens for answering machines on this server")
		}
	default:
		return callwright.Invalid(action, "must be %s, %s or %s", VoicemailHangup, VoicemailMessage, VoicemailIgnore)
	}
	switch {
	case v.Action == VoicemailMessage && strings.TrimSpace(v.Message) == "":
		return callwright.Invalid(message, "is required: it is what is left on the answering machine")
	case len(v.Message) > conversation.MaxSpeech:
		return callwright.Invalid(message, "has more than %d bytes", conversation.MaxSpeech)
	}
	return nil
}
