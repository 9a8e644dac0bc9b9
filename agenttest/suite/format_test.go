package suite_test

import (
	"encoding/json"
	"fmt"
	"reflect"
	"testing"

	"pgregory.net/rapid"

	"github.com/callwright/callwright/agenttest/agenttesttest"
	"github.com/callwright/callwright/agenttest/scenario"
	"github.com/callwright/callwright/agenttest/suite"
)

// The function again formats a scenario and parses the result. It returns the text, and the scenario's members before and after.
func again(t *testing.T, s scenario.Scenario) (text string, before, after []suite.Member) {
	t.Helper()
	before, err := suite.Members(s)
	if err != nil {
		t.Fatal(err)
	}
	raw, err := suite.Format(before)
	if err != nil {
		t.Fatal(err)
	}
	read, err := suite.Parse(raw)
	if err != nil || len(read) != 1 {
		t.Fatalf("%d scenarios, %v of\n%s", len(read), err, raw)
	}
	if after, err = suite.Members(read[0]); err != nil {
		t.Fatal(err)
	}
	return string(raw), before, after
}

func TestFormat(t *testing.T) {
	t.Parallel()
	all, err := suite.Parse([]byte(orders))
	if err != nil {
		t.Fatal(err)
	}
	for _, s := range all {
		text, before, after := again(t, s)
		if !reflect.DeepEqual(before, after) {
			t.Errorf("%+v has become %+v of\n%s", before, after, text)
		}
	}
	text, _, _ := again(t, all[0])
	const want = `name: Orders a pizza
category: HAPPY_PATH
tester_persona_prompt: |
  You want one pizza.
  You pay by card.
max_turns: 6
request_data:
  open: true
  shop: "7"
webhook_mocks:
  - url: https://shop.example/*
    status: 201
    body:
      order: 5
    delay_ms: 20
assertions:
  - type: NODE_REACHED
    config:
      node_id: paid
  - type: STRING_CHECK
    name: Says goodbye
    config:
      operator: contains
      value: goodbye
    is_required: false
    weight: 0.5
`
	if text != want {
		t.Errorf("got\n%s", text)
	}
}

// TestFormatOfEverything checks that Members returns a member for each field that files contain. In a scenario with a value in each field,
// only members that equal their default may be Unset.
func TestFormatOfEverything(t *testing.T) {
	t.Parallel()
	full := agenttesttest.FullScenario("s1")
	full.Kind = scenario.Agent
	members, err := suite.Members(full)
	if err != nil {
		t.Fatal(err)
	}
	for _, m := range members {
		if m.Unset && m.Name != "scenario_type" && m.Name != "enabled" {
			t.Errorf("%s is left out: %v", m.Name, m.Value)
		}
	}
	// All fields except ID, Org, Pathway, Persona, the two timestamps and Revision are members.
	if want := reflect.TypeFor[scenario.Scenario]().NumField() - 7; len(members) != want {
		t.Errorf("there are %d members, and %d fields", len(members), want)
	}
}

// TestFormatOfAnyText checks that texts that resemble other YAML types remain texts, and that numbers remain numbers.
func TestFormatOfAnyText(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(rt *rapid.T) {
		text := rapid.OneOf(
			rapid.StringOf(rapid.RuneFrom([]rune("ab \n\t:#-'\"{}[]%&*!|>@`,\\~0é\u2028\U0001F600\u007f\u0080\u0085\u009f\ufeff\ufffe\uffff"))),
			rapid.SampledFrom([]string{"true", "no", "12", "0x1f", "1e3", "null", "~", "2026-01-02", "=", "<<", "- a", "a: b", "...", "---"}),
		).Draw(rt, "text")
		number := rapid.SampledFrom([]string{"0", "-7", "9007199254740991", "0.25", "1e300", "12.0"}).Draw(rt, "number")
		s := scenario.Scenario{
			Name: "n", CallerPrompt: "p" + text, Category: scenario.Custom, Kind: scenario.Agent, MaxTurns: 20, Enabled: true,
			RequestData: map[string]any{"x" + text: text, "n": json.Number(number), "l": []any{text, nil, true}, "o": map[string]any{text: "v"}},
			Metadata:    json.RawMessage(fmt.Sprintf(`{"v":%s}`, number)),
		}
		file, before, after := again(t, s)
		if !reflect.DeepEqual(before, after) {
			rt.Errorf("%v has become %v of\n%s", before, after, file)
		}
	})
}

// TestFormatOfBlocks checks that texts of several lines that YAML cannot represent as blocks are formatted and parsed without loss.
func TestFormatOfBlocks(t *testing.T) {
	t.Parallel()
	for _, text := range []string{"x\ta\na", "\ta\nb", "\n[]", " a\nb", "a\n\tb\n", "\n\n", "a\n b\n"} {
		s := scenario.Scenario{
			Name: "n", CallerPrompt: "p", Category: scenario.Custom, Kind: scenario.Agent, MaxTurns: 20, Enabled: true,
			RequestData: map[string]any{text: text, "l": []any{text}},
		}
		if file, before, after := again(t, s); !reflect.DeepEqual(before, after) {
			t.Errorf("%v has become %v of\n%s", before, after, file)
		}
	}
}
