package arch

import (
	"path"
	"regexp"
	"slices"
	"strings"
)

// The maps of the repository: each has a table whose first column names rooms.
const (
	mapOfRooms   = "docs/architecture.md" // every package of the product
	mapOfFolders = "README.md"            // every folder at the top
)

// named matches a name in a cell.
var named = regexp.MustCompile("`([^`]+)`")

// checkMaps reports rooms that the maps lack.
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

// roomOf returns the room that a package is in: itself, in a domain; else one adapter, one transport, or the folder at the top. Suites
// and internal packages belong to the package around them.
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

// rows returns the names in the first cells of a page's tables. In a cell with several names, a name without a folder is in the folder of the first.
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
