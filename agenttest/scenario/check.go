package scenario

import (
	"cmp"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/callwright/callwright"
	"github.com/callwright/callwright/agents/llm"
	"github.com/callwright/callwright/agenttest/assert"
)

// SetDefaults fills in defaults, assigns ids from newID to assertions without an id, and sorts the assertions by Order.
func (s *Scenario) SetDefaults(newID func() string) {
	if s.Category == "" {
		s.Category = Custom
	}
	if s.Kind == "" {
		s.Kind = Agent
	}
	if s.MaxTurns == 0 {
		s.MaxTurns = DefaultMaxTurns
	}
	for i := range s.Messages {
		s.Messages[i].Role = cmp.Or(s.Messages[i].Role, llm.RoleCaller)
	}
	for i := range s.Assertions {
		if s.Assertions[i].ID == "" {
			s.Assertions[i].ID = newID()
		}
	}
	slices.SortStableFunc(s.Assertions, func(a, b assert.Assertion) int { return a.Order - b.Order })
}

// Check returns all errors of a scenario as callwright.FieldErrors, or nil if the scenario is valid. Fields have the names of the /v1
// contract. Check does not check that the tested version contains the scenario's nodes: see Nodes.
func (s *Scenario) Check() error {
	var found faults
	s.checkTexts(&found)
	s.checkWords(&found)
	s.checkData(&found)
	s.checkMocks(&found)
	s.checkAssertions(&found)
	s.checkBytes(&found)
	return callwright.FieldErrors(found).OrNil()
}

// CheckModels returns an error, like Check, for each assertion that names a model that m does not offer. It ignores assertions that Compile
// refuses.
func (s *Scenario) CheckModels(m llm.Model) error {
	var found callwright.FieldErrors
	for i, a := range s.Assertions {
		check, err := assert.Compile(a)
		if err != nil {
			continue
		}
		err = llm.CheckName(m, fmt.Sprintf("assertions[%d].config.model", i), check.Model())
		if refused, ok := errors.AsType[*callwright.Error](err); ok {
			found = append(found, refused)
		}
	}
	return found.OrNil()
}

// faults collects the errors of a scenario.
type faults callwright.FieldErrors

// addIf adds an error about a field if wrong is true.
func (f *faults) addIf(wrong bool, field, format string, args ...any) {
	if wrong {
		*f = append(*f, callwright.Invalid(field, format, args...))
	}
}

// addLonger adds an error if a text has more characters than the limit most.
func (f *faults) addLonger(field, text string, most int) {
	f.addIf(callwright.Longer(text, most), field, "must have at most %d characters", most)
}

func (s *Scenario) checkTexts(f *faults) {
	f.addIf(s.Pathway == "" && s.Persona == "", "pathway_id", "is required, unless persona_id is set: the scenario tests one of them")
	f.addIf(s.Pathway != "" && s.Persona != "", "persona_id", "excludes pathway_id: the scenario tests one of them")
	f.addIf(s.Persona != "" && s.StartNode != "", "start_node_id", "requires a pathway_id: a persona has no nodes")
	f.addIf(s.Persona != "" && s.Required, "is_required_for_promotion", "requires a pathway_id: personas are promoted without tests")
	f.addIf(strings.TrimSpace(s.Name) == "", "name", "must not be empty")
	f.addLonger("name", s.Name, MaxName)
	f.addLonger("description", s.Description, MaxDescription)
	f.addLonger("tester_persona_prompt", s.CallerPrompt, MaxPrompt)
	f.addLonger("tester_persona_name", s.CallerName, MaxCallerName)
	f.addLonger("advanced_instructions", s.Instructions, MaxInstructions)
	f.addLonger("start_node_id", s.StartNode, MaxID)
	f.addIf(!slices.Contains(Categories(), s.Category), "category", "must be one of %s", join(Categories()))
	f.addIf(!slices.Contains(Kinds(), s.Kind), "scenario_type", "must be one of %s", join(Kinds()))
	f.addIf(s.MaxTurns < 1 || s.MaxTurns > MaxTurns, "max_turns", "must be from 1 to %d", MaxTurns)
	f.addIf(s.MinScore != nil && !(*s.MinScore >= 0 && *s.MinScore <= 1), "min_score", "must be from 0 to 1")
}

// checkWords checks the messages, and that the scenario has a source of the caller's words.
func (s *Scenario) checkWords(f *faults) {
	f.addIf(len(s.Messages) > MaxMessages, "input_messages", "must have at most %d messages", MaxMessages)
	spoken := 0
	for i, m := range s.Messages {
		field := fmt.Sprintf("input_messages[%d]", i)
		f.addIf(m.Role != llm.RoleCaller && m.Role != llm.RoleAgent, field+".role", "must be user or assistant")
		f.addIf(m.Text == "", field+".content", "must not be empty")
		f.addLonger(field+".content", m.Text, MaxMessage)
		f.addLonger(field+".node_id", m.Node, MaxID)
		f.addLonger(field+".keyword", m.Keyword, MaxKeyword)
		if m.Role == llm.RoleCaller {
			spoken++
		}
	}
	switch s.Kind {
	case Agent:
		f.addIf(strings.TrimSpace(s.CallerPrompt) == "" && spoken == 0, "tester_persona_prompt",
			"is required for %s scenarios without input_messages: it tells the simulated caller how to behave", Agent)
	case Replay, Historical:
		f.addIf(spoken == 0, "input_messages", "must have a message of the role user: it is what the caller of a %s scenario says", s.Kind)
	}
}

