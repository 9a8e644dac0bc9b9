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
	"unicode/utf8"

	"go.yaml.in/yaml/v3"

	"github.com/callwright/callwright/agenttest/scenario"
)

// Member is one member of a scenario's JSON object, with the name that suite files and the /v1 contract use. Value is a decoded JSON value;
// numbers are json.Number.
type Member struct {
	Name  string
	Value any
	Unset bool // the value equals the default of an omitted member
}

// Members returns the members of a scenario in a readable order, without ids and the tested agent. Assertions have no Order member: their
// order in the list replaces it.
func Members(s scenario.Scenario) ([]Member, error) {
	values, err := plain(s)
	if err != nil {
		return nil, err
	}
	unset, err := plain(scenario.Scenario{Category: scenario.Custom, Kind: scenario.Agent, MaxTurns: scenario.DefaultMaxTurns, Enabled: true})
	if err != nil {
		return nil, err
	}
	out := make([]Member, len(members))
	for i, name := range members {
		out[i] = Member{Name: name, Value: values[name], Unset: name != "name" && reflect.DeepEqual(values[name], unset[name])}
	}
	return out, nil
}

// plain returns the JSON form of a scenario, without members that files omit. Equal numbers have equal texts.
func plain(s scenario.Scenario) (map[string]any, error) {
	raw, err := json.Marshal(s)
	if err != nil {
		return nil, err
	}
	var out map[string]any
	d := json.NewDecoder(bytes.NewReader(raw))
	d.UseNumber()
	if err := d.Decode(&out); err != nil {
		return nil, err
	}
	for _, name := range []string{"advanced_instructions", "start_node_id"} {
		if out[name] == "" {
			out[name] = nil
		}
	}
	for _, name := range []string{"input_messages", "webhook_mocks", "assertions"} {
		if out[name] == nil {
			out[name] = []any{}
		}
	}
	for _, name := range []string{"request_data", "metadata"} {
		if out[name] == nil {
			out[name] = map[string]any{}
		}
	}
	numbers(out)
	for _, one := range out["assertions"].([]any) { //nolint:forcetypeassert // it is what was marshaled
		a := one.(map[string]any) //nolint:forcetypeassert // likewise
		delete(a, "id")
		delete(a, "order")
		for name, value := range map[string]any{"name": "", "is_required": true, "weight": json.Number("1")} {
			if a[name] == value {
				delete(a, name)
			}
		}
		if a["config"] == nil {
			a["config"] = map[string]any{}
		}
	}
	return out, nil
}

// Format returns a YAML file with the given members, which Parse can read. It omits Unset members.
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
	var document yaml.Node // JSON is valid YAML, and decoding into a node preserves the order of members
	if err := yaml.Unmarshal(escaped(text.Bytes()), &document); err != nil {
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

// escaped returns the JSON text with \u escapes in place of unprintable characters.
func escaped(text []byte) []byte {
	out := make([]byte, 0, len(text))
	for _, c := range string(text) {
		if unprintable(c) {
			out = fmt.Appendf(out, `\u%04x`, c)
		} else {
			out = utf8.AppendRune(out, c)
		}
	}
	return out
}

// unprintable reports whether c is a character that JSON may contain, but that YAML excludes or treats as a line break (YAML 1.2, section
// 5).
func unprintable(c rune) bool {
	return c >= 0x7f && c <= 0x9f || c == 0xfeff || c == 0xfffe || c == 0xffff
}

const indent = 2

// first lists the members of messages, mocks and assertions that are written first, in this order.
var first = []string{"type", "name", "role", "content", "node_id", "method", "url", "status", "body"}

// sortMembers sorts the members of an object: the members in the list named first precede the others, in the order of that list.
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

// loosen resets the style of nodes, so that the encoder uses blocks, and quotes only where needed. It sets quotes for three kinds of texts:
// texts of several lines that begin with white space or contain a tab, because the encoder writes some of them as unreadable blocks; texts
// with unprintable characters; and "<<", because the plain key "<<" merges objects.
func loosen(n *yaml.Node) {
	n.Style = 0
	block := strings.Contains(n.Value, "\n") && (strings.TrimLeft(n.Value, " \n") != n.Value || strings.Contains(n.Value, "\t"))
	if block || n.Value == "<<" || strings.ContainsFunc(n.Value, unprintable) {
		n.Style = yaml.DoubleQuotedStyle
	}
	for _, inner := range n.Content {
		loosen(inner)
	}
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
