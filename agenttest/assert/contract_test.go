package assert_test

import (
	"encoding/json"
	"errors"
	"strings"
	"testing"

	"go.yaml.in/yaml/v3"

	"github.com/callwright/callwright"
	"github.com/callwright/callwright/agenttest/assert"
)

// member is the schema of a configuration's member in the contract.
type member struct {
	Ref     string   `yaml:"$ref"`
	Enum    []any    `yaml:"enum"`
	Maximum *float64 `yaml:"maximum"`
	Longest int      `yaml:"maxLength"`
	Most    int      `yaml:"maxItems"`
}

// TestContract checks that Compile accepts the members, enum values and limits of the contract, and no others.
func TestContract(t *testing.T) {
	t.Parallel()
	var contract struct {
		Components struct {
			Schemas map[string]struct {
				member     `yaml:",inline"`
				Properties map[string]member
			}
		}
	}
	if err := yaml.Unmarshal([]byte(callwright.OpenAPI), &contract); err != nil {
		t.Fatal(err)
	}
	schemas := contract.Components.Schemas
	for kind, schema := range map[assert.Type]string{
		assert.LLMJudge: "TestLLMJudgeConfig", assert.ServiceTone: "TestServiceToneConfig", assert.VariableExtracted: "TestVariableExtractedConfig",
		assert.NodeReached: "TestNodeReachedConfig", assert.NodesVisited: "TestNodesVisitedConfig", assert.WebhookTriggered: "TestWebhookTriggeredConfig",
		assert.RegexMatch: "TestRegexMatchConfig", assert.StringCheck: "TestStringCheckConfig", assert.CustomLLM: "TestCustomLLMConfig",
		assert.TraversalMatch: "TestTraversalMatchConfig",
	} {
		if len(schemas[schema].Properties) == 0 {
			t.Errorf("the contract has no %s", schema)
		}
		for name, m := range schemas[schema].Properties {
			if m.Ref != "" {
				m = schemas[m.Ref[strings.LastIndex(m.Ref, "/")+1:]].member
			}
			for _, word := range m.Enum {
				if problem := refusal(kind, name, word); problem != "" {
					t.Errorf("%s: %s %v: %s", kind, name, word, problem)
				}
			}
			if problem := refusal(kind, name, map[string]any{}); strings.Contains(problem, "unknown") {
				t.Errorf("%s: %s %s", kind, name, problem)
			}
			checkLimits(t, kind, name, m)
		}
	}
}

// checkLimits checks that Compile refuses values beyond the contract's limits for a member. It also checks that Compile accepts the largest
// number and the longest text, except for members that need a special form.
func checkLimits(t *testing.T, kind assert.Type, name string, m member) {
	t.Helper()
	expect := func(value any, fine bool) {
		if problem := refusal(kind, name, value); (problem == "") != fine {
			t.Errorf("%s: %s %.40v: %q", kind, name, value, problem)
		}
	}
	if m.Maximum != nil && name != "min_count" {
		expect(*m.Maximum, true)
		expect(*m.Maximum+1, false)
	}
	if m.Longest > 0 && name != "flags" {
		expect(strings.Repeat("x", m.Longest), true)
		expect(strings.Repeat("x", m.Longest+1), false)
	}
	if m.Most > 0 {
		expect(make([]any, m.Most+1), false)
	}
}

// refusal compiles a configuration in which the named member has the given value, with the other members that this member requires. It
// returns the message of Compile's error about this member, or "". It ignores errors about all other members.
func refusal(kind assert.Type, name string, value any) string {
	config := map[string]any{name: value}
	switch name {
	case "variable":
		config["target"] = "variable"
	case "pass_categories", "categories":
		config["output_type"] = "categorical"
	case "value":
		config["operator"] = "equals"
	case "values":
		config["operator"] = "one_of"
	}
	text, err := json.Marshal(config)
	if err != nil {
		return err.Error()
	}
	_, err = assert.Compile(assert.Assertion{Type: kind, Config: text})
	all, _ := errors.AsType[callwright.FieldErrors](err)
	for _, e := range all {
		if e.Field == "config."+name {
			return e.Message
		}
	}
	return ""
}
