package pathway

import (
	"cmp"
	"context"
	"fmt"
	"strings"

	"github.com/callwright/callwright/agents/conversation"
	"github.com/callwright/callwright/agents/pathway/graph"
)

// act performs the action of the node after its words, and returns the next way:
//
//   - End Call ends the conversation, and Transfer Call transfers it. Both stay pending, because the caller may still
//     interrupt the words.
//   - Webhook sends its request and takes the first branch whose condition holds. If none holds, and after Press Button,
//     the conversation continues along the edges, as from a node with Skip.
//   - A global node with AutoReturn and without a condition returns.
//   - A node with Skip continues along the edge that is always taken, or else as the model chooses. It waits if it has
//     no edge, or if the model chooses none.
//   - Any other node waits for the caller.
func (w *walk) act(ctx context.Context) way {
	switch w.at.Type {
	case graph.NodeEnd:
		w.state.Over = true
		w.answer.Step(conversation.End{Reason: "the pathway has come to its end"})
		return way{}
	case graph.NodeTransfer:
		return w.transfer(ctx)
	case graph.NodePress:
		if w.press(); w.broken(ctx) {
			return way{}
		}
		return w.decide(ctx, false)
	case graph.NodeWebhook:
		return w.webhook(ctx)
	default:
		return w.wait(ctx)
	}
}

// wait performs the action of a node that only speaks. It waits for the caller, unless the conversation returns or continues without the
// caller.
func (w *walk) wait(ctx context.Context) way {
	w.state.ActionPending = false
	if w.moves() {
		return w.decide(ctx, false)
	}
	return way{}
}

// returns reports whether the conversation returns from the node as soon as its words are spoken.
func (w *walk) returns() bool {
	return w.at.AutoReturn && w.at.Condition == nil && w.graph.Nodes[w.state.Return] != nil
}

// moves reports whether the conversation leaves the node without waiting for the caller.
func (w *walk) moves() bool {
	return w.at.Acts() || w.returns() || w.at.Skip && w.at.Type != graph.NodeWait
}

// transfer transfers the call. Without a valid number, the conversation continues along the edges. If no edge applies, the agent says that
// the number could not be reached.
func (w *walk) transfer(ctx context.Context) way {
	to := strings.TrimSpace(w.render(w.at.TransferTo))
	if to == "" {
		to = w.agent.TransferTo
	}
	if graph.IsDialable(to) {
		w.state.Over = true
		w.answer.Step(conversation.Transfer{To: to})
		return way{}
	}
	w.state.ActionPending = false
	w.note(LogEntry{Kind: LogError, Text: "the transfer number is missing or is neither a phone number nor a SIP URI"})
	v := w.decide(ctx, false)
	if v.kind == stay && !w.broken(ctx) {
		w.answer.Text(w.agent.Lines.NotReached)
	}
	return v
}

// NoDigits is the text of the LogError for a Press Button node without valid digits.
const NoDigits = "the digits to press must have only 0-9, A-D, *, # and w, and must not be empty"

// press presses the node's digits. It logs NoDigits if they are invalid.
func (w *walk) press() {
	w.state.ActionPending = false
	digits := w.render(w.at.Digits)
	if !graph.IsDigits(digits) {
		w.note(LogEntry{Kind: LogError, Text: NoDigits})
		return
	}
	w.acted = true
	w.answer.Step(conversation.Press{Digits: digits, Show: w.at.ShowDigits})
}

// maxRequests is the maximum number of webhook requests in a turn. Further webhook nodes continue as if no answer had arrived.
const maxRequests = 8

// webhook sends the node's request. If the turn's context ends during the request, its result is unknown, and the request is repeated if
// the conversation continues at the node.
func (w *walk) webhook(ctx context.Context) way {
	if w.asked == maxRequests {
		w.state.ActionPending = false
		w.note(LogEntry{Kind: LogError, Text: fmt.Sprintf("the turn has reached its limit of %d requests", maxRequests)})
		return w.decide(ctx, false)
	}
	if !w.answer.Certain() {
		return way{}
	}
	w.asked++
	w.acted = true
	for _, t := range w.at.Request.Templates() {
		w.miss(t)
	}
	log := w.at.Request.Do(ctx, w.requests(), w.agent.Org, cmp.Or(w.at.Name, w.at.ID), w.state.Variables)
	w.note(LogEntry{Kind: LogRequest, Request: &log})
	if ctx.Err() != nil {
		return way{}
	}
	w.state.ActionPending = false
	w.set(log.Variables)
	for _, b := range w.at.Branches {
		if b.Holds(&w.values) {
			v := way{kind: along, to: b.To}
			w.chose(v, strings.TrimSpace(b.Variable+" "+string(b.Operator)+" "+w.render(b.Value)))
			return v
		}
	}
	return w.decide(ctx, false)
}
