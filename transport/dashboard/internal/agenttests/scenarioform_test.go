package agenttests_test

import (
	"net/http"
	"net/url"
	"regexp"
	"strings"
	"testing"

	"github.com/callwright/callwright"
	"github.com/callwright/callwright/agents/llm"
	"github.com/callwright/callwright/agenttest"
	"github.com/callwright/callwright/agenttest/assert"
	"github.com/callwright/callwright/agenttest/scenario"
)

const formPath = "/tests/scenarios/new"

// greets returns a form of a valid scenario.
func greets() url.Values {
	return url.Values{
		"pathway_id": {"p1"}, "name": {"Greets"}, "input_messages": {"Hello.\r\n\r\nGoodbye.\r\n"}, "enabled": {"true"}, "is_required_for_promotion": {"true"},
		"assertions": {`[{"type": "NODE_REACHED", "config": {"node_id": "end"}}, {"type": "STRING_CHECK", "config": {"value": "<hi>"}, "is_required": false, "weight": 2}]`},
	}
}

func TestCreateScenario(t *testing.T) {
	t.Parallel()
	h := open(t)
	h.want(http.StatusOK, "/tests", `href="`+formPath+`"`, "!agent-testing")
	h.want(http.StatusOK, "/tests?pathway_id=p1", `href="`+formPath+`?pathway_id=p1"`)
	h.want(http.StatusOK, formPath+"?pathway_id=p1", `<option value="p1" selected>Pays</option>`, "Says hello", "REGEX_MATCH", " checked")
	h.want(http.StatusOK, formPath+"?pathway_id=p9", `value="p9"`, "!<option")
	h.post(formPath, "/tests/scenarios", greets(), http.StatusOK, "The scenario is created.", "<h1>Greets</h1>", "node reached", "Goodbye.", "/edit")
	made := h.only()
	if len(made.Messages) != 2 || made.Messages[1] != (scenario.Message{Role: llm.RoleCaller, Text: "Goodbye."}) {
		t.Errorf("the caller says %+v", made.Messages)
	}
	if !made.Required || !made.Enabled || made.ScoreTone || !made.Assertions[0].Required || made.Assertions[1].Required || made.Assertions[1].Weight != 2 {
		t.Errorf("created is %+v", made)
	}
}

// only returns the only scenario of the organization. It fails the test if there is not exactly one.
func (h *house) only() scenario.Scenario {
	h.t.Helper()
	found, err := h.tests.ListScenarios(h.t.Context(), org, agenttest.ScenarioFilter{}, 0)
	h.check(err)
	if len(found.Items) != 1 {
		h.t.Fatalf("%d scenarios", len(found.Items))
	}
	return found.Items[0].Scenario
}

// TestPresetScenario checks that the preset values of the form create a scenario, and that its assertion passes if the agent says
// something.
func TestPresetScenario(t *testing.T) {
	t.Parallel()
	h := open(t)
	h.post(formPath, "/tests/scenarios", url.Values{
		"pathway_id": {"p1"}, "name": {"Says hello"}, "input_messages": {"Hello."}, "enabled": {"true"}, "assertions": {h.preset()},
	}, http.StatusOK, "The scenario is created.", "The agent says something")
	check, err := assert.Compile(h.only().Assertions[0])
	h.check(err)
	said := &assert.Evidence{Turns: []assert.Turn{{Role: llm.RoleAgent, Text: "Hello."}, {Role: llm.RoleCaller, Text: "Hello."}}}
	if r := check.Evaluate(t.Context(), said, nil); r.Outcome != assert.Passed {
		t.Errorf("the example is %s: %s", r.Outcome, r.Reasoning)
	}
}

var presetPattern = regexp.MustCompile(`(?s)name="assertions"[^>]*>(.*?)</textarea>`)

// preset returns the assertions in the form of a new scenario.
func (h *house) preset() string {
	h.t.Helper()
	text := presetPattern.FindStringSubmatch(h.want(http.StatusOK, formPath))[1]
	return strings.ReplaceAll(text, "&#34;", `"`)
}

func TestScenarioFaults(t *testing.T) {
	t.Parallel()
	h := open(t)
	for _, c := range []struct{ field, value, at, text string }{
		{"name", "", "name", "must not be empty"},
		{"pathway_id", "p7", "pathway_id", "not found"},
		{"input_messages", "", "tester_persona_prompt", "is required"},
		{"assertions", "{", "assertions", "must be a JSON list"},
		{"assertions", "[] []", "assertions", "nothing after it"},
		{"assertions", `[{"kind": "x"}]`, "assertions", "unknown field"},
		{"assertions", `[{"type": "REGEX_MATCH", "config": {"pattern": "("}}]`, "assertions", "assertions[0].config.pattern must be"},
		{"assertions", `[{"type": "SERVICE_TONE", "config": {}}]`, "assertions", "requires service_tone_enabled"},
		{"assertions", "", "assertions", "must include an assertion with is_required"},
	} {
		send := greets()
		send.Set(c.field, c.value)
		h.post(formPath, "/tests/scenarios", send, http.StatusUnprocessableEntity, `id="fault-`+c.at+`"`, c.text)
	}
	send := greets()
	send.Set("name", "")
	send.Set("assertions", `[{"type": "NODE_REACHED", "config": {}}]`)
	h.post(formPath, "/tests/scenarios", send, http.StatusUnprocessableEntity, `id="fault-name"`, `id="fault-assertions"`, "Goodbye.")
	h.post(formPath, "/tests/scenarios", greets(), http.StatusOK)
	h.post(formPath, "/tests/scenarios", greets(), http.StatusUnprocessableEntity, `id="fault-name"`)
}

