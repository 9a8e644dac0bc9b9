package main

import (
	"fmt"

	"strings"

	"go.yaml.in/yaml/v3"
)

// parse parses a YAML document into a tree. It returns an error if a mapping contains a member twice.
func parse(text []byte) (*yaml.Node, error) {
	var anything map[string]any
	if err := yaml.Unmarshal(text, &anything); err != nil { // decoding into a Node would accept duplicate members
		return nil, err
	}
	var document yaml.Node
	if err := yaml.Unmarshal(text, &document); err != nil {
		return nil, err
	}
	return document.Content[0], nil
}

// members calls fn for each member of a mapping, in the order of the document.
func members(mapping *yaml.Node, fn func(name string, value *yaml.Node)) {
	if mapping == nil || mapping.Kind != yaml.MappingNode {
		return
	}
	for i := 0; i < len(mapping.Content); i += 2 {
		fn(mapping.Content[i].Value, mapping.Content[i+1])
	}
}

// member returns the value of a mapping's member, or nil if there is none.
func member(mapping *yaml.Node, name string) *yaml.Node {
	var found *yaml.Node
	members(mapping, func(n string, value *yaml.Node) {
		if n == name {
			found = value
		}
	})
	return found
}

// sequence returns the items of a list, or nil for a nil list.
func sequence(list *yaml.Node) []*yaml.Node {
	if list == nil {
		return nil
	}
	return list.Content
}

// keep deletes the members of a mapping for which fn returns false.
func keep(mapping *yaml.Node, fn func(name string, value *yaml.Node) bool) {
	var kept []*yaml.Node
	for i := 0; i < len(mapping.Content); i += 2 {
		if fn(mapping.Content[i].Value, mapping.Content[i+1]) {
			kept = append(kept, mapping.Content[i], mapping.Content[i+1])
		}
	}
	mapping.Content = kept
}

// tagOf returns the only tag of an operation. It returns "" for other members of a path.
func tagOf(operation *yaml.Node) string {
	if tags := sequence(member(operation, "tags")); len(tags) == 1 {
		return tags[0].Value
	}
	return ""
}

const componentPrefix = "#/components/"

// reached returns the references of all components that a node uses, directly or through other components.
func reached(document, node *yaml.Node) (map[string]bool, error) {
	all := map[string]bool{}
	var visit func(node *yaml.Node) error
	visit = func(node *yaml.Node) error {
		// A reference is the value of $ref, or of the mapping of a discriminator.
		if node.Kind == yaml.ScalarNode && strings.HasPrefix(node.Value, componentPrefix) && !all[node.Value] {
			all[node.Value] = true
			kind, name, _ := strings.Cut(strings.TrimPrefix(node.Value, componentPrefix), "/")
			component := member(member(member(document, "components"), kind), name)
			if component == nil {
				return fmt.Errorf("%s does not exist", node.Value)
			}
			return visit(component)
		}
		for _, child := range node.Content {
			if err := visit(child); err != nil {
				return err
			}
		}
		return nil
	}
	return all, visit(node)
}
