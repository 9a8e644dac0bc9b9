package scenario_test

import (
	"encoding/json"
	"errors"
	"reflect"
	"testing"

	"github.com/callwright/callwright"
	"github.com/callwright/callwright/agents/llm"
	"github.com/callwright/callwright/agenttest/agenttesttest"
	"github.com/callwright/callwright/agenttest/scenario"
)

// TestCodec checks that encoded scenarios can be decoded without loss, both by Decode and by json.Unmarshal.
func TestCodec(t *testing.T) {
	t.Parallel()
	for name, sc := range map[string]scenario.Scenario{"full": agenttesttest.FullScenario("s1"), "empty": {}} {
		raw, err := json.Marshal(sc)
		if err != nil {
			t.Fatal(err)
		}
		var stored scenario.Scenario
		if err := json.Unmarshal(raw, &stored); err != nil {
			t.Fatal(err)
		}
		decoded, err := scenario.Decode(raw)
		if err != nil || !reflect.DeepEqual(decoded, stored) {
			t.Errorf("%s: Decode gave %+v, %v, and Unmarshal %+v", name, decoded, err, stored)
		}
		again, err := json.Marshal(decoded)
		if err != nil || string(again) != string(raw) {
			t.Errorf("%s: %s has become %s (%v)", name, raw, again, err)
		}
		for i, m := range sc.Webhooks {
			stored.Webhooks[i].Body = m.Body // the spelling of the JSON may change
		}
		if !reflect.DeepEqual(stored.Messages, sc.Messages) || !reflect.DeepEqual(stored.Webhooks, sc.Webhooks) {
			t.Errorf("%s: got %+v and %+v", name, stored.Messages, stored.Webhooks)
		}
	}
}

// TestDecodeDefaults checks that absent members have the defaults of the contract.
func TestDecodeDefaults(t *testing.T) {
	t.Parallel()
	sc, err := scenario.Decode([]byte(`{"name": "A", "input_messages": [{"role": "assistant", "content": "Hi."}, {"content": "Hello."}],
		"assertions": [{"type": "REGEX_MATCH"}, {"type": "REGEX_MATCH", "is_required": false, "weight": 0, "order": 7}], "min_score": null}`))
	if err != nil {
		t.Fatal(err)
	}
	if !sc.Enabled || sc.MinScore != nil || sc.Messages[0].Role != llm.RoleAgent || sc.Messages[1].Role != "" {
		t.Errorf("got %+v", sc)
	}
	if a := sc.Assertions[0]; !a.Required || a.Weight != 1 || a.Order != 0 {
		t.Errorf("got %+v", a)
	}
	if a := sc.Assertions[1]; a.Required || a.Weight != 0 || a.Order != 7 {
		t.Errorf("got %+v", a)
	}
}

// TestDecodeFaults checks that errors name the invalid members.
func TestDecodeFaults(t *testing.T) {
	t.Parallel()
	for raw, want := range map[string]string{
		`{"max_turns": "six"}`: "max_turns: must be an integer",
		`{"tester": 1}`:        `tester: unknown field "tester"`,
		`{"assertions": {}}`:   "assertions: must be an array",
		`{"input_messages": [{}, {"text": 1}], "webhook_mocks": [{"delay_ms": 1.5}], "assertions": [{"weight": "x"}]}`: `input_messages[1].text: unknown field "text"
webhook_mocks[0].delay_ms: must be an integer
assertions[0].weight: must be a number`,
	} {
		_, err := scenario.Decode([]byte(raw))
		if _, ok := errors.AsType[callwright.FieldErrors](err); !ok || err.Error() != want {
			t.Errorf("%s gave\n%v\nwant\n%s", raw, err, want)
		}
	}
}

// TestDecodePatch checks that a patch changes only given members, that null resets a member to its default, and that every member can be
// changed.
func TestDecodePatch(t *testing.T) {
	t.Parallel()
	before := agenttesttest.FullScenario("s1")
	p, err := scenario.DecodePatch([]byte(`{"start_node_id": null, "min_score": null, "max_turns": 3}`))
	if err != nil {
		t.Fatal(err)
	}
	want := before
	want.StartNode, want.MinScore, want.MaxTurns = "", nil, 3
	if after := p.Apply(before); !reflect.DeepEqual(after, want) {
		t.Errorf("got %+v", after)
	}
	raw, err := json.Marshal(before)
	if err != nil {
		t.Fatal(err)
	}
	if p, err = scenario.DecodePatch(raw); err != nil {
		t.Fatal(err)
	}
	for i, all := 0, reflect.ValueOf(p); i < all.NumField(); i++ {
		if name := all.Type().Field(i).Name; name != "Revision" && !all.Field(i).FieldByName("Set").Bool() {
			t.Errorf("%s is not changed by %s", name, raw)
		}
	}
}
