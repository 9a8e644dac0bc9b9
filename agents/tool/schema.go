package tool

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/santhosh-tekuri/jsonschema/v6"

	"github.com/callwright/callwright"
	"github.com/callwright/callwright/agents/request"
)

// schema is the schema of a tool's input. The zero schema accepts every object.
type schema struct {
	parameters json.RawMessage // for the model; nil means none
	properties []string        // names of the properties, sorted
	compiled   *jsonschema.Schema
	size       int // number of schemas within the schema
	leaves     int // texts, numbers and other values without members in the schema
	patterns   int // estimated total number of steps of the compiled patterns
}

// parseSchema parses a schema, and completes an abbreviated one. It loads no other documents, and refuses references, even to parts of the
// same schema, because their cost is unbounded.
func parseSchema(raw json.RawMessage) (s schema, err error) {
	const field = "input_schema"
	if len(raw) == 0 || bytes.Equal(raw, []byte("null")) {
		return s, nil
	}
	value, _ := request.Decode(raw)
	document, ok := value.(map[string]any)
	if !ok {
		return s, callwright.Invalid(field, "must be an object that is a JSON schema")
	}
	if refers(document) {
		return s, callwright.Invalid(field, "must not contain $ref, $dynamicRef or $recursiveRef: replace each by its schema")
	}
	if s.size = schemas(document); s.size > maxSchemas {
		return s, callwright.Invalid(field, "must have at most %d schemas", maxSchemas)
	}
	s.parameters = raw
	if normalize(document) {
		s.parameters = request.Encode(document)
	}
	if document["type"] != "object" {
		return s, callwright.Invalid(field+".type", "must be \"object\"")
	}
	properties, _ := document["properties"].(map[string]any)
	s.properties = slices.Sorted(maps.Keys(properties))
	s.leaves = leaves(document)
	if s.compiled, s.patterns, err = compile(document); err != nil {
		return s, callwright.Invalid(field, "must be a valid JSON schema, without patterns that repeat like x{1000}").Because(err)
	}
	return s, nil
}

// normalize completes an abbreviated schema, and reports whether it changed the schema. It adds a missing type. It replaces a property that
// is a text by a string schema with the text as its description.
func normalize(document map[string]any) (changed bool) {
	if document["type"] == nil {
		document["type"], changed = "object", true
	}
	properties, _ := document["properties"].(map[string]any)
	for name, property := range properties {
		if text, ok := property.(string); ok {
			properties[name], changed = map[string]any{"type": "string", "description": text}, true
		}
	}
	return changed
}

// nothing is a schema loader that refuses every URL.
type nothing struct{}

func (nothing) Load(string) (any, error) { return nil, errors.New("tool: schemas are not loaded") }

// compile compiles a schema, and returns the total steps of its patterns.
func compile(document any) (compiled *jsonschema.Schema, patterns int, err error) {
	const name = "tool:input"
	c := jsonschema.NewCompiler()
	c.UseLoader(nothing{})
	c.UseRegexpEngine(func(pattern string) (jsonschema.Regexp, error) {
		e, n, err := expression(pattern)
		patterns += n
		return e, err
	})
	if err := c.AddResource(name, document); err != nil {
		return nil, 0, err
	}
	compiled, err = c.Compile(name)
	return compiled, patterns, err
}

// refers reports whether a schema contains references.
func refers(value any) bool {
	switch value := value.(type) {
	case []any:
		return slices.ContainsFunc(value, refers)
	case map[string]any:
		for key, inner := range value {
			if key == "$ref" || key == "$dynamicRef" || key == "$recursiveRef" || refers(inner) {
				return true
			}
		}
	}
	return false
}

// These constants limit the number of schemas. Compiling a schema costs as much as hundreds of bytes of other text.
const (
	maxSchemas    = 256  // in the input schema of a tool
	maxSetSchemas = 1024 // in all tools of a Set
)

// schemas returns an upper bound on the number of schemas in a value.
func schemas(value any) int {
	n := 0
	switch value := value.(type) {
	case bool:
		n = 1
	case []any:
		for _, inner := range value {
			n += schemas(inner)
		}
	case map[string]any:
		n = 1
		for _, inner := range value {
			n += schemas(inner)
		}
	}
	return n
}

// leaves returns the number of leaves in a value: the values that are neither objects nor lists.
func leaves(value any) int {
	n := 0
	switch value := value.(type) {
	case []any:
		for _, inner := range value {
			n += leaves(inner)
		}
	case map[string]any:
		for _, inner := range value {
			n += leaves(inner)
		}
	default:
		n = 1
	}
	return n
}

// steps estimates the steps that checking arguments costs. Each pattern may be matched with each text, and each schema and each enum value
// may be compared with each value.
func (s schema) steps(arguments []byte) float64 {
	const perSchema, perLeaf, bytesPerStep = 10, 16, 16
	met := float64(s.size*perSchema+s.leaves*perLeaf) * float64(request.MostValues(arguments))
	return met + float64(s.patterns)*float64(len(arguments))/bytesPerStep
}

// maxArguments is the maximum length of the arguments of a tool call, in bytes.
const maxArguments = 16 << 10

// arguments decodes and checks the arguments of a tool call. If it refuses them, it returns a reason for the model.
func (s schema) arguments(ctx context.Context, raw json.RawMessage) (input map[string]any, refusal string) {
	if len(bytes.TrimSpace(raw)) == 0 {
		raw = json.RawMessage("{}")
	}
	if len(raw) > maxArguments {
		return nil, fmt.Sprintf("the arguments must have at most %d bytes", maxArguments)
	}
	value, _ := request.Decode(raw)
	input, ok := value.(map[string]any)
	if !ok {
		return nil, "the arguments must be a JSON object"
	}
	if s.compiled == nil {
		return input, ""
	}
	if !request.Spend(ctx, s.steps(raw)) {
		return nil, "the arguments are too long to be checked against the schema in this turn"
	}
	if err := s.compiled.Validate(value); err != nil {
		return nil, "the arguments do not fit the schema: " + problems(err)
	}
	return input, ""
}

// maxProblems is the maximum number of problems that a refusal reports to the model.
const maxProblems = 5

// problems returns the first maxProblems problems found by a validation, without the schema's name.
func problems(err error) string {
	found, ok := errors.AsType[*jsonschema.ValidationError](err)
	if !ok {
		return "they cannot be checked"
	}
	var texts []string
	for _, unit := range found.BasicOutput().Errors {
		if unit.Error != nil && len(texts) < maxProblems {
			texts = append(texts, strings.TrimSpace(unit.InstanceLocation+" "+unit.Error.String()))
		}
	}
	return strings.Join(texts, "; ")
}
