package main

import (
	"fmt"

	"go.yaml.in/yaml/v3"
)

// checkPlaces checks that every path is in the part of its tag. It also checks that every component is used, that a component of a single
// area is in this area's part, and that a component of several areas is in the shared part.
func checkPlaces(bundle *yaml.Node, parts []part) error {
	users := map[string][]string{} // files that use a component, by its reference
	for _, p := range parts {
		paths := member(p.tree, "paths")
		if paths == nil {
			continue
		}
		if err := checkTags(p.file, paths); err != nil {
			return err
		}
		refs, err := reached(bundle, paths)
		if err != nil {
			return fmt.Errorf("%s: %w", p.file, err)
		}
		for ref := range refs {
			users[ref] = append(users[ref], p.file)
		}
	}
	for _, p := range parts {
		if err := checkComponents(p, users); err != nil {
			return err
		}
	}
	return nil
}

func checkTags(file string, paths *yaml.Node) error {
	var err error
	members(paths, func(path string, item *yaml.Node) {
		members(item, func(method string, operation *yaml.Node) {
			if tag := tagOf(operation); partOf(tag) != file && err == nil {
				err = fmt.Errorf("%s: %s %s has the tag %q and belongs in %s", file, method, path, tag, partOf(tag))
			}
		})
	})
	return err
}

func checkComponents(p part, users map[string][]string) error {
	var err error
	members(member(p.tree, "components"), func(kind string, components *yaml.Node) {
		if kind == "securitySchemes" {
			return
		}
		members(components, func(name string, _ *yaml.Node) {
			place := sharedPart
			by := users[componentPrefix+kind+"/"+name]
			if len(by) == 1 {
				place = by[0]
			}
			switch {
			case err != nil:
			case len(by) == 0:
				err = fmt.Errorf("%s: nothing uses %s/%s", p.file, kind, name)
			case place != p.file:
				err = fmt.Errorf("%s: %s/%s belongs in %s", p.file, kind, name, place)
			}
		})
	})
	return err
}
