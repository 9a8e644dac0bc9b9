package mcp

import (
	"bytes"
	"context"
	"encoding/json"
	"maps"
	"slices"
	"strings"
	"unicode/utf8"

	"github.com/google/jsonschema-go/jsonschema"
	sdk "github.com/modelcontextprotocol/go-sdk/mcp"

	"github.com/callwright/callwright"
)

// checkArguments is middleware that refuses invalid arguments of tools with an error that names the argument. Before, it normalizes arguments
// in the forms in which clients and models write them: see normal.
func (t *tools) checkArguments(next sdk.MethodHandler) sdk.MethodHandler {
	return func(ctx context.Context, method string, r sdk.Request) (sdk.Result, error) {
		params, ok := r.GetParams().(*sdk.CallToolParamsRaw)
		if !ok || params == nil || t.schemas[params.Name] == nil {
			return next(ctx, method, r)
		}
		arguments, err := normal(t.schemas[params.Name], params.Arguments)
		if err == nil {
			err = checkObject(t.schemas[params.Name], arguments)
		}
		if err != nil {
			refused := new(sdk.CallToolResult)
			refused.SetError(err)
			return refused, nil
		}
		if params.Arguments, err = json.Marshal(arguments); err != nil {
			return nil, err
		}
		return next(ctx, method, r)
	}
}

// normal returns the arguments of a tool. Some clients send the object as a JSON string, numbers and truth values as strings, and null or ""
// for an optional argument that is not given.
func normal(s *jsonschema.Schema, raw json.RawMessage) (map[string]any, error) {
	var text string
	if json.Unmarshal(raw, &text) == nil && text != "" {
		raw = json.RawMessage(text)
	}
	arguments := map[string]any{}
	if len(raw) > 0 {
		d := json.NewDecoder(bytes.NewReader(raw))
		d.UseNumber()
		if err := d.Decode(&arguments); err != nil || d.More() {
			return nil, callwright.Invalid("arguments", "must be an object with the tool's arguments")
		}
	}
	for name, value := range arguments {
		property := s.Properties[name]
		if property == nil {
			continue
		}
		text, isText := value.(string)
		switch {
		case value == nil, isText && text == "" && !slices.Contains(s.Required, name):
			delete(arguments, name)
		case isText && (property.Type == "integer" || property.Type == "boolean"):
			if parsed := parse(text); parsed != nil {
				arguments[name] = parsed
			}
		}
	}
	return arguments, nil
}

// parse returns a number or a truth value that a text contains, or nil.
func parse(text string) any {
	d := json.NewDecoder(strings.NewReader(text))
	d.UseNumber()
	var value any
	if d.Decode(&value) != nil || d.More() {
		return nil
	}
	switch value.(type) {
	case json.Number, bool:
		return value
	default:
		return nil
	}
}

// checkObject checks the arguments of a tool against its schema. It refuses unknown arguments.
func checkObject(s *jsonschema.Schema, arguments map[string]any) error {
	takes := slices.Sorted(maps.Keys(s.Properties))
	for _, name := range slices.Sorted(maps.Keys(arguments)) {
		if s.Properties[name] == nil {
			return callwright.Invalid(callwright.Clip(name, 64), "is unknown: the arguments of this tool are %s", strings.Join(takes, ", "))
		}
	}
	for _, name := range s.Required {
		if _, given := arguments[name]; !given {
			return callwright.Invalid(name, "is required")
		}
	}
	for _, name := range takes {
		if value, given := arguments[name]; given {
			if err := checkValue(name, s.Properties[name], value); err != nil {
				return err
			}
		}
	}
	return nil
}

// checkValue checks the type and the limits of one argument.
func checkValue(name string, s *jsonschema.Schema, value any) error {
	switch s.Type {
	case "string":
		text, ok := value.(string)
		if !ok {
			return callwright.Invalid(name, "must be a string")
		}
		if n := utf8.RuneCountInString(text); s.MinLength != nil && n < *s.MinLength || s.MaxLength != nil && n > *s.MaxLength {
			return callwright.Invalid(name, "must have %d to %d characters, and has %d", *s.MinLength, *s.MaxLength, n)
		}
	case "boolean":
		if _, ok := value.(bool); !ok {
			return callwright.Invalid(name, "must be true or false")
		}
	case "integer":
		number, ok := value.(json.Number)
		n, err := number.Float64()
		if !ok || err != nil || n != float64(int64(n)) || s.Minimum != nil && n < *s.Minimum || s.Maximum != nil && n > *s.Maximum {
			return callwright.Invalid(name, "must be a whole number from %.0f to %.0f", *s.Minimum, *s.Maximum)
		}
	}
	return nil
}
