package graph_test

import (
	"strings"
	"testing"
)

// TestUnusedOptions checks which members of a node's modelOptions are reported to have no effect, and why.
func TestUnusedOptions(t *testing.T) {
	t.Parallel()
	const missing = "there is no such member"
	for options, want := range map[string]string{
		`{}`: "", `null`: "", `"x"`: "",
		`{"modelName":"base","temperature":1,"skipUserResponse":true,"disableSilenceRepeat":false,"interruptibility":3,"interruptionThreshold":1,
			"block_interruptions":false,"min_endpointing_delay":300,"max_endpointing_delay":3000}`: "",
		`{"interruption_threshold":300}`:                     "interruption_threshold " + missing + "; did you mean interruptionThreshold?",
		`{"blockInterruptions":true}`:                        "blockInterruptions " + missing + "; did you mean block_interruptions?",
		`{"interuptibility":1}`:                              "interuptibility " + missing + "; did you mean interruptibility?",
		`{"maxEndpointingDelay":1}`:                          "maxEndpointingDelay " + missing + "; did you mean max_endpointing_delay?",
		`{"color":"red","gone":null}`:                        "color " + missing,
		`{"modelType":"base","modelName":"turbo"}`:           "modelType modelName replaces it",
		`{"temperature":1,"newTemperature":0}`:               "temperature newTemperature replaces it",
		`{"block_interruptions":true,"interruptibility":3}`:  "interruptibility block_interruptions is set: no voice interrupts the node",
		`{"interruptionThreshold":300,"interruptibility":0}`: "interruptionThreshold interruptibility is 0: no voice interrupts the node",
		`{"` + strings.Repeat("x", 1000) + `":1}`:            strings.Repeat("x", 1000) + " " + missing,
	} {
		var got []string
		for _, o := range oneNode("Default", `"text":"x","modelOptions":`+options).UnusedOptions() {
			got = append(got, o.Name+" "+o.Why)
		}
		if text := strings.Join(got, "|"); text != want {
			t.Errorf("%s: %q, not %q", options, text, want)
		}
	}
}
