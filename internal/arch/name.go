package arch

import (
	"fmt"
	"path"
	"slices"
)

// empty lists package names that do not describe the contents.
var empty = []string{
	"base", "common", "helper", "helpers", "misc", "model", "models", "shared", "type", "types", "util", "utils",
}

// checkName checks that a package has a specific name that equals the name of its folder. The name of the root package and of a program may
// differ from its folder's name.
func checkName(p *pkg) []Violation {
	if slices.Contains(empty, p.name) || slices.Contains(empty, path.Base(p.dir)) {
		return []Violation{{Path: p.dir, Text: fmt.Sprintf("the name %s says nothing about what is inside", path.Base(p.dir))}}
	}
	if p.dir != "." && p.name != "main" && p.name != path.Base(p.dir) {
		return []Violation{{Path: p.dir, Text: fmt.Sprintf("holds package %s: folder and package have one name", p.name)}}
	}
	return nil
}
