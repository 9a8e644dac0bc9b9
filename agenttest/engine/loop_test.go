package engine_test

import (
	"slices"
	"strings"
	"testing"

	"github.com/callwright/callwright/agenttest/engine"
)

func TestLoops(t *testing.T) {
	t.Parallel()
	for said, want := range map[string]int{ // letters of both sides; the exchange that completes the loop, or -1
		"":                                    -1,
		"aA-bB-cC-dD":                         -1,
		"aA-aA":                               -1,
		"aA-aA-aA":                            2,
		"xX-aA-aA-aA":                         3,
		"aA-bA-cA-dA-eA-fA":                   -1, // the caller's words differ each time
		"aA-aB-aC-aD":                         -1,
		"aA-bB-aA-bB-aA-bB":                   5,
		"aA-bB-cC-dD-aA-bB-cC-dD-aA-bB-cC-dD": 11,
		"aA-bB-cC-dD-eE-aA-bB-cC-dD-eE-aA-bB-cC-dD-eE": -1, // the repeated part is too long for a loop
		"aA-aA-bB-aA-aA-bB-aA-aA":                      -1,
	} {
		var exchanges [][2]string
		for e := range strings.SplitSeq(said, "-") {
			if e == "" {
				continue
			}
			exchanges = append(exchanges, [2]string{e[:1], e[1:]})
		}
		if got := slices.Index(engine.Loops(exchanges), true); got != want {
			t.Errorf("%q: %d, want %d", said, got, want)
		}
	}
}
