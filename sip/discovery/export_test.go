package discovery

import (
	"fmt"
	"net/netip"
	"strings"
)

// Exported time limits.
const (
	Kept      = kept
	DeadAfter = deadAfter
)

// Plan returns the plan of a discovery as text. Each line is a group of probes that run in turn, in the form "address/transport". An SRV
// priority follows, if there is one, and "private" for an address that may not be probed.
func Plan(d Discovery, hosts map[string][]netip.Addr, allowPrivate bool) []string {
	targets := plan(d, hosts, limits{allowPrivate: allowPrivate})
	var lines []string
	for _, way := range ways(targets) {
		var line []string
		for _, i := range way {
			t := targets[i]
			text := fmt.Sprintf("%s/%s", t.address, t.transport)
			if t.priority != withoutSRV {
				text += fmt.Sprintf(" %d", t.priority)
			}
			if t.hidden {
				text += " private"
			}
			line = append(line, text)
		}
		lines = append(lines, strings.Join(line, "; "))
	}
	return lines
}
