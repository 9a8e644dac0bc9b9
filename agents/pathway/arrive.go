package pathway

import (
	"context"
	"fmt"

	"github.com/callwright/callwright/agents/conversation"
)

// MaxVisits bounds the nodes that a conversation visits in one turn. In a cycle that never waits for the caller, the turn ends at the last
// of these visits. The second consecutive turn of this kind ends the conversation.
const MaxVisits = 32

// follow follows a way, and further ways until the conversation waits. A node to which the conversation returns speaks again; of a text, it
// says only the unheard rest or the question: see sayRest. If its action was performed before, the action is not repeated, and the
// conversation waits.
func (w *walk) follow(ctx context.Context, v way) {
	for v.kind != stay {
		if w.visits == MaxVisits {
			w.loop()
			return
		}
		w.visit(v)
		w.speak(ctx, true)
		if !w.state.ActionPending || w.broken(ctx) {
			return
		}
		if v = w.act(ctx); w.broken(ctx) {
			return
		}
	}
}

// visit enters a node. If the caller's words lead to a global node, visit stores the current node as the node to return to, unless one is
// already stored. On the way back, and at a node that is not global, it clears the stored node.
func (w *walk) visit(v way) {
	pending, interruption := v.kind != back || w.state.ReturnPending, Interruption{}
	if v.kind == back {
		interruption = w.returning(v.to)
	}
	switch {
	case v.kind == global && w.state.Return == "":
		w.state.Return, w.state.ReturnPending, w.state.ReturnInterruption = w.at.ID, w.state.ActionPending, w.state.Interruption
	case !v.to.Global, v.kind == back:
		w.state.Return, w.state.ReturnPending, w.state.ReturnInterruption = "", false, Interruption{}
	}
	w.state.Interruption, w.returned = interruption, v.kind == back
	w.visits++
	w.state.Recounts = 0
	w.at, w.answer.BargeIn = v.to, v.to.BargeIn
	w.state.Node, w.state.ActionPending = w.at.ID, pending
	w.state.Visited = append(w.state.Visited, w.at.ID)
	w.note(LogEntry{Kind: LogVisit, Tag: w.at.Tag, Settings: w.at.Settings()})
}

// loop ends a turn that has visited MaxVisits nodes. At the second consecutive turn of this kind, it also ends the conversation.
func (w *walk) loop() {
	w.state.Loops = w.before.Loops + 1
	w.note(LogEntry{Kind: LogLoop, Text: fmt.Sprintf("the turn has reached its limit of %d visited nodes, and waits for the caller", MaxVisits)})
	if w.state.Loops > 1 {
		w.state.Over = true
		w.answer.Text(w.agent.Lines.Apology)
		w.answer.Step(conversation.End{Reason: "the pathway is in a loop"})
	}
}
