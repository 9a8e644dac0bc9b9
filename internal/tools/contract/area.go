package main

import (
	"bytes"
	"fmt"
	"slices"
	"strings"

	"go.yaml.in/yaml/v3"
)

// Area returns a self-contained document for ogen: the operations of the given tags, or of all tags if there are none, and the components
// that they use.
//
// Error statuses are folded into the default response, because ogen generates a type for each listed status. Operations lose their groups,
// because an area is one interface. The security scheme becomes one for which the server inspects the request itself, because an API key is
// not the only way to authenticate. Members without effect and aliases are omitted, because the server removes or renames them in bodies.
func Area(text []byte, tags []string) ([]byte, error) { return areaOf(text, tags, false) }

// areaOf returns the document of Area. If withPrepared is set, it includes the members without effect and the aliases.
func areaOf(text []byte, tags []string, withPrepared bool) ([]byte, error) {
	document, err := parse(text)
	if err != nil {
		return nil, err
	}
	if tags, err = selectTags(document, tags); err != nil {
		return nil, err
	}
	if !withPrepared {
		removePrepared(document)
	}
	paths := member(document, "paths")
	keep(paths, func(_ string, item *yaml.Node) bool {
		keep(item, func(_ string, operation *yaml.Node) bool {
			if !slices.Contains(tags, tagOf(operation)) {
				return false
			}
			foldErrors(operation)
			keep(operation, func(name string, _ *yaml.Node) bool { return name != "x-ogen-operation-group" })
			return true
		})
		return len(item.Content) > 0
	})
	refs, err := reached(document, paths)
	if err != nil {
		return nil, err
	}
	members(member(document, "components"), func(kind string, components *yaml.Node) {
		keep(components, func(name string, _ *yaml.Node) bool {
			return kind == "securitySchemes" || refs[componentPrefix+kind+"/"+name]
		})
	})
	members(member(member(document, "components"), "securitySchemes"), func(_ string, scheme *yaml.Node) {
		scheme.Content = append(scheme.Content, &yaml.Node{Kind: yaml.ScalarNode, Value: "x-ogen-custom-security"},
			&yaml.Node{Kind: yaml.ScalarNode, Tag: "!!bool", Value: "true"})
	})
	var out bytes.Buffer
	encoder := yaml.NewEncoder(&out)
	encoder.SetIndent(2)
	if err := encoder.Encode(document); err != nil {
		return nil, err
	}
	return out.Bytes(), nil
}

// removePrepared deletes the members without effect and the aliases from all schemas below a node.
func removePrepared(node *yaml.Node) {
	members(node, func(name string, properties *yaml.Node) {
		if name == "properties" && properties.Kind == yaml.MappingNode {
			keep(properties, func(_ string, property *yaml.Node) bool {
				return member(property, noEffect) == nil && member(property, aliasOf) == nil
			})
		}
	})
	for _, child := range node.Content {
		removePrepared(child)
	}
}

// selectTags deletes the tags that are not wanted from the document, and returns the remaining tags. It returns an error for an unknown
// tag. An empty list means all tags.
func selectTags(document *yaml.Node, wanted []string) ([]string, error) {
	list := member(document, "tags")
	var known, kept []string
	var nodes []*yaml.Node
	for _, tag := range sequence(list) {
		name := member(tag, "name").Value
		known = append(known, name)
		if len(wanted) == 0 || slices.Contains(wanted, name) {
			kept, nodes = append(kept, name), append(nodes, tag)
		}
	}
	for _, name := range wanted {
		if !slices.Contains(known, name) {
			return nil, fmt.Errorf("no area has the tag %q; the tags are %s", name, strings.Join(known, ", "))
		}
	}
	list.Content = nodes
	return kept, nil
}

// foldErrors deletes the responses of an operation except the 2xx statuses and the default.
func foldErrors(operation *yaml.Node) {
	if responses := member(operation, "responses"); responses != nil {
		keep(responses, func(status string, _ *yaml.Node) bool {
			return status == "default" || strings.HasPrefix(status, "2")
		})
	}
}
