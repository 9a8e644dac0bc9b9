package tool_test

import (
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/callwright/callwright"
	"github.com/callwright/callwright/agents/agentstest"
	"github.com/callwright/callwright/agents/llm"
	"github.com/callwright/callwright/agents/tool"
)

// booking is a tool that sets every member.
const booking = `{
	"name": "BookTable", "description": "Books a table.", "id": "not known here",
	"url": "https://example.com/{{restaurant}}/bookings", "method": "POST", "timeout": 2500.5,
	"headers": {"X-Tenant": "{{tenant}}", "X-Retry": 3, "X-Null": null}, "query": {"day": "{{input.day}}", "dry": false},
	"body": {"seats": "{{input.seats}}", "who": "{{name}}", "all": ["{{input}}"]},
	"input_schema": {
		"type": "object", "required": ["day"], "example": {"day": "2026-05-04", "seats": 2},
		"properties": {"day": {"type": "string", "pattern": "^[0-9-]+$"}, "seats": {"type": "integer", "minimum": 1}, "name": {"type": "string"}}
	},
	"response": {"booking": "$.id", "at": "$.slot.time"}, "speech": "One moment, I am looking at {{input.day}}, {{name}}."
}`

// set parses tools, and fails the test if they are invalid.
func set(t *testing.T, raws ...string) *tool.Set {
	t.Helper()
	var all []json.RawMessage
	for _, raw := range raws {
		all = append(all, json.RawMessage(raw))
	}
	s, err := tool.NewSet(all)
	if err != nil {
		t.Fatal(err)
	}
	return s
}

// minimal returns a tool with a name, a URL and the given members.
func minimal(name, members string) string {
	return fmt.Sprintf(`{"name": %q, "url": "https://example.com/"%s}`, name, members)
}

func TestDefinitions(t *testing.T) {
	t.Parallel()
	s := set(t, booking, minimal("ping", ""), minimal("old", `, "input_schema": {"properties": {"day": "YYYY-MM-DD", "n": {"type": "integer"}}}`))
	got := s.Definitions()
	if len(got) != 3 || got[0].Name != "BookTable" || got[0].Description != "Books a table." || got[1].Parameters != nil {
		t.Fatalf("the definitions are %+v", got)
	}
	if text := string(got[0].Parameters); !strings.Contains(text, `"required": ["day"], "example"`) {
		t.Errorf("the parameters are not as they were written: %s", text)
	}
	if urls := s.URLs(); len(urls) != 3 || urls[0] != "https://example.com/{{restaurant}}/bookings" {
		t.Errorf("the addresses are %q", urls)
	}
	const want = `{"properties":{"day":{"description":"YYYY-MM-DD","type":"string"},"n":{"type":"integer"}},"type":"object"}`
	if text := string(got[2].Parameters); text != want {
		t.Errorf("the parameters are %s, want %s", text, want)
	}
}

func TestNoTools(t *testing.T) {
	t.Parallel()
	s, err := tool.NewSet(nil)
	if s != nil || err != nil {
		t.Fatalf("no tools are %v, %v", s, err)
	}
	client := &agentstest.Requests{}
	call := llm.ToolCall{Name: "x"}
	if s.Definitions() != nil || s.URLs() != nil || s.Speech(t.Context(), call, nil) != "" {
		t.Error("no tools are some")
	}
	if r := s.Call(t.Context(), client, "org", call, nil); r.Text != `{"error":"unknown tool"}` || len(client.Made()) > 0 {
		t.Errorf("a call gave %+v", r)
	}
}

