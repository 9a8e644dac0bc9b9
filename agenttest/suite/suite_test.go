package suite_test

import (
	"errors"
	"fmt"
	"strings"
	"testing"
	"testing/fstest"

	"github.com/callwright/callwright"
	"github.com/callwright/callwright/agents/llm"
	"github.com/callwright/callwright/agenttest/assert"
	"github.com/callwright/callwright/agenttest/scenario"
	"github.com/callwright/callwright/agenttest/suite"
)

const orders = `
# What the shop promises.
scenarios:
  - name: Orders a pizza
    category: HAPPY_PATH
    tester_persona_prompt: |
      You want one pizza.
      You pay by card.
    max_turns: 6
    request_data: {shop: "7", open: true}
    webhook_mocks:
      - {url: "https://shop.example/*", status: 201, body: {order: 5}, delay_ms: 20}
    assertions:
      - type: NODE_REACHED
        config: {node_id: paid}
      - type: STRING_CHECK
        name: Says goodbye
        is_required: false
        weight: 0.5
        config: {operator: contains, value: goodbye}
  - name: Hangs up
    scenario_type: REPLAY
    enabled: false
    input_messages:
      - {role: user, content: Never mind.}
`

func TestParse(t *testing.T) {
	t.Parallel()
	all, err := suite.Parse([]byte(orders))
	if err != nil || len(all) != 2 {
		t.Fatalf("got %+v, %v", all, err)
	}
	pizza, gone := all[0], all[1]
	if pizza.Category != scenario.HappyPath || pizza.Kind != scenario.Agent || !strings.Contains(pizza.CallerPrompt, "card.\n") || !pizza.Enabled || pizza.MaxTurns != 6 {
		t.Errorf("got %+v", pizza)
	}
	if m := pizza.Webhooks[0]; m.Status != 201 || string(m.Body) != `{"order":5}` || m.Delay.Milliseconds() != 20 || pizza.RequestData["open"] != true {
		t.Errorf("got %+v, %v", m, pizza.RequestData)
	}
	if a := pizza.Assertions; len(a) != 2 || !a[0].Required || a[0].Weight != 1 || a[1].Required || a[1].Weight != 0.5 || a[1].Type != assert.StringCheck {
		t.Errorf("got %+v", a)
	}
	if gone.Enabled || gone.Kind != scenario.Replay || gone.Messages[0].Role != llm.RoleCaller || gone.MaxTurns != scenario.DefaultMaxTurns {
		t.Errorf("got %+v", gone)
	}
	for _, same := range []string{`[{"name":"A","tester_persona_prompt":"p"}]`, `{"name":"A","tester_persona_prompt":"p"}`, "name: A\ntester_persona_prompt: p"} {
		if one, err := suite.Parse([]byte(same)); err != nil || len(one) != 1 || one[0].Name != "A" {
			t.Errorf("%s gave %+v, %v", same, one, err)
		}
	}
}

func TestParseRefuses(t *testing.T) {
	t.Parallel()
	for text, want := range map[string]string{
		"name: [":                                "invalid YAML",
		"scenarios: []":                          "scenarios: must contain at least one scenario",
		"name: A\ntester: x":                     `unknown field "tester"`,
		"scenarios: [{name: A, max_turns: six}]": "scenarios[0].max_turns: must be an integer",
		"name: A\ntester_persona_prompt: p\nassertions: [{type: REGEX_MATCH, config: {pattern: '('}}]": "assertions[0].config.pattern: ",
		"- {name: A, tester_persona_prompt: p}\n- {name: B}":                                           "[1].tester_persona_prompt: is required",
		"name: A\ninput_messages: [{role: robot, content: x}]":                                         "input_messages[0].role: ",
		"1: A":  "must be a string, because it names a member",
		"":      "must be a scenario, a list of scenarios",
		"a,b,c": "must be a scenario, a list of scenarios",
		"- - -": "",
	} {
		_, err := suite.Parse([]byte(text))
		if err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%q gave %v, want %q", text, err, want)
		}
	}
	wrong := "scenarios: [{name: ''}, {name: B, max_turns: 900}]"
	_, err := suite.Parse([]byte(wrong))
	if list, ok := errors.AsType[callwright.FieldErrors](err); !ok || len(list) != 4 {
		t.Errorf("the faults are not all named: %v", err)
	}
}

func TestLoad(t *testing.T) {
	t.Parallel()
	one := func(name string) *fstest.MapFile {
		return &fstest.MapFile{Data: fmt.Appendf(nil, "name: %s\ntester_persona_prompt: p\n", name)}
	}
	files := fstest.MapFS{
		"tests/orders.yaml": {Data: []byte(orders)}, "tests/deep/more.json": {Data: []byte(`{"name":"C","tester_persona_prompt":"p"}`)},
		"tests/README.md": one("no scenario"), "other/c.yml": one("C"), "other/broken.yaml": {Data: []byte("name: D")},
		"large/l.yaml": {Data: []byte("name: " + strings.Repeat("x", suite.MaxFile))}, "empty/x.txt": one("X"),
	}
	all, err := suite.Load(files, "tests")
	if err != nil || len(all) != 3 || all[0].Name != "C" || all[1].Name != "Orders a pizza" {
		t.Errorf("got %+v, %v", all, err)
	}
	for names, want := range map[string]string{
		"tests other": `other/c.yml: the name "C" must be unique: a scenario in tests/deep/more.json has the same name`,
		"other":       "other/broken.yaml:1:1: tester_persona_prompt: is required",
		"large":       "large/l.yaml: must have at most",
		"none":        "none",
		"empty":       "no file ends in .yaml",
	} {
		if _, err := suite.Load(files, strings.Fields(names)...); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%s gave %v, want %q", names, err, want)
		}
	}
}

func FuzzParse(f *testing.F) {
	f.Add([]byte(orders))
	f.Add([]byte(`[{"name":"A","assertions":[{"type":"NODE_REACHED"}]}]`))
	f.Fuzz(func(t *testing.T, text []byte) {
		all, err := suite.Parse(text)
		if err != nil {
			return
		}
		for _, s := range all {
			if err := s.Check(); err != nil {
				t.Errorf("a scenario was read that is refused: %v", err)
			}
		}
	})
}
