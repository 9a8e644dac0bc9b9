package agenttests

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"io"
	"net/http"
	"strconv"
	"strings"

	"github.com/callwright/callwright"
	"github.com/callwright/callwright/agents/llm"
	"github.com/callwright/callwright/agenttest/assert"
	"github.com/callwright/callwright/agenttest/scenario"
	"github.com/callwright/callwright/transport/dashboard/internal/page"
)

// scenarioForm contains the data of the form that creates or changes a scenario.
type scenarioForm struct {
	form

	Scenario *scenario.Scenario // the changed scenario; nil for a new one
	Lines    bool               // the caller's messages can be edited as lines
	Types    []assert.Kind
}

// scenarioFields lists the fields of the form by their names in the API.
var scenarioFields = []string{
	"pathway_id", "name", "description", "tester_persona_prompt", "input_messages", "assertions", "service_tone_enabled",
	"is_required_for_promotion", "enabled",
}

// newScenario shows the form of a new scenario, filled in with an example.
func (p pages) newScenario(ctx context.Context, r *page.Request) (page.Answer, error) {
	return p.showScenarioForm(ctx, r, scenarioForm{Lines: true, form: form{Values: map[string]string{
		"pathway_id": r.Query("pathway_id"), "name": "Says hello", "input_messages": "Hello.", "enabled": "true",
		"assertions": `[
  {"type": "REGEX_MATCH", "name": "The agent says something", "config": {"pattern": "\\w", "role": "assistant"}}
]`,
	}}})
}

// createScenario creates a scenario, or shows the form again with its faults.
func (p pages) createScenario(ctx context.Context, r *page.Request) (page.Answer, error) {
	data := scenarioForm{form: readForm(r, scenarioFields), Lines: true}
	patch, err := data.patch()
	if err == nil {
		var sc scenario.Scenario
		sc, err = p.cfg.Tests.CreateScenario(ctx, r.Org(), patch.Apply(scenario.Scenario{Pathway: data.Values["pathway_id"]}))
		if err == nil {
			return page.SeeOther{To: page.Path("/tests/scenarios", sc.ID), Notice: "The scenario is created."}, nil
		}
	}
	return p.notKept(ctx, r, data, err)
}

// editScenario shows the form with an existing scenario.
func (p pages) editScenario(ctx context.Context, r *page.Request) (page.Answer, error) {
	sc, err := p.cfg.Tests.Scenario(ctx, r.Org(), r.PathValue("id"))
	if err != nil {
		return nil, err
	}
	lines, plain := linesOf(sc.Messages)
	wanted, err := assertionText(sc.Assertions)
	if err != nil {
		return nil, err
	}
	return p.showScenarioForm(ctx, r, scenarioForm{Scenario: &sc, Lines: plain, form: form{Values: map[string]string{
		"name": sc.Name, "description": sc.Description, "tester_persona_prompt": sc.CallerPrompt, "input_messages": lines,
		"assertions": wanted, "service_tone_enabled": checked(sc.ScoreTone), "is_required_for_promotion": checked(sc.Required),
		"enabled": checked(sc.Enabled), "revision": revisionText(sc),
	}}})
}

// revisionText formats a scenario's revision for the form. From this revision the update detects concurrent changes.
func revisionText(sc scenario.Scenario) string { return strconv.FormatInt(sc.Revision, 10) }

// updateScenario changes a scenario, or shows the form again with its faults. If the scenario has changed since the form was opened, the
// user must send the form again to replace the scenario.
func (p pages) updateScenario(ctx context.Context, r *page.Request) (page.Answer, error) {
	sc, err := p.cfg.Tests.Scenario(ctx, r.Org(), r.PathValue("id"))
	if err != nil {
		return nil, err
	}
	data := scenarioForm{form: readForm(r, scenarioFields), Scenario: &sc}
	data.Values["revision"] = r.Field("revision")
	_, data.Lines = linesOf(sc.Messages)
	patch, err := data.patch()
	if err == nil {
		if _, err = p.cfg.Tests.UpdateScenario(ctx, r.Org(), sc.ID, patch); err == nil {
			return page.SeeOther{To: page.Path("/tests/scenarios", sc.ID), Notice: "The scenario is saved."}, nil
		}
	}
	if e, coded := errors.AsType[*callwright.Error](err); coded && e.Code == callwright.CodeConflict && e.Field == "" {
		data.Values["revision"] = revisionText(sc)
	}
	return p.notKept(ctx, r, data, err)
}

// deleteScenario deletes a scenario and its runs, except the runs of groups that have not ended.
func (p pages) deleteScenario(ctx context.Context, r *page.Request) (page.Answer, error) {
	if err := p.cfg.Tests.DeleteScenario(ctx, r.Org(), r.PathValue("id")); err != nil {
		return nil, err
	}
	return page.SeeOther{To: "/tests", Notice: "The scenario is deleted."}, nil
}