// TestParseFaults checks that the error names the field of a tool's only fault.
func TestParseFaults(t *testing.T) {
	t.Parallel()
	long := strings.Repeat("x", 70_000)
	schema := func(text string) string { return minimal("x", `, "input_schema": `+text) }
	for field, faulty := range map[string][]string{
		"": {
			``, `[]`, `7`, `"TL-1234"`, ` "KB-1234" `, `{"name": "x"`, `{} {}`, minimal("x", `, "body": {"a": "\u00{{x}}"}`), minimal("x", `, "more": "`+long+`"`),
		},
		"name": {`{}`, `null`, minimal("", ""), minimal("a b", ""), minimal("ü", ""), minimal(strings.Repeat("x", 65), ""), `{"name": 7}`},
		"description": {
			minimal("x", `, "description": "`+strings.Repeat("x", 2000)+`"`), minimal("x", `, "description": []`),
		},
		"url":    {`{"name": "x"}`, `{"name": "x", "url": "https://{{host}}/"}`, `{"name": "x", "url": "file:///etc/passwd"}`},
		"method": {minimal("x", `, "method": "TRACE"`)},
		"timeout": {
			minimal("x", `, "timeout": -1`), minimal("x", `, "timeout": 0.5`), minimal("x", `, "timeout": "10s"`),
		},
		"headers":           {minimal("x", `, "headers": [{"key": "a", "value": "b"}]`)},
		"headers.X-A":       {minimal("x", `, "headers": {"A": "", "X-A": "a\nb"}`), minimal("x", `, "headers": {"X-A": ["b"]}`)},
		"headers.Host":      {minimal("x", `, "headers": {"A": "", "Host": "b"}`)},
		"query.deep":        {minimal("x", `, "query": {"a": 1, "deep": {}}`)},
		"body":              {minimal("x", `, "body": "{\"a\": 1{{x}}}"`)},
		"response":          {minimal("x", `, "response": ["$.a"]`), minimal("x", `, "response": {"y": 7}`)},
		"response.x":        {minimal("x", `, "response": {"a": "$.a", "x": "a.b"}`)},
		"input_schema.type": {schema(`{"type": "string"}`), schema(`{"type": ["object"]}`), schema(`{"type": 7}`)},
		"input_schema": {
			schema(`[]`), schema(`7`), schema(`"text"`), schema(`true`), schema(`{"properties": {"a": 7}}`), schema(`{"properties": []}`),
			schema(`{"properties": {"a": {"type": "text"}}}`), schema(`{"properties": {"a": {"pattern": "("}}}`),
			schema(`{"allOf": [` + strings.Repeat("{},", 150) + strings.Repeat("true,", 150) + `{}]}`),
			schema(`{"properties": {"a": {"pattern": "x{1000}"}}}`), schema(`{"patternProperties": {"(x{30}){30}": {}}}`),
			schema(`{"properties": {"a": {"pattern": "` + strings.Repeat("x", 5000) + `"}}}`),
			schema(`{"$ref": "#"}`), schema(`{"properties": {"a": {"$ref": "file:///etc/passwd"}}}`),
			schema(`{"allOf": [{"$ref": "https://example.com/schema"}]}`), schema(`{"$defs": {"a": {"$dynamicRef": "#a"}}}`),
			schema(`{"$schema": "https://example.com/meta"}`), schema(`{"$schema": "file:///etc/passwd"}`),
		},
	} {
		for _, raw := range faulty {
			_, err := tool.Parse(json.RawMessage(raw))
			e, ok := errors.AsType[*callwright.Error](err)
			if !ok || e.Code != callwright.CodeBadRequest || e.Field != field || e.Message == "" {
				t.Errorf("%.120s: %v, want a fault of %q", raw, err, field)
			}
		}
	}
}

// TestPatterns checks that common patterns are accepted, although the size of patterns is limited.
func TestPatterns(t *testing.T) {
	t.Parallel()
	for _, pattern := range []string{
		``, `^\\+[1-9][0-9]{1,14}$`, `^\\d{4}-\\d{2}-\\d{2}$`, `^[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}$`, `^\\p{L}+$`, `^.{1,50}$`,
	} {
		if _, err := tool.Parse(json.RawMessage(minimal("x", `, "input_schema": {"properties": {"a": {"pattern": "`+pattern+`"}}}`))); err != nil {
			t.Errorf("%s: %v", pattern, err)
		}
	}
}

