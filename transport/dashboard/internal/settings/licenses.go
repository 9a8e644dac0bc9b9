package settings

import (
	_ "embed"
	"strings"
)

// The table is made of the licences in the module cache.
//
//go:generate env GOWORK=off go -C ../../../../internal/tools run ./licenses ../.. ../../transport/dashboard/internal/settings/licenses.txt ./examples/server ./cmd/callwright

// licenseTable has a line for each module that the reference server and the command line are linked from, on any system: its path, and the
// SPDX identifiers of the licences at its root. The standard library is std.
//
//go:embed licenses.txt
var licenseTable string

// Licenses returns the licences of the modules that the reference server and the command line are linked from, by their paths, each an SPDX
// expression. The standard library is std.
func Licenses() map[string]string {
	known := map[string]string{}
	for line := range strings.Lines(licenseTable) {
		if module, ids, ok := strings.Cut(strings.TrimSpace(line), " "); ok {
			known[module] = ids
		}
	}
	return known
}
