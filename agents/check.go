package agents

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
	"github.com/callwright/callwright/agents/conversation/endpoint"
	"github.com/callwright/callwright/agents/llm"
	"github.com/callwright/callwright/agents/pathway"
	"github.com/callwright/callwright/agents/pathway/graph"
	"github.com/callwright/callwright/agents/persona"
	"github.com/callwright/callwright/agents/tool"
	"github.com/callwright/callwright/speech/tts"
)

// The limits of an agent. Limits of texts count characters.
const (
	MaxTask          = 100_000
	MaxPersona       = 32 << 10
	MaxFirstSentence = 5000
	MaxDynamicData   = 20        // requests
	MaxRequests      = 256 << 10 // bytes of Agent.Tools and Agent.DynamicData together, as JSON
)

// Pathways loads the graphs of pathways that lead conversations. pathway.Service implements it, and agentstest.RunPathways tests it.
type Pathways interface {
	// Load returns a version's graph and its number, which is 0 for the draft. It returns CodeNotFound with the field "pathway_id" if the
	// organization has no pathway with this id. It returns CodeNotFound with the field "pathway_version" if the pathway has no such
	// version, or none in the environment.
	Load(ctx context.Context, org callwright.OrgID, id string, sel pathway.Selector) (*graph.Graph, int, error)
}

// Personas loads personas. persona.Service implements it.
type Personas interface {
	// Load returns a persona and its version in production. It returns CodeNotFound with the field persona_id if the organization has no
	// persona with this id, and CodeInvalidState with that field if no version is in production.
	Load(ctx context.Context, org callwright.OrgID, id string) (persona.Persona, persona.Version, error)
	// Hold locks a persona against deletion until the transaction of ctx ends. It returns CodeNotFound if the organization has no persona
	// with this id. Hold is called only in a transaction.
	Hold(ctx context.Context, org callwright.OrgID, id string) error
}

// faults returns all errors of an agent. Their fields have the names of the /v1 contract. It accepts an agent without task, pathway and
// persona, because the agent of an inbound number may lack all of them. faults also converts the number for transfers to E.164.
func (s *Service) faults(ctx context.Context, org callwright.OrgID, a *Agent) []error {
	var found faultList
	a.checkTexts(&found)
	s.checkEngines(ctx, org, *a, &found)
	if a.TransferTo != "" {
		to, err := callwright.ReadNumber(ctx, s.cfg.Numbering, org, a.TransferTo.String())
		if err == nil {
			a.TransferTo = to
		}
		found.add(callwright.InField("transfer_phone_number", err))
	}
	if a.Webhook != "" {
		found.add(callwright.InField("webhook", checkURL(s.cfg.Webhooks, a.Webhook)))
	}
	if a.Brain != "" {
		found.add(callwright.InField(string(SettingBrain), checkURL(s.cfg.Brains, a.Brain)))
	}
	found.add(tool.Check(a.Tools, MaxRequests, s.cfg.Requests))
	s.checkDynamicData(*a, &found)
	found.add(s.checkPathway(ctx, org, a.Pathway))
	if a.PersonaID != "" && a.PersonaVersion == 0 {
		_, err := s.loadPersona(ctx, org, a.PersonaID)
		found.add(err)
	}
	return found
}

// faultList collects the errors of an agent.
type faultList []error

// add appends an error, unless it is nil.
func (l *faultList) add(err error) {
	if err != nil {
		*l = append(*l, err)
	}
}

// addIf appends an error with CodeBadRequest about a field, if wrong is set.
func (l *faultList) addIf(wrong bool, field, format string, args ...any) {
	if wrong {
		*l = append(*l, callwright.Invalid(field, format, args...))
	}
}

// first returns the first fault, or nil if the list is empty.
func (l faultList) first() error {
	if len(l) == 0 {
		return nil
	}
	return l[0]
}

// checkTexts checks the settings for which the Service needs no port of Config.
func (a Agent) checkTexts(found *faultList) {
	led := a.Pathway.ID != ""
	found.addIf(a.Task != "" && led, "task", "excludes pathway_id: set only one of them")
	found.addIf(a.Task != "" && callwright.Blank(a.Task), "task", "must not be blank")
	a.checkBrain(found)
	found.addIf(callwright.Longer(a.Task, MaxTask), "task", "must have at most %d characters", MaxTask)
	found.addIf(callwright.Longer(a.Persona, MaxPersona), "persona", "must have at most %d characters", MaxPersona)
	found.addIf(a.FirstSentence != "" && callwright.Blank(a.FirstSentence), "first_sentence", "must not be blank")
	found.addIf(callwright.Longer(a.FirstSentence, MaxFirstSentence),
		"first_sentence", "must have at most %d characters", MaxFirstSentence)
	found.addIf(a.MaxDuration < 0 || a.MaxDuration > LongestCall,
		"max_duration", "must be more than 0 and at most %d minutes", int(LongestCall/time.Minute))
	found.addIf(a.Temperature != nil && (*a.Temperature < 0 || *a.Temperature > 1), "temperature", "must be from 0 to 1")
	found.addIf(a.Interruption != nil && (*a.Interruption < 0 || *a.Interruption > conversation.MaxThreshold),
		"interruption_threshold", "must be from 0 to %d milliseconds", conversation.MaxThreshold.Milliseconds())
	found.addIf(a.Interruptibility != nil && (*a.Interruptibility < 0 || *a.Interruptibility > conversation.MaxInterruptibility),
		"interruptibility", "must be from 0 (never) to %d (immediately)", conversation.MaxInterruptibility)
	found.add(a.Machines.Check("machines."))
	found.addIf(len(a.Keywords) > MaxKeywords, "keywords", "must have at most %d entries", MaxKeywords)
	found.addIf(slices.ContainsFunc(a.Keywords, func(keyword string) bool { return callwright.Longer(keyword, MaxKeyword) }),
		"keywords", "must each have at most %d characters", MaxKeyword)
	_, err := a.Prosody()
	found.add(err)
	found.add(tts.CheckPronunciations("pronunciation_guide", a.Pronunciation))
	found.addIf(a.Background != "" && !a.Background.Known(), "background_track", "must be office, cafe, restaurant or none")
	found.addIf(!endpoint.IsBound(a.LeastWait), "min_endpointing_delay", endpoint.BoundRange)
	found.addIf(!endpoint.IsBound(a.LongestWait), "max_endpointing_delay", endpoint.BoundRange)
	found.add(a.Idle.Check("idle."))
	found.addIf(!led && a.Pathway.Version != pathway.Selector{}, "pathway_version", "requires a pathway_id")
	found.addIf(!led && a.Pathway.StartNode != "", "start_node_id", "requires a pathway_id")
}