// TestLoadsNothing checks that a schema that refers to a valid local file is refused, and so cannot read files of the server.
func TestLoadsNothing(t *testing.T) {
	t.Parallel()
	file := filepath.Join(t.TempDir(), "meta.json")
	meta := `{"$schema": "https://json-schema.org/draft/2020-12/schema", "$id": "file://` + file + `",
		"$vocabulary": {"https://json-schema.org/draft/2020-12/vocab/core": true}}`
	if err := os.WriteFile(file, []byte(meta), 0o600); err != nil {
		t.Fatal(err)
	}
	_, err := tool.Parse(json.RawMessage(minimal("x", `, "input_schema": {"type": "object", "$schema": "file://`+file+`"}`)))
	if callwright.CodeOf(err) != callwright.CodeBadRequest {
		t.Errorf("got %v", err)
	}
}

func TestNewSetFaults(t *testing.T) {
	t.Parallel()
	var many []json.RawMessage
	for i := range tool.MaxTools + 1 {
		many = append(many, json.RawMessage(minimal(fmt.Sprint("t", i), "")))
	}
	var wide []json.RawMessage
	for i := range 5 {
		properties := strings.Repeat(`{}, `, 250)
		wide = append(wide, json.RawMessage(minimal(fmt.Sprint("t", i), `, "input_schema": {"allOf": [`+properties+`{}]}`)))
	}
	for field, raws := range map[string][]json.RawMessage{
		"tools[4].input_schema": wide,
		"tools":                 many,
		"tools[1]":              {many[0], json.RawMessage(`"TL-1"`)},
		"tools[1].name":         {many[0], many[0]},
		"tools[1].url":          {many[0], json.RawMessage(`{"name": "x"}`)},
		"tools[0].response.x":   {json.RawMessage(minimal("x", `, "response": {"x": ""}`))},
		"tools[0].headers.A B":  {json.RawMessage(minimal("x", `, "headers": {"A B": ""}`))},
	} {
		_, err := tool.NewSet(raws)
		if e, ok := errors.AsType[*callwright.Error](err); !ok || e.Field != field {
			t.Errorf("got %v, want a fault of %s", err, field)
		}
	}
}

func TestTimeout(t *testing.T) {
	t.Parallel()
	for given, want := range map[string]time.Duration{
		"0": 10 * time.Second, "null": 10 * time.Second, "1500.9": 1500 * time.Millisecond, "1e300": 15 * time.Second,
	} {
		client := &agentstest.Requests{}
		set(t, minimal("x", `, "timeout": `+given)).Call(t.Context(), client, "org", llm.ToolCall{Name: "x"}, nil)
		if got := client.Made()[0].Timeout; got != want {
			t.Errorf("%s became %s, want %s", given, got, want)
		}
	}
}

func FuzzParse(f *testing.F) {
	f.Add(booking, `{"day": "2026", "seats": 2}`)
	f.Add(minimal("x", `, "input_schema": {"properties": {"a": "text"}}`), `{"a": 1e999999}`)
	f.Add(minimal("x", `, "body": "{{input}}", "headers": {"a": 1}`), `[]`)
	f.Fuzz(func(t *testing.T, raw, arguments string) {
		s, err := tool.NewSet([]json.RawMessage{json.RawMessage(raw)})
		if err != nil {
			if e, ok := errors.AsType[*callwright.Error](err); !ok || !strings.HasPrefix(e.Field, "tools[0]") {
				t.Errorf("%q gave %v", raw, err)
			}
			return
		}
		d := s.Definitions()[0]
		if d.Parameters != nil && !json.Valid(d.Parameters) {
			t.Errorf("the parameters of %q are %q", raw, d.Parameters)
		}
		r := s.Call(t.Context(), &agentstest.Requests{}, "org", llm.ToolCall{Name: d.Name, Arguments: json.RawMessage(arguments)}, nil)
		if !json.Valid([]byte(r.Text)) {
			t.Errorf("%q with %q gave %q", raw, arguments, r.Text)
		}
	})
}
