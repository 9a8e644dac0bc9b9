// Package tool implements the tools that an agent's model may call during a conversation. A tool is a request to another system, with a
// description for the model that explains its use.
package tool

import (
	"bytes"
	"cmp"
	"encoding/json"
	"errors"
	"maps"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/callwright/callwright"
	"github.com/callwright/callwright/agents/request"
	"github.com/callwright/callwright/agents/template"
)

// Tool is a parsed tool. It is immutable, and safe for concurrent use.
type Tool struct {
	name, description string
	schema            schema
	call              *request.Call
	speech            *template.Template
}

// These constants limit a tool.
const (
	maxBytes       = 64 << 10 // bytes of the whole tool as JSON
	maxDescription = 1024     // characters
)

// definition is the JSON form of a tool in the API.
type definition struct {
	Name        string                     `json:"name"`
	Description string                     `json:"description"`
	URL         string                     `json:"url"`
	Method      string                     `json:"method"`
	Headers     map[string]json.RawMessage `json:"headers"`
	Query       map[string]json.RawMessage `json:"query"`
	Body        json.RawMessage            `json:"body"`
	InputSchema json.RawMessage            `json:"input_schema"`
	Response    map[string]string          `json:"response"`
	Speech      string                     `json:"speech"`
	Timeout     float64                    `json:"timeout"`
}

// forms describes the fields of a definition that are no strings, for error messages.
var forms = map[string]string{
	"headers":  "an object whose values are strings, numbers or booleans",
	"query":    "an object whose values are strings, numbers or booleans",
	"response": "an object whose values are strings",
	"timeout":  "a number of milliseconds, at least 1",
}

var nameForm = regexp.MustCompile(`^[A-Za-z0-9_-]{1,64}$`)

// Parse parses a tool in the form of the /v1 contract:
//
//	{"name": "...", "description": "...", "url": "...", "method": "GET", "headers": {}, "query": {}, "body": {},
//	 "input_schema": {"type": "object", "properties": {}}, "response": {"variable": "$.path"}, "speech": "...",
//	 "timeout": 10000}
//
// The timeout is in milliseconds. A body that is a string is sent unchanged, any other body as JSON. Unknown members are ignored. A tool
// may have at most 64 KiB of JSON, a description of at most 1024 characters, and a schema that contains at most 256 schemas and no
// references. Parse returns CodeBadRequest for the first invalid field, with the field's name. It refuses an id instead of a tool, because
// no tools are stored.
func Parse(raw json.RawMessage) (*Tool, error) {
	if len(raw) > maxBytes {
		return nil, callwright.Invalid("", "must have at most %d bytes", maxBytes)
	}
	if bytes.HasPrefix(bytes.TrimSpace(raw), []byte{'"'}) {
		return nil, callwright.Invalid("", "must be a tool, not an id: this server stores no tools")
	}
	var d definition
	if err := json.Unmarshal(raw, &d); err != nil {
		if wrong, ok := errors.AsType[*json.UnmarshalTypeError](err); ok && wrong.Field != "" {
			return nil, callwright.Invalid(wrong.Field, "must be %s", cmp.Or(forms[wrong.Field], "a string"))
		}
		return nil, callwright.Invalid("", "must be a JSON object")
	}
	if !nameForm.MatchString(d.Name) {
		return nil, callwright.Invalid("name", "must have 1 to 64 characters, which are A-Z, a-z, 0-9, _ or -")
	}
	if callwright.Longer(d.Description, maxDescription) {
		return nil, callwright.Invalid("description", "must have at most %d characters", maxDescription)
	}
	source, err := d.source()
	if err != nil {
		return nil, err
	}
	t := &Tool{name: d.Name, description: d.Description, speech: template.Parse(d.Speech)}
	if t.call, err = source.Parse(); err != nil {
		return nil, locate(source, err)
	}
	if t.schema, err = parseSchema(d.InputSchema); err != nil {
		return nil, err
	}
	return t, nil
}

// source converts the definition to the source of the tool's request. It returns CodeBadRequest for an invalid header, query parameter or
// timeout.
func (d definition) source() (s request.Source, err error) {
	s = request.Source{Method: d.Method, URL: d.URL}
	if s.Headers, err = pairs("headers", d.Headers); err != nil {
		return s, err
	}
	if s.Query, err = pairs("query", d.Query); err != nil {
		return s, err
	}
	if d.Timeout < 0 || d.Timeout > 0 && d.Timeout < 1 {
		return s, callwright.Invalid("timeout", "must be a number of milliseconds, at least 1")
	}
	s.Timeout = time.Duration(min(d.Timeout, float64(request.LongestTimeout.Milliseconds()))) * time.Millisecond
	s.Body = d.body()
	for _, name := range slices.Sorted(maps.Keys(d.Response)) {
		s.Variables = append(s.Variables, request.Mapping{Name: name, Path: d.Response[name]})
	}
	return s, nil
}

// body returns the text of the body. For GET, DELETE and no method, it returns "" for an empty object.
func (d definition) body() string {
	text := string(bytes.TrimSpace(d.Body))
	switch bare := d.Method == "" || strings.EqualFold(d.Method, "GET") || strings.EqualFold(d.Method, "DELETE"); {
	case text == "", text == "null", text == "{}" && bare:
		return ""
	case text[0] == '"':
		_ = json.Unmarshal(d.Body, &text) // a JSON string
	}
	return text
}

// pairs returns the members of an object as pairs, sorted by name. Numbers and booleans are used as written, and null becomes an empty
// value. For an object or a list, pairs returns CodeBadRequest.
func pairs(field string, members map[string]json.RawMessage) ([]request.Pair, error) {
	var all []request.Pair
	for _, name := range slices.Sorted(maps.Keys(members)) {
		value := string(members[name])
		switch value[0] {
		case '{', '[':
			return nil, callwright.Invalid(field+"."+name, "must be a string, a number or a boolean")
		case 'n': // null
			value = ""
		case '"':
			_ = json.Unmarshal(members[name], &value) // a JSON string
		}
		all = append(all, request.Pair{Name: name, Value: value})
	}
	return all, nil
}

// listed matches the fields of a request.Source's errors that name a list item. In the tool's JSON, these items are members of an object.
var listed = regexp.MustCompile(`^(headers|query|variables)\[(\d+)\]`)

// locate replaces the field of a request.Source's error, such as headers[0], by the member of the tool's JSON.
func locate(s request.Source, err error) error {
	fault, ok := errors.AsType[*callwright.Error](err)
	if !ok {
		return err
	}
	found := listed.FindStringSubmatch(fault.Field)
	if found == nil {
		return err
	}
	named := *fault
	i, _ := strconv.Atoi(found[2])
	switch found[1] {
	case "headers":
		named.Field = "headers." + s.Headers[i].Name
	case "query":
		named.Field = "query." + s.Query[i].Name
	default:
		named.Field = "response." + s.Variables[i].Name
	}
	return &named
}