// checkPurpose refuses an agent without a task, pathway, persona or brain. The parameter others lists the fields that a client can set instead of
// a task. It is part of the error's text.
func (a Agent) checkPurpose(found *faultList, others string) {
	found.addIf(a.Pathway.ID == "" && a.Task == "" && a.PersonaID == "" && a.Brain == "",
		"task", "is required without %s: it tells the agent what to do", others)
}

// checkLeaders refuses a persona together with a task or a pathway. It accepts an agent that already contains the settings of its persona,
// because these may include a task.
func (a Agent) checkLeaders(found *faultList) {
	if a.PersonaID != "" && a.PersonaVersion == 0 && (a.Task != "" || a.Pathway.ID != "") {
		found.add(errPersonaExcludes)
	}
}

// checkEngines refuses a voice, a model name or a language that the engines do not support.
func (s *Service) checkEngines(ctx context.Context, org callwright.OrgID, a Agent, found *faultList) {
	if s.cfg.Voices != nil {
		found.add(s.cfg.Voices.CheckVoice(ctx, org, a.Voice, a.Language))
	}
	if s.cfg.Model != nil {
		found.add(llm.CheckName(s.cfg.Model, "model", a.Model))
		found.add(llm.CheckName(s.cfg.Model, "fallback_model", a.Fallback))
	}
	if s.cfg.Languages != nil {
		found.add(s.cfg.Languages.CheckLanguage(a.Language))
	}
}

// checkURL returns an error if this server must not send requests to a URL, or CodeUnavailable if urls is nil.
func checkURL(urls callwright.URLs, url string) error {
	if urls == nil {
		return callwright.Errorf(callwright.CodeUnavailable, "this server sends no requests to other systems")
	}
	return urls.CheckURL(url)
}

// checkDynamicData checks the requests that are sent before the conversation. The limit MaxRequests includes the tools, because every call
// stores its agent and lists of web agents contain complete agents.
func (s *Service) checkDynamicData(a Agent, found *faultList) {
	if len(a.DynamicData) == 0 {
		return
	}
	data, err := json.Marshal(a.DynamicData) //nolint:musttag // only its length counts
	if err != nil {
		found.add(err)
		return
	}
	size := len(data)
	for _, raw := range a.Tools {
		size += len(raw)
	}
	if size > MaxRequests {
		found.add(callwright.Invalid("dynamic_data", "must have at most %d bytes together with tools", MaxRequests))
		return
	}
	if len(a.DynamicData) > MaxDynamicData {
		found.add(callwright.Invalid("dynamic_data", "must have at most %d requests", MaxDynamicData))
		return
	}
	for i, d := range a.DynamicData {
		field := fmt.Sprintf("dynamic_data[%d]", i)
		if _, err := d.Source().Parse(); err != nil {
			found.add(inRequest(field, err))
			continue
		}
		found.add(callwright.InField(field+".url", checkURL(s.cfg.Requests, d.URL)))
	}
}

// inRequest prefixes the field of a request.Source's error with the path of the request. It also replaces the names of Source's fields by
// the names in the /v1 contract.
func inRequest(path string, err error) error {
	e, ok := errors.AsType[*callwright.Error](err)
	if !ok {
		return err
	}
	fault := callwright.FieldErrors{e}.Within(path)[0]
	fault.Field = strings.NewReplacer(".variables[", ".response_data[", "].path", "].data").Replace(fault.Field)
	return fault
}

// checkPathway refuses a pathway that is missing, or whose version or start node is missing. It returns CodeUnavailable if the server has
// no pathways.
func (s *Service) checkPathway(ctx context.Context, org callwright.OrgID, ref PathwayRef) error {
	if ref.ID == "" {
		return nil
	}
	if s.cfg.Pathways == nil {
		return callwright.Errorf(callwright.CodeUnavailable, "this server has no pathways")
	}
	graph, _, err := s.cfg.Pathways.Load(ctx, org, ref.ID, ref.Version)
	if err == nil && ref.StartNode != "" && graph.Nodes[ref.StartNode] == nil {
		return callwright.Invalid("start_node_id", "must be the id of a node of the pathway")
	}
	return err
}
