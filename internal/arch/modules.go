package arch

import (
	"fmt"
	"path"
	"regexp"
	"slices"
	"strings"
)

// mostRequires limits the modules that the root module requires, because every program that imports a domain downloads all of them.
const mostRequires = 12

// requires lists the modules of this repository that a module may require in addition to the root module, for its packages and tests. "*"
// means all. A module that is not listed may require no other.
var requires = map[string]string{
	"adapters/audiofile": "adapters/codec/opus",
	"adapters/bunstore":  "adapters/mail",
	"transport":          "adapters/audiofile adapters/letterpdf internal/browser",
	"cmd":                "adapters/bunstore transport",
	"platform":           "*",
	"examples":           "*",
	"internal/e2e":       "*",
	"internal/bench":     "*",
}

// required matches a required module in a go.mod, and whether the requirement is indirect.
var required = regexp.MustCompile(`(?m)^(?:require)?\s+(\S+) v\S+( // indirect)?$`)

// checkModule reports forbidden requirements and replacements in a go.mod.
func checkModule(f file) []Violation {
	dir := path.Dir(f.path)
	if path.Base(f.path) != "go.mod" || within(dir, tools) {
		return nil
	}
	var found []Violation
	all := required.FindAllStringSubmatch(string(f.content), -1)
	if dir == "." && len(all) > mostRequires {
		found = append(found, Violation{Path: f.path, Text: fmt.Sprintf("requires %d modules, and may %d: a package that needs more is a module of its own", len(all), mostRequires)})
	}
	for _, one := range all {
		own, inside := strings.CutPrefix(one[1], module+"/")
		if inside && one[2] == "" && requires[dir] != "*" && !slices.Contains(strings.Fields(requires[dir]), own) {
			found = append(found, Violation{Path: f.path, Text: "requires " + own + ": see requires in internal/arch/modules.go"})
		}
	}
	if strings.Contains(string(f.content), "\nreplace ") {
		found = append(found, Violation{Path: f.path, Text: "replaces a module: programs that are installed by their version cannot"})
	}
	return found
}