func (s *Scenario) checkData(f *faults) {
	raw, err := json.Marshal(s.RequestData)
	f.addIf(err != nil, "request_data", "must be a JSON object")
	f.addIf(len(raw) > MaxRequestData, "request_data", "must have at most %d bytes as JSON", MaxRequestData)
	f.addIf(len(s.Metadata) > MaxMetadata, "metadata", "must have at most %d bytes as JSON", MaxMetadata)
}

func (s *Scenario) checkMocks(f *faults) {
	f.addIf(len(s.Webhooks) > MaxMocks, "webhook_mocks", "must have at most %d mocks", MaxMocks)
	for i, m := range s.Webhooks {
		field := fmt.Sprintf("webhook_mocks[%d]", i)
		f.addIf(m.Status != 0 && (m.Status < 100 || m.Status > 599), field+".status", "must be from 100 to 599")
		f.addIf(m.Delay < 0 || m.Delay > MaxMockDelay, field+".delay_ms", "must be from 0 to %d", MaxMockDelay.Milliseconds())
		f.addIf(m.Fault != NoFault && m.Fault != Timeout && m.Fault != ConnectionError, field+".fault", "must be %s or %s", Timeout, ConnectionError)
		f.addIf(len(m.Body) > MaxMockBody, field+".body", "must have at most %d bytes", MaxMockBody)
		f.addIf(len(m.Body) > 0 && !json.Valid(m.Body), field+".body", "must be valid JSON")
		f.addLonger(field+".url", m.URL, MaxURL)
		f.addLonger(field+".node_id", m.Node, MaxID)
	}
}

func (s *Scenario) checkAssertions(f *faults) {
	f.addIf(len(s.Assertions) > assert.MaxAssertions, "assertions", "must have at most %d assertions", assert.MaxAssertions)
	seen := map[string]bool{}
	required := false
	for i, a := range s.Assertions {
		field := fmt.Sprintf("assertions[%d]", i)
		f.addIf(seen[a.ID], field+".id", "must be unique in the scenario")
		seen[a.ID] = true
		required = required || a.Required
		f.addIf(a.Type == assert.ServiceTone && !s.ScoreTone, field+".type",
			"requires service_tone_enabled: without it the tone is not scored")
		_, err := assert.Compile(a)
		f.add(field, err)
	}
	f.addIf(s.Required && !required, "assertions",
		"must include an assertion with is_required: otherwise a scenario that is required for promotion could never fail")
}

// checkBytes checks that the whole scenario has at most MaxBytes as JSON, because each part may be within its limit and the total still too
// large. The error is about the largest part.
func (s *Scenario) checkBytes(f *faults) {
	total, most, largest := 0, 0, ""
	for _, part := range []struct {
		field string
		value any
	}{
		{"tester_persona_prompt", s.CallerPrompt + s.Instructions + s.Description},
		{"input_messages", s.Messages},
		{"request_data", s.RequestData},
		{"webhook_mocks", s.Webhooks},
		{"assertions", s.Assertions},
		{"metadata", s.Metadata},
	} {
		raw, err := json.Marshal(part.value)
		if err != nil {
			continue // reported by another check
		}
		if total += len(raw); len(raw) > most {
			most, largest = len(raw), part.field
		}
	}
	f.addIf(total > MaxBytes, largest,
		"must be shorter: a scenario can have at most %d bytes of JSON, and this one has %d, of which %d are in this field", MaxBytes, total, most)
}

// add adds the errors of a part of the scenario, with the part's field as their prefix.
func (f *faults) add(field string, err error) {
	if err == nil {
		return
	}
	if list, ok := err.(callwright.FieldErrors); ok { //nolint:errorlint // Compile returns it as it is
		*f = append(*f, faults(list.Within(field))...)
		return
	}
	*f = append(*f, callwright.Invalid(field, "%s", callwright.MessageOf(err)))
}

// Nodes returns the ids of the scenario's start node and of the nodes that its assertions name, sorted and without duplicates. It omits
// nodes that only messages or mocks name. The scenario must have passed Check.
func (s *Scenario) Nodes() []string {
	var ids []string
	if s.StartNode != "" {
		ids = append(ids, s.StartNode)
	}
	for _, a := range s.Assertions {
		if c, err := assert.Compile(a); err == nil {
			ids = append(ids, c.Nodes()...)
		}
	}
	slices.Sort(ids)
	return slices.Compact(ids)
}

// Categories returns all categories, in the order of the contract.
func Categories() []Category {
	return []Category{
		Custom, Voicemail, VoicemailScreener, AngryCaller, BelligerentCaller, ConfusedCaller, CallScreener, HappyPath, EdgeCase,
	}
}

// Kinds returns all kinds, in the order of the contract.
func Kinds() []Kind { return []Kind{Agent, Replay, Historical} }

// join joins names with commas and "or", for an error.
func join[T ~string](names []T) string {
	var b strings.Builder
	for i, n := range names {
		switch {
		case i > 0 && i == len(names)-1:
			b.WriteString(" or ")
		case i > 0:
			b.WriteString(", ")
		}
		b.WriteString(string(n))
	}
	return b.String()
}
