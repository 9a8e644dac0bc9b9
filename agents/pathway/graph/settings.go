package graph

import (
	"time"

	"github.com/callwright/callwright/agents/conversation"
)

// Settings returns the node's settings of a conversation, which replace the agent's while the node speaks and listens, by their names in the
// API of agents. It returns nil if the node has none. Durations are in milliseconds. A level of interruptibility also replaces the agent's
// threshold: by the threshold of the level, unless the node has one.
func (n *Node) Settings() map[string]float64 {
	settings := map[string]float64{}
	if level := n.BargeIn.Level; level != conversation.Inherited {
		settings["interruptibility"] = float64(level.Number())
		if level.Threshold() > 0 {
			settings["interruption_threshold"] = float64(level.Threshold().Milliseconds())
		}
	}
	for name, d := range map[string]time.Duration{
		"interruption_threshold": n.BargeIn.Threshold, "min_endpointing_delay": n.LeastWait, "max_endpointing_delay": n.LongestWait,
	} {
		if d > 0 && (name != "interruption_threshold" || n.BargeIn.Level != conversation.NeverInterrupted) {
			settings[name] = float64(d.Microseconds()) / 1000
		}
	}
	if len(settings) == 0 {
		return nil
	}
	return settings
}
