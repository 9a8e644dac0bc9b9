package graph_test

import (
	"encoding/json"
	"fmt"
	"maps"
	"os"
	"slices"
	"strings"
	"testing"

	"go.yaml.in/yaml/v3"

	"github.com/callwright/callwright/agents/pathway/graph"
)

// schema holds the keywords of an OpenAPI schema that the tests compare with Check.
type schema struct {
	Ref        string            `yaml:"$ref"`
	Types      any               `yaml:"type"` // no schema of pathways permits null
	MaxLength  int               `yaml:"maxLength"`
	MaxItems   int               `yaml:"maxItems"`
	Max        int               `yaml:"maxProperties"`
	Minimum    int               `yaml:"minimum"`
	Maximum    int               `yaml:"maximum"`
	Required   []string          `yaml:"required"`
	Properties map[string]schema `yaml:"properties"`
	Items      *schema           `yaml:"items"`
}

// kind returns the type of the schema, "number" for an integer, or "" if it accepts any type.
func (s schema) kind() string {
	kind, _ := s.Types.(string)
	if kind == "integer" {
		return "number"
	}
	return kind
}

// contract reads the contract's schemas for pathways.
func contract(t *testing.T) map[string]schema {
	t.Helper()
	all := map[string]schema{}
	for _, part := range []string{"shared", "pathways"} {
		text, err := os.ReadFile("../../../contract/" + part + ".yaml")
		if err != nil {
			t.Fatal(err)
		}
		var file struct {
			Components struct {
				Schemas map[string]schema `yaml:"schemas"`
			} `yaml:"components"`
		}
		if err := yaml.Unmarshal(text, &file); err != nil {
			t.Fatal(err)
		}
		maps.Copy(all, file.Components.Schemas)
	}
	return all
}

// wrong returns values that violate a schema, by the error that each must cause.
func wrong(s schema) map[string]any {
	kinds := map[string]string{"string": "a string", "boolean": "a boolean", "number": "a number", "array": "an array", "object": "an object"}
	out := map[string]any{}
	for kind, v := range map[string]any{"string": "x", "boolean": true, "number": 5, "array": []any{}, "object": map[string]any{}, "": nil} {
		if kind != s.kind() {
			given := kinds[kind]
			if v == nil {
				given = "null"
			}
			out["must be "+kinds[s.kind()]+", not "+given] = v
		}
	}
	if n := s.MaxLength; n > 0 {
		out[fmt.Sprintf("must have at most %d characters", n)] = strings.Repeat("é", n+1)
	}
	if n := s.Maximum; n > 0 {
		out[fmt.Sprintf("must be from %d to %d", s.Minimum, n)] = n + 1
	}
	if s.Types == "integer" {
		out["must be an integer"] = 0.5
	}
	if n := s.MaxItems; n > 0 {
		out[fmt.Sprintf("must have at most %d items", n)] = make([]int, n+1)
	}
	if n := s.Max; n > 0 {
		many := map[string]any{}
		for i := range n + 1 {
			many[fmt.Sprint("m", i)] = i
		}
		out[fmt.Sprintf("must have at most %d members", n)] = many
	}
	return out
}

// TestContract checks that a value whose type or size violates the contract is reported at its path, even in a node that does not use the
// member. It skips labels and descriptions beside the data of an edge, because Normalize moves them.
func TestContract(t *testing.T) {
	t.Parallel()
	all := contract(t)
	tested := 0
	check := func(list, path, within string, value any) {
		d := documentOf([]string{
			`{"id":"a","type":"Default","data":{"isStart":true,"text":"x"}}`, `{"id":"b","type":"Wait for Response","data":{"more":null}}`,
		}, []string{`{"id":"1","source":"a","target":"b","data":{"alwaysPick":true,"more":[null]}}`})
		if _, err := graph.Check(d); err != nil {
			t.Fatal(err)
		}
		raw, at := d.Nodes[1:], "nodes[1]"
		if list == "edges" {
			raw, at = d.Edges, "edges[0]"
		}
		var entry map[string]any
		if err := json.Unmarshal(raw[0], &entry); err != nil {
			t.Fatal(err)
		}
		put(entry, strings.Split(path, "."), value)
		text, err := json.Marshal(entry)
		if err != nil {
			t.Fatal(err)
		}
		raw[0] = text
		tested++
		_, err = graph.Check(d)
		if !strings.Contains(path, ".") { // Compile reports this member with another text
			within = ""
		}
		if err == nil || !strings.Contains(err.Error(), at+"."+strings.ReplaceAll(path, ".0", "[0]")+": "+within) {
			t.Errorf("%s of %s gave %v", path, text[:min(len(text), 200)], err)
		}
		if strings.HasPrefix(path, "data.url") && list == "nodes" {
			if _, err := graph.Compile(d); err != nil {
				t.Errorf("a stored document is refused: %v", err)
			}
		}
	}
	var walk func(list, prefix string, s schema)
	walk = func(list, prefix string, s schema) {
		if s.Ref != "" {
			name := s.Ref[strings.LastIndex(s.Ref, "/")+1:]
			s = all[name]
		}
		if prefix != "" && s.kind() != "" {
			for text, value := range wrong(s) {
				check(list, prefix, text, value)
			}
		}
		for name, member := range s.Properties {
			if list == "edges" && prefix == "" && (name == "label" || name == "description") {
				continue // Normalize moves these members
			}
			walk(list, strings.TrimPrefix(prefix+"."+name, "."), member)
		}
		if s.Items != nil && s.Items.Ref != "" {
			walk(list, prefix+".0", *s.Items)
		}
	}
	walk("nodes", "", all["PathwayNode"])
	walk("edges", "", all["PathwayEdge"])
	if tested < 200 {
		t.Errorf("only %d members were written", tested)
	}
}

// put sets a member of an object at a path, and creates the objects on the path. "0" in the path means the only item of a list, which
// replaces any list there.
func put(into map[string]any, path []string, value any) {
	if len(path) == 1 {
		into[path[0]] = value
		return
	}
	if len(path) > 1 && path[1] == "0" {
		item := map[string]any{"name": "x", "data": "$.x"}
		if len(path) == 2 {
			into[path[0]] = []any{value}
			return
		}
		put(item, path[2:], value)
		into[path[0]] = []any{item}
		return
	}
	inner, ok := into[path[0]].(map[string]any)
	if !ok {
		inner = map[string]any{}
		into[path[0]] = inner
	}
	put(inner, path[1:], value)
}

// TestUnknownMembers checks that unknown members of any type are accepted and kept, and that a known numeric member must be in the range of
// a float64.
func TestUnknownMembers(t *testing.T) {
	t.Parallel()
	d := documentOf([]string{
		`{"id":"a","type":"Default","width":null,"measured":[1e999],"data":{"isStart":true,"text":"x","dialogueExamples":null,"more":{"x":1}},"position":{"x":1,"z":null}}`,
	}, nil)
	if _, err := graph.Check(d); err != nil {
		t.Error(err)
	}
	if got := d.Normalize(); !slices.EqualFunc(got.Nodes, d.Nodes, func(a, b json.RawMessage) bool { return string(a) == string(b) }) {
		t.Errorf("it became %s", got.Nodes)
	}
	big := documentOf([]string{`{"id":"a","type":"Default","data":{"isStart":true,"text":"x"},"position":{"x":1e999}}`}, nil)
	if _, err := graph.Check(big); err == nil || !strings.Contains(err.Error(), "nodes[0].position.x: must be within the range of a 64-bit floating-point number") {
		t.Errorf("a number that no reader can hold gave %v", err)
	}
}
