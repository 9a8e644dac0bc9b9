package agentstest

import (
	"time"

	"github.com/callwright/callwright/agents/dialogue"
)

// idleSettings returns settings of an agent's silence in which no field has its default.
func idleSettings() *dialogue.Idle {
	return &dialogue.Idle{
		After: new(1500 * time.Millisecond), Times: new(0), Prompt: "Hallo?", Goodbye: "Tsch\u00fcss.", FillerAfter: new(time.Duration(0)), Filler: "Moment.",
	}
}
