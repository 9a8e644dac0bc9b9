package settings

import (
	_ "embed"
	"strings"
)

// The generated table lists the licenses of the modules in the module cache.
//go:generate env GOWORK=off go -C ../../../../internal/tools run ./licenses ../.. ../../transport/dashboard/internal/settings/licenses.txt ./examples/server ./cmd/callwright

// licenseTable contains a line for each module that is linked into the reference server or the command line, on any system. A line holds
// the module's path and the SPDX expression of its licenses. The path std is the standard library. Packages of this repository that contain
// data under a license of its own are listed like modules.
//
//go:embed licenses.txt
var licenseTable string

// Licenses returns an SPDX expression for each module that is linked into the reference server or the command line, by the module's path.
// The path std is the standard library. A package that contains data under a license of its own is listed like a module.
func Licenses() map[string]string {
	known := map[string]string{}
	for line := range strings.Lines(licenseTable) {
		if module, ids, ok := strings.Cut(strings.TrimSpace(line), " "); ok {
			known[module] = ids
		}
	}
	return known
}