func TestEditScenario(t *testing.T) {
	t.Parallel()
	h := open(t)
	before := h.scenario("Pays", func(s *scenario.Scenario) { s.Category, s.MaxTurns = scenario.HappyPath, 7 })
	at := "/tests/scenarios/" + before.ID
	h.want(http.StatusOK, at+"/edit", "Be brief.", "NODE_REACHED", before.Assertions[0].ID, `value="Pays"`)
	send := greets()
	send.Set("description", "</textarea><b>")
	send.Del("enabled")
	h.post(at+"/edit", at, send, http.StatusOK, "The scenario is saved.", "<h1>Greets</h1>", "&lt;/textarea&gt;")
	after := h.only()
	if after.Enabled || !after.Required || after.CallerPrompt != "" || after.Category != scenario.HappyPath || after.MaxTurns != 7 || len(after.Messages) != 2 {
		t.Errorf("changed is %+v", after)
	}
	send.Set("name", "")
	h.post(at+"/edit", at, send, http.StatusUnprocessableEntity, `id="fault-name"`, "Save")
	h.post(at, at+"/delete", url.Values{}, http.StatusOK, "The scenario is deleted.", "There are no scenarios yet")
	for path, form := range map[string]url.Values{at + "/edit": nil, at: greets(), at + "/delete": {}} {
		if form == nil {
			h.want(http.StatusNotFound, path)
			continue
		}
		h.post(formPath, path, form, http.StatusNotFound)
	}
}

// TestLostEdit checks that a form does not silently replace a change that another user has saved since the form was opened.
func TestLostEdit(t *testing.T) {
	t.Parallel()
	h := open(t)
	sc := h.scenario("Pays", func(*scenario.Scenario) {})
	at := "/tests/scenarios/" + sc.ID
	h.want(http.StatusOK, at+"/edit", `name="revision" value="1"`)
	_, err := h.tests.UpdateScenario(t.Context(), org, sc.ID, scenario.Patch{Description: callwright.Given("theirs")})
	h.check(err)
	send := greets()
	send.Set("revision", "1")
	send.Set("name", "")
	h.post(at+"/edit", at, send, http.StatusUnprocessableEntity, "was changed after you read it", `name="revision" value="2"`)
	if kept := h.only(); kept.Description != "theirs" {
		t.Errorf("kept %+v", kept)
	}
	send.Set("revision", "2")
	h.post(at+"/edit", at, send, http.StatusUnprocessableEntity, `id="fault-name"`, `name="revision" value="2"`)
	send.Set("name", "Greets")
	h.post(at+"/edit", at, send, http.StatusOK, "The scenario is saved.")
	send.Set("revision", "x")
	h.post(at+"/edit", at, send, http.StatusUnprocessableEntity, "revision: must be a whole number")
}

// TestEditKeepsLines checks that saving the form does not change messages that depend on the agent's words. The form's text of one message
// a line cannot represent such messages.
func TestEditKeepsLines(t *testing.T) {
	t.Parallel()
	h := open(t)
	line := scenario.Message{Role: llm.RoleCaller, Text: "Friday.", Keyword: "which day"}
	sc := h.scenario("Pays", func(s *scenario.Scenario) { s.Messages = []scenario.Message{line} })
	at := "/tests/scenarios/" + sc.ID
	h.want(http.StatusOK, at+"/edit", "It stays as it is", `!name="input_messages"`)
	h.post(at+"/edit", at, greets(), http.StatusOK, "The scenario is saved.")
	if after := h.only(); len(after.Messages) != 1 || after.Messages[0] != line {
		t.Errorf("the caller says %+v", after.Messages)
	}
}

var examplePattern = regexp.MustCompile(`<dt><code>([A-Z_]+)</code></dt><dd>.*?<code>"config": (.*?)</code>`)

// TestAssertionTypes checks that the form shows a valid example of each type of assertion.
func TestAssertionTypes(t *testing.T) {
	t.Parallel()
	h := open(t)
	shown := map[assert.Type]bool{}
	for _, m := range examplePattern.FindAllStringSubmatch(h.want(http.StatusOK, formPath), -1) {
		kind := assert.Type(m[1])
		_, err := assert.Compile(assert.Assertion{Type: kind, Config: []byte(strings.ReplaceAll(m[2], "&#34;", `"`)), Weight: 1})
		if err != nil {
			t.Errorf("%s: %v", kind, err)
		}
		shown[kind] = true
	}
	for _, kind := range assert.Types() {
		if !shown[kind] {
			t.Errorf("there is no example of %s", kind)
		}
	}
}
