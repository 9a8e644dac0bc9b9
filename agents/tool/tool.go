// Package tool is what an agent's model may call while it talks: requests to other systems, described so that a model
// knows when to make them.
package tool

import (
	"bytes"
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

// Tool is a tool that was checked and parsed. It never changes, and may be shared.
type Tool struct {
	name, description string
	schema            schema
	call              *request.Call
	speech            *template.Template
}

// The limits of a tool.
const (
	maxBytes       = 64 << 10 // of all of it as JSON
	maxDescription = 1024     // bytes
)

// definition is a tool as clients write it.
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

var nameForm = regexp.MustCompile(`^[A-Za-z0-9_-]{1,64}$`)

// Parse reads a tool as the contract writes it:
//
//	{"name": "...", "description": "...", "url": "...", "method": "GET", "headers": {}, "query": {}, "body": {},
//	 "input_schema": {"type": "object", "properties": {}}, "response": {"variable": "$.path"}, "speech": "...",
//	 "timeout": 10000}
//
// Its timeout is in milliseconds. A body that is a string is sent as it is, any other as JSON. Members that are not known
// here don't count. The first fault is a CodeBadRequest with its field; a tool that is only named by its id is one too,
// because no tools are stored.
func Parse(raw json.RawMessage) (*Tool, error) {
	if len(raw) > maxBytes {
		return nil, callwright.Invalid("", "must not have more than %d bytes", maxBytes)
	}
	if bytes.HasPrefix(bytes.TrimSpace(raw), []byte{'"'}) {
		return nil, callwright.Invalid("", "must be the tool itself: there are no stored tools that an id could name")
	}
	var d definition
	if err := json.Unmarshal(raw, &d); err != nil {
		if wrong, ok := errors.AsType[*json.UnmarshalTypeError](err); ok && wrong.Field != "" {
			return nil, callwright.Invalid(wrong.Field, "must not be a JSON %s", wrong.Value)
		}
		return nil, callwright.Invalid("", "must be an object of JSON")
	}
	if !nameForm.MatchString(d.Name) {
		return nil, callwright.Invalid("name", "must have 1 to 64 letters, digits, _ or -")
	}
	if len(d.Description) > maxDescription {
		return nil, callwright.Invalid("description", "must not have more than %d bytes", maxDescription)
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

// source is the tool's request.
func (d definition) source() (s request.Source, err error) {
	s = request.Source{Method: d.Method, URL: d.URL}
	if s.Headers, err = pairs("headers", d.Headers); err != nil {
		return s, err
	}
	if s.Query, err = pairs("query", d.Query); err != nil {
		return s, err
	}
	if d.Timeout < 0 || d.Timeout > 0 && d.Timeout < 1 {
		return s, callwright.Invalid("timeout", "must be milliseconds")
	}
	s.Timeout = time.Duration(min(d.Timeout, float64(request.LongestTimeout.Milliseconds()))) * time.Millisecond
	s.Body = d.body()
	for _, name := range slices.Sorted(maps.Keys(d.Response)) {
		s.Variables = append(s.Variables, request.Mapping{Name: name, Path: d.Response[name]})
	}
	return s, nil
}

// body is the text of the body. An empty object is none for a method that has none as a rule.
func (d definition) body() string {
	text := string(bytes.TrimSpace(d.Body))
	switch bare := d.Method == "" || strings.EqualFold(d.Method, "GET") || strings.EqualFold(d.Method, "DELETE"); {
	case text == "", text == "null", text == "{}" && bare:
		return ""
	case text[0] == '"':
		_ = json.Unmarshal(d.Body, &text) // it is JSON, and a string
	}
	return text
}

// pairs are the members of an object, by name. A value that is no string counts as it is written.
func pairs(field string, members map[string]json.RawMessage) ([]request.Pair, error) {
	var all []request.Pair
	for _, name := range slices.Sorted(maps.Keys(members)) {
		value := string(members[name])
		switch value[0] {
		case '{', '[':
			return nil, callwright.Invalid(field+"."+name, "must be a text")
		case 'n': // null
			value = ""
		case '"':
			_ = json.Unmarshal(members[name], &value) // it is JSON, and a string
		}
		all = append(all, request.Pair{Name: name, Value: value})
	}
	return all, nil
}

// listed is a field of a request.Source that is an object's member in a tool.
var listed = regexp.MustCompile(`^(headers|query|variables)\[(\d+)\]`)

// locate names the field of the tool that a fault of its request is about.
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
