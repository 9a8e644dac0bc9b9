package pathway_test

import (
	"testing"

	"github.com/callwright/callwright/agents/conversation"
)

// TestCallerAsksToWait checks that a node does not say its words again to a caller who asks the agent to wait, that only the first of two
// requests is answered, and that a way for such words has priority.
func TestCallerAsksToWait(t *testing.T) {
	t.Parallel()
	c := newTalk(t, compile(t, nodes(say("ask", start), say("yes", nil)), ways("ask yes: yes")))
	c.agent.Language = "de"
	c.begins("ask.")
	c.hears("Einen Moment bitte.", "Natürlich, lassen Sie sich Zeit. Wait{1m0s}")
	c.hears("Moment noch", "Wait{1m0s}")
	c.turn(conversation.Turn{Kind: conversation.TurnSilence}, "Sind Sie noch da?")
	c.hears("Einen Moment bitte.", "Natürlich, lassen Sie sich Zeit. Wait{1m0s}")
	c.hears("no", "ask.")
	c.hears("yes", "yes.")
	own := newTalk(t, compile(t, nodes(say("ask", start), say("later", nil)), ways("ask later: one moment")))
	own.begins("ask.")
	own.hears("one moment", "later.")
}