// notKept shows the form again with the faults in err, each at its field. It returns err if the user cannot correct it.
func (p pages) notKept(ctx context.Context, r *page.Request, data scenarioForm, err error) (page.Answer, error) {
	faults, ok := faultsOf(err, scenarioFields...)
	if !ok {
		return nil, err
	}
	if all, several := errors.AsType[callwright.FieldErrors](err); several {
		faults = faultsInParts(all)
	}
	data.Faults = faults
	return p.showScenarioForm(ctx, r, data)
}

// faultsInParts returns the faults of a scenario by field. Faults within a list, such as assertions[2].config.pattern, are assigned to the
// list.
func faultsInParts(all callwright.FieldErrors) page.Faults {
	faults := page.Faults{}
	for _, e := range all {
		one := *e
		if list, _, inside := strings.Cut(e.Field, "["); inside {
			one.Field, one.Message = list, e.Field+" "+e.Message
		}
		found, _ := page.FaultsOf(&one, nil, scenarioFields...)
		for field, text := range found {
			if faults[field] != "" {
				text = faults[field] + "; " + text
			}
			faults[field] = text
		}
	}
	return faults
}

// showScenarioForm shows the form. For a new scenario it offers the pathways.
func (p pages) showScenarioForm(ctx context.Context, r *page.Request, data scenarioForm) (page.Answer, error) {
	data.Types = assert.Kinds()
	view := &page.View{Page: "scenarioform", Title: "New scenario", Data: &data}
	if len(data.Faults) > 0 {
		view.Status = http.StatusUnprocessableEntity
	}
	if data.Scenario != nil {
		view.Title = "Edit " + data.Scenario.Name
		return view, nil
	}
	var err error
	data.Choices, err = p.choices(ctx, r.Org(), data.Values, chooseOne, "pathway_id")
	return view, err
}

// patch converts the form to a patch. An invalid value causes CodeBadRequest with the name of the field.
func (f scenarioForm) patch() (p scenario.Patch, err error) {
	v := f.Values
	wanted, err := readAssertions(v["assertions"])
	if err != nil {
		return p, err
	}
	p = scenario.Patch{
		Name: callwright.Given(v["name"]), Description: callwright.Given(v["description"]),
		CallerPrompt: callwright.Given(v["tester_persona_prompt"]), ScoreTone: callwright.Given(v["service_tone_enabled"] != ""),
		Required: callwright.Given(v["is_required_for_promotion"] != ""), Enabled: callwright.Given(v["enabled"] != ""),
		Assertions: callwright.Given(wanted),
	}
	revision, err := f.whole("revision")
	if revision != nil {
		p.Revision = new(int64(*revision))
	}
	if f.Lines {
		p.Messages = callwright.Given(messagesOf(v["input_messages"]))
	}
	return p, err
}

func checked(is bool) string {
	if is {
		return "true"
	}
	return ""
}

// messagesOf converts the lines of a text to messages of the caller. It skips blank lines.
func messagesOf(text string) (all []scenario.Message) {
	for line := range strings.Lines(text) {
		if line = strings.TrimSpace(line); line != "" {
			all = append(all, scenario.Message{Role: llm.RoleCaller, Text: line})
		}
	}
	return all
}

// linesOf converts messages to the lines of a text. plain is false if lines cannot represent the messages.
func linesOf(all []scenario.Message) (text string, plain bool) {
	lines := make([]string, len(all))
	for i, m := range all {
		lines[i] = m.Text
	}
	text = strings.Join(lines, "\n")
	again := messagesOf(text)
	plain = len(again) == len(all)
	for i := range all {
		plain = plain && again[i] == all[i]
	}
	return text, plain
}

// readAssertions parses the field "assertions", a JSON list. It returns nil for an empty field.
func readAssertions(text string) ([]assert.Assertion, error) {
	if text == "" {
		return nil, nil
	}
	d := json.NewDecoder(strings.NewReader(text))
	var list json.RawMessage
	if err := d.Decode(&list); err != nil {
		return nil, callwright.Invalid("assertions", "must be a JSON list of assertions: %v", err)
	}
	if _, err := d.Token(); !errors.Is(err, io.EOF) {
		return nil, callwright.Invalid("assertions", "must be one JSON list, and nothing after it")
	}
	return scenario.DecodeAssertions(list)
}

// assertionText formats assertions as JSON for the field "assertions".
func assertionText(all []assert.Assertion) (string, error) {
	if len(all) == 0 {
		return "", nil
	}
	var out bytes.Buffer
	e := json.NewEncoder(&out)
	e.SetEscapeHTML(false)
	e.SetIndent("", "  ")
	err := e.Encode(all)
	return strings.TrimSpace(out.String()), err
}
