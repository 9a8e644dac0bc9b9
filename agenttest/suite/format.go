package suite

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"math"
	"reflect"
	"slices"
	"strconv"
	"strings"

	"go.yaml.in/yaml/v3"

	"github.com/callwright/callwright/agents/llm"
	"github.com/callwright/callwright/agenttest/assert"
	"github.com/callwright/callwright/agenttest/scenario"
)

// Member is a member of a scenario as files and the contract write it. Values are JSON values; numbers are json.Number.
type Member struct {
	Name  string
	Value any
	Unset bool // it has the value of an omitted member
}

// Members returns the members of a scenario in the order for human readers, without ids and the tested agent. Only the list orders
// assertions.
func Members(s scenario.Scenario) ([]Member, error) {
	list := []struct {
		name         string
		value, unset any
	}{
		{"name", s.Name, nil},
		{"description", s.Description, ""},
		{"category", s.Category, scenario.Custom},
		{"scenario_type", s.Kind, scenario.Agent},
		{"tester_persona_prompt", s.CallerPrompt, ""},
		{"tester_persona_name", s.CallerName, ""},
		{"advanced_instructions", orNull(s.Instructions), nil},
		{"input_messages", messages(s.Messages), []any{}},
		{"max_turns", s.MaxTurns, scenario.DefaultMaxTurns},
		{"start_node_id", orNull(s.StartNode), nil},
		{"request_data", object(s.RequestData), object(nil)},
		{"webhook_mocks", mocks(s.Webhooks), []any{}},
		{"assertions", assertions(s.Assertions), []any{}},
		{"min_score", s.MinScore, nil},
		{"service_tone_enabled", s.ScoreTone, false},
		{"is_required_for_promotion", s.Required, false},
		{"enabled", s.Enabled, true},
		{"metadata", orEmpty(s.Metadata), object(nil)},
	}
	out := make([]Member, len(list))
	for i, m := range list {
		value, err := plain(m.value)
		if err != nil {
			return nil, fmt.Errorf("%s: %w", m.name, err)
		}
		unset, err := plain(m.unset)
		if err != nil {
			return nil, err
		}
		out[i] = Member{Name: m.name, Value: value, Unset: m.name != "name" && reflect.DeepEqual(value, unset)}
	}
	return out, nil
}

// Format returns members as a file in YAML that Parse reads, and omits Unset members.
func Format(members []Member) ([]byte, error) {
	var text bytes.Buffer
	text.WriteByte('{')
	for _, m := range members {
		if m.Unset {
			continue
		}
		value, err := json.Marshal(m.Value)
		if err != nil {
			return nil, fmt.Errorf("%s: %w", m.Name, err)
		}
		if text.Len() > 1 {
			text.WriteByte(',')
		}
		_, _ = fmt.Fprintf(&text, "%q:%s", m.Name, value)
	}
	text.WriteByte('}')
	var document yaml.Node // JSON is YAML, with the members in their order
	if err := yaml.Unmarshal(text.Bytes(), &document); err != nil {
		return nil, err
	}
	loosen(&document)
	for _, value := range document.Content[0].Content {
		if value.Kind == yaml.SequenceNode {
			for _, item := range value.Content {
				sortMembers(item)
			}
		}
	}
	var out bytes.Buffer
	e := yaml.NewEncoder(&out)
	e.SetIndent(indent)
	err := errors.Join(e.Encode(&document), e.Close())
	return out.Bytes(), err
}

const indent = 2

// first are the members of messages, mocks and assertions to write first, in this order.
var first = []string{"type", "name", "role", "content", "node_id", "method", "url", "status", "body"}

// sortMembers puts the members of an object into the order of first.
func sortMembers(object *yaml.Node) {
	type member struct{ name, value *yaml.Node }
	var members []member
	for i := 0; i+1 < len(object.Content); i += 2 {
		members = append(members, member{object.Content[i], object.Content[i+1]})
	}
	rank := func(m member) int {
		if i := slices.Index(first, m.name.Value); i >= 0 {
			return i
		}
		return len(first)
	}
	slices.SortStableFunc(members, func(a, b member) int { return rank(a) - rank(b) })
	for i, m := range members {
		object.Content[2*i], object.Content[2*i+1] = m.name, m.value
	}
}

// loosen lets the encoder select the style of nodes: blocks, and quotes where needed. It quotes texts of several lines that begin
// with white space or contain a tab, because the encoder writes some of them as unreadable blocks.
func loosen(n *yaml.Node) {
	n.Style = 0
	if strings.Contains(n.Value, "\n") && (strings.TrimLeft(n.Value, " \n") != n.Value || strings.Contains(n.Value, "\t")) {
		n.Style = yaml.DoubleQuotedStyle
	}
	for _, inner := range n.Content {
		loosen(inner)
	}
}

// plain returns a value in its JSON form. Equal numbers have equal texts.
func plain(v any) (out any, err error) {
	raw, err := json.Marshal(v)
	if err != nil {
		return nil, err
	}
	d := json.NewDecoder(bytes.NewReader(raw))
	d.UseNumber()
	if err := d.Decode(&out); err != nil {
		return nil, err
	}
	return numbers(out), nil
}

func numbers(v any) any {
	switch v := v.(type) {
	case map[string]any:
		for name, inner := range v {
			v[name] = numbers(inner)
		}
	case []any:
		for i, inner := range v {
			v[i] = numbers(inner)
		}
	case json.Number:
		if _, err := v.Int64(); err == nil {
			return v
		}
		const exact = 1 << 53
		f, err := v.Float64()
		switch {
		case err != nil:
			return v
		case f == math.Trunc(f) && math.Abs(f) < exact:
			return json.Number(strconv.FormatInt(int64(f), 10))
		default:
			return json.Number(strconv.FormatFloat(f, 'g', -1, 64))
		}
	}
	return v
}

func orNull(text string) any {
	if text == "" {
		return nil
	}
	return text
}

func object(m map[string]any) map[string]any {
	if m == nil {
		return map[string]any{}
	}
	return m
}

func orEmpty(raw json.RawMessage) json.RawMessage {
	if len(raw) == 0 {
		return json.RawMessage("{}")
	}
	return raw
}

func messages(all []scenario.Message) []any {
	out := make([]any, len(all))
	for i, m := range all {
		role := "user"
		if m.Role == llm.RoleAgent {
			role = "assistant"
		}
		out[i] = given(map[string]any{"role": role, "content": m.Text, "node_id": m.Node, "keyword": m.Keyword})
	}
	return out
}

func mocks(all []scenario.WebhookMock) []any {
	out := make([]any, len(all))
	for i, m := range all {
		mock := given(map[string]any{"node_id": m.Node, "url": m.URL, "method": m.Method, "fault": string(m.Fault)})
		if m.Status != 0 {
			mock["status"] = m.Status
		}
		if m.Delay > 0 {
			mock["delay_ms"] = m.Delay.Milliseconds()
		}
		if len(m.Body) > 0 {
			mock["body"] = m.Body
		}
		out[i] = mock
	}
	return out
}

func assertions(all []assert.Assertion) []any {
	out := make([]any, len(all))
	for i, a := range all {
		one := given(map[string]any{"type": string(a.Type), "name": a.Name, "config": orEmpty(a.Config)})
		if !a.Required {
			one["is_required"] = false
		}
		if a.Weight != 1 {
			one["weight"] = a.Weight
		}
		out[i] = one
	}
	return out
}

// given omits empty texts.
func given(members map[string]any) map[string]any {
	for name, value := range members {
		if value == "" {
			delete(members, name)
		}
	}
	return members
}
