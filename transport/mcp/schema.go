package mcp

import (
	"fmt"
	"slices"

	"github.com/google/jsonschema-go/jsonschema"
)

// schema is a JSON schema of an object.
type schema struct{ *jsonschema.Schema }

// schemaOf returns the schema of a type. A slice is a list and never null.
func schemaOf[T any]() (schema, error) {
	s, err := jsonschema.For[T](nil)
	if err != nil {
		return schema{}, fmt.Errorf("mcp: schema: %w", err)
	}
	neverNull(s)
	return schema{s}, nil
}

// neverNull makes every list of a schema one that is not null, below it, too.
func neverNull(s *jsonschema.Schema) {
	if s == nil {
		return
	}
	if slices.Contains(s.Types, "array") {
		s.Type, s.Types = "array", nil
	}
	neverNull(s.Items)
	for _, p := range s.Properties {
		neverNull(p)
	}
}

// length bounds a text in characters.
func (s schema) length(name string, least, most int) {
	p := s.Properties[name]
	p.MinLength, p.MaxLength = &least, &most
}

// bounds sets the least and the most of a number.
func (s schema) bounds(name string, least, most float64) {
	p := s.Properties[name]
	p.Minimum, p.Maximum = &least, &most
}

// items bounds a list.
func (s schema) items(name string, most int) { s.Properties[name].MaxItems = &most }
