package main

import (
	"bytes"
	"fmt"
	"slices"
	"strings"

	"go.yaml.in/yaml/v3"
)

// Area returns a self-contained document for the generator: the operations of some tags, of all tags if none is named,
// and the components that they reach. Error statuses are folded into the default response, because the generator makes
// a type of its own for each status that an operation names. Operations lose their groups, because the area is one
// interface; and the security scheme becomes one of which the server reads the request itself, because a request may say
// who makes it in other ways than by a key. Members without effect and other names of members stay out: the server
// takes them out of bodies, or renames them.
func Area(text []byte, tags []string) ([]byte, error) { return areaOf(text, tags, false) }

// areaOf is Area, with or without the members that the server prepares itself.
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

// removePrepared deletes the members of schemas that have no effect or are other names.
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

// selectTags deletes the other tags from the document, and returns the remaining ones.
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

// foldErrors leaves the successes and the default of an operation's responses.
func foldErrors(operation *yaml.Node) {
	if responses := member(operation, "responses"); responses != nil {
		keep(responses, func(status string, _ *yaml.Node) bool {
			return status == "default" || strings.HasPrefix(status, "2")
		})
	}
}
