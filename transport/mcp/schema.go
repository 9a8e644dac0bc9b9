package mcp

import (
	"fmt"
	"slices"

	"github.com/google/jsonschema-go/jsonschema"
)

// schema is a JSON schema of an object.
type schema struct{ *jsonschema.Schema }

// schemaOf returns the JSON schema of type T. The schema of a slice does not permit null.
func schemaOf[T any]() (schema, error) {
	s, err := jsonschema.For[T](nil)
	if err != nil {
		return schema{}, fmt.Errorf("mcp: schema: %w", err)
	}
	neverNull(s)
	return schema{s}, nil
}

// neverNull excludes null from every list in a schema, at any depth.
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

// length sets the minimum and maximum length of a text property, in characters.
func (s schema) length(name string, least, most int) {
	p := s.Properties[name]
	p.MinLength, p.MaxLength = &least, &most
}

// bounds sets the minimum and maximum of a number property.
func (s schema) bounds(name string, least, most float64) {
	p := s.Properties[name]
	p.Minimum, p.Maximum = &least, &most
}

// items sets the maximum number of items of a list property.
func (s schema) items(name string, most int) { s.Properties[name].MaxItems = &most }
