package arch

import (
	"path"
	"regexp"
	"slices"
	"strings"
)

// These constants are the maps of the repository. Each map contains tables whose first column lists rooms: packages or folders.
const (
	mapOfRooms   = "docs/architecture.md" // lists every domain package, adapter and transport
	mapOfFolders = "README.md"            // lists every top-level folder
)

// named matches a name between backquotes.
var named = regexp.MustCompile("`([^`]+)`")

// checkMaps reports rooms without a row in the maps.
func checkMaps(t *tree) []Violation {
	var found []Violation
	for _, f := range t.files {
		var room func(p *pkg) string
		switch f.path {
		case mapOfRooms:
			room = roomOf
		case mapOfFolders:
			room = func(p *pkg) string { return top(p.dir) }
		default:
			continue
		}
		known, missing := rows(string(f.content)), map[string]bool{}
		for _, p := range t.packages {
			if r := room(p); r != "" && len(p.production()) > 0 && !known[r] && !missing[r] {
				missing[r] = true
				found = append(found, Violation{Path: f.path, Text: "has no row for `" + r + "`"})
			}
		}
	}
	return found
}

// roomOf returns the name under which mapOfRooms must list a package. For a package of a domain, this is the package's folder; for a
// package of an adapter or transport, the folder of that adapter or transport; for the root package, "root"; for any other package, its
// top-level folder. roomOf returns "" for internal packages and for the test suites of domains.
func roomOf(p *pkg) string {
	switch room := top(p.dir); {
	case p.dir == ".":
		return "root"
	case slices.Contains(strings.Split(p.dir, "/"), "internal"):
		return ""
	case slices.Contains(domains, room):
		if strings.HasSuffix(path.Base(p.dir), "test") {
			return ""
		}
		return p.dir
	case room == "adapters", room == "transport":
		return unit(p.dir)
	default:
		return room
	}
}

// rows returns the names in the first cells of a page's tables. If a cell contains several names, a name without a slash is in the folder
// of the first name.
func rows(page string) map[string]bool {
	names := map[string]bool{"root": strings.Contains(page, "\n| root |")}
	for line := range strings.Lines(page) {
		cell, _, ok := strings.Cut(strings.TrimPrefix(line, "| "), " |")
		if !ok || !strings.HasPrefix(line, "| ") {
			continue
		}
		folder := ""
		for i, one := range named.FindAllStringSubmatch(cell, -1) {
			name := one[1]
			if i == 0 {
				folder = path.Dir(name)
			} else if !strings.Contains(name, "/") {
				name = path.Join(folder, name)
			}
			names[name] = true
		}
	}
	return names
}
