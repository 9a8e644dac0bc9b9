package discovery

import (
	"fmt"
	"net/netip"
)

// The times, for tests.
const (
	Kept      = kept
	DeadAfter = deadAfter
	Limit     = longest + lastSave/4
)

// Plan is a plan for people: each way is one line, "address transport" one after the other.
func Plan(d Discovery, hosts map[string][]netip.Addr, allowPrivate bool) []string {
	targets := plan(d, hosts, allowPrivate)
	var lines []string
	for _, way := range ways(targets) {
		line := ""
		for _, i := range way {
			t := targets[i]
			line += fmt.Sprintf("%s/%s", t.address, t.transport)
			if t.priority != withoutSRV {
				line += fmt.Sprintf(" %d", t.priority)
			}
			if t.private {
				line += " private"
			}
			line += "; "
		}
		lines = append(lines, line[:len(line)-2])
	}
	return lines
}
