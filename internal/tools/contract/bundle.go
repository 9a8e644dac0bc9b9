package main

import (
	"bytes"
	"fmt"
	"io/fs"
	"regexp"
	"slices"
	"strings"

	"go.yaml.in/yaml/v3"
)

// sharedPart is the file with the head of the document and the components that several areas use. Each tag in its head belongs to an area,
// whose file partOf returns.
const sharedPart = "shared.yaml"

// notice is the first line of the bundle.
const notice = "# Joined from the parts in the folder contract by internal/tools/contract. Edit the parts, then run make generate.\n"

// kinds lists the kinds of components, in the order of the bundle.
var kinds = []string{"securitySchemes", "parameters", "responses", "schemas"}

var innerCapital = regexp.MustCompile(`(.)([A-Z])`)

// partOf returns the file name of a tag's area, such as agent-testing.yaml for AgentTesting.
func partOf(tag string) string {
	return strings.ToLower(innerCapital.ReplaceAllString(tag, "$1-$2")) + ".yaml"
}

// part is a file of the contract: the text of its sections, and its parsed tree.
type part struct {
	file       string
	head       string // sections before the components; only in the shared part
	paths      string
	components map[string]string // text by kind
	tree       *yaml.Node
}

// Bundle joins the parts in a folder to one document. It copies their text unchanged: the head of the shared part, the paths of the areas
// in the order of the tags, and the components, beginning with the shared part.
func Bundle(folder fs.FS) ([]byte, error) {
	shared, err := readPart(folder, sharedPart)
	if err != nil {
		return nil, err
	}
	parts := []part{shared}
	for _, tag := range sequence(member(shared.tree, "tags")) {
		p, err := readPart(folder, partOf(member(tag, "name").Value))
		if err != nil {
			return nil, err
		}
		parts = append(parts, p)
	}
	if err := refuseOtherFiles(folder, parts); err != nil {
		return nil, err
	}
	text := join(parts)
	bundle, err := parse(text)
	if err != nil {
		return nil, fmt.Errorf("the bundle: %w", err)
	}
	if err := checkPlaces(bundle, parts); err != nil {
		return nil, err
	}
	return text, nil
}

func join(parts []part) []byte {
	var text bytes.Buffer
	text.WriteString(notice + parts[0].head + "paths:\n")
	for _, p := range parts {
		text.WriteString(p.paths)
	}
	text.WriteString("components:\n")
	for _, kind := range kinds {
		var components strings.Builder
		for _, p := range parts {
			components.WriteString(p.components[kind])
		}
		if components.Len() > 0 {
			text.WriteString("  " + kind + ":\n" + components.String())
		}
	}
	return text.Bytes()
}

// refuseOtherFiles returns an error for a file that belongs to no tag, because the bundle would not contain it.
func refuseOtherFiles(folder fs.FS, parts []part) error {
	files, err := fs.Glob(folder, "*.yaml")
	if err != nil {
		return err
	}
	for _, file := range files {
		if !slices.ContainsFunc(parts, func(p part) bool { return p.file == file }) {
			return fmt.Errorf("%s: no tag in %s names this area", file, sharedPart)
		}
	}
	return nil
}

// readPart parses a file, and cuts its text at the top-level sections and at the kinds of components. The comment at the top of the file
// describes the part, and is not copied to the bundle.
func readPart(folder fs.FS, file string) (part, error) {
	p := part{file: file, components: map[string]string{}}
	text, err := fs.ReadFile(folder, file)
	if err != nil {
		return p, err
	}
	if p.tree, err = parse(text); err != nil {
		return p, fmt.Errorf("%s: %w", file, err)
	}
	var section, kind string
	for line := range strings.Lines(string(text)) {
		if name, ok := key(line, ""); ok {
			section, kind = name, ""
			if section == "paths" || section == "components" {
				continue
			}
			if file != sharedPart {
				return p, fmt.Errorf("%s: the section %s is not allowed; an area has paths and components only", file, section)
			}
		}
		switch section {
		case "":
		case "paths":
			p.paths += line
		case "components":
			if name, ok := key(line, "  "); ok {
				if kind = name; !slices.Contains(kinds, kind) {
					return p, fmt.Errorf("%s: components of the kind %s are not allowed; the kinds are %s", file, kind, strings.Join(kinds, ", "))
				}
				continue
			}
			p.components[kind] += line
		default:
			p.head += line
		}
	}
	return p, nil
}

// key returns the name of the mapping member that begins in a line with exactly this indentation, if there is one.
func key(line, indentation string) (string, bool) {
	rest, ok := strings.CutPrefix(line, indentation)
	if !ok || rest == "" || strings.ContainsRune(" #\n-", rune(rest[0])) {
		return "", false
	}
	name, _, ok := strings.Cut(rest, ":")
	return name, ok
}
