package pathway

import (
	"cmp"
	"context"
	"strings"

	"github.com/callwright/callwright"
	"github.com/callwright/callwright/agents/conversation"
)

// keys are what can be pressed: see conversation.Press.
const keys = "0123456789ABCD*#w"

// acts says whether something happens at the node beside words.
func (n *Node) acts() bool {
	switch n.Type {
	case NodeEnd, NodeTransfer, NodeWebhook, NodePress:
		return true
	default:
		return false
	}
}

// follow goes a way, and on from there until the conversation waits. A node that it comes back to speaks again and
// waits: what it has done beside is not done twice.
func (w *walk) follow(ctx context.Context, v way) {
	for v.kind != stay {
		if w.visits == MaxVisits {
			w.loop()
			return
		}
		w.visit(v)
		w.speak(ctx, true)
		if !w.state.Due || w.broken(ctx) {
			return
		}
		if v = w.act(ctx); w.broken(ctx) {
			return
		}
	}
}

// visit comes to a node. A global one knows where to go back to, also when it came from another global one; any other
// has left that behind.
func (w *walk) visit(v way) {
	due := v.kind != back || w.state.ReturnDue
	switch {
	case v.kind == global && w.state.Return == "":
		w.state.Return, w.state.ReturnDue = w.at.ID, w.state.Due
	case !v.to.Global, v.kind == back:
		w.state.Return, w.state.ReturnDue = "", false
	}
	w.visits++
	w.at = v.to
	w.state.Node, w.state.Due = w.at.ID, due
	w.state.Visited = append(w.state.Visited, w.at.ID)
	w.note(LogEntry{Kind: LogVisit, Tag: w.at.Tag})
}

// act does what is of the node's type once its words are said, and says where the conversation goes then:
//
//   - End Call ends it, Transfer Call hands it over. Both stay due: the caller may yet break into the words.
//   - A Webhook sends its request, and goes the first branch that holds; where none does, and after Press Button, it goes
//     on along the edges as a node does that does not wait for the caller.
//   - A global node with AutoReturn and without a condition goes back where the conversation was.
//   - A node with Skip goes on along its edges: the one that is always taken, else what the model chooses, else it waits.
//   - Any other waits for the caller.
func (w *walk) act(ctx context.Context) way {
	switch w.at.Type {
	case NodeEnd:
		w.state.Over = true
		w.answer.Step(conversation.End{Reason: "the pathway has come to its end"})
		return way{}
	case NodeTransfer:
		return w.transfer(ctx)
	case NodePress:
		w.press()
		return w.decide(ctx, false)
	case NodeWebhook:
		return w.webhook(ctx)
	default:
		return w.wait(ctx)
	}
}

// wait is what a node does that has nothing to do beside its words: it waits for the caller, unless it goes back or on.
func (w *walk) wait(ctx context.Context) way {
	w.state.Due = false
	if w.moves() {
		return w.decide(ctx, false)
	}
	return way{}
}

// returns says whether the node is left as soon as its words are said, to go back.
func (w *walk) returns() bool {
	return w.at.AutoReturn && w.at.Condition == nil && w.graph.Nodes[w.state.Return] != nil
}

// moves says whether the conversation goes on from the node without the caller.
func (w *walk) moves() bool {
	return w.at.acts() || w.returns() || w.at.Skip && w.at.Type != NodeWait
}

// transfer hands the call over. Without a number it goes on along the edges, and says so where none leads on.
func (w *walk) transfer(ctx context.Context) way {
	to := strings.TrimSpace(w.render(w.at.TransferTo))
	if to == "" {
		to = w.agent.TransferTo
	}
	if dialable(to) {
		w.state.Over = true
		w.answer.Step(conversation.Transfer{To: to})
		return way{}
	}
	w.state.Due = false
	w.note(LogEntry{Kind: LogError, Text: "there is no number to transfer the call to"})
	v := w.decide(ctx, false)
	if v.kind == stay && !w.broken(ctx) {
		w.answer.Text(w.agent.Lines.NotReached)
	}
	return v
}

// dialable says whether a call can be transferred to it: an E.164 number or a SIP URI.
func dialable(to string) bool {
	scheme, rest, isURI := strings.Cut(strings.ToLower(to), ":")
	if isURI {
		return (scheme == "sip" || scheme == "sips") && rest != "" && !strings.ContainsAny(rest, " \t\r\n<>\"")
	}
	_, err := callwright.ParsePhoneNumber(to)
	return err == nil
}

// press presses the node's digits.
func (w *walk) press() {
	w.state.Due = false
	digits := w.render(w.at.Digits)
	if digits == "" || strings.Trim(digits, keys) != "" {
		w.note(LogEntry{Kind: LogError, Text: "there are no digits to press"})
		return
	}
	w.acted = true
	w.answer.Step(conversation.Press{Digits: digits})
}

// webhook asks another system. A request that is broken off with the turn is made again if the conversation goes on
// here: whether it was carried out is not known.
func (w *walk) webhook(ctx context.Context) way {
	if w.asked == maxRequests {
		w.state.Due = false
		w.note(LogEntry{Kind: LogError, Text: "other systems were asked as often as a turn may"})
		return w.decide(ctx, false)
	}
	w.asked++
	w.acted = true
	for _, t := range w.at.Request.Templates() {
		w.miss(t)
	}
	log := w.at.Request.Do(ctx, w.runtime.Requests, w.agent.Org, cmp.Or(w.at.Name, w.at.ID), w.state.Variables)
	w.note(LogEntry{Kind: LogRequest, Request: &log})
	if ctx.Err() != nil {
		return way{}
	}
	w.state.Due = false
	w.set(log.Variables)
	for _, b := range w.at.Branches {
		if b.holds(w.state.Variables) {
			v := way{kind: along, to: b.To}
			w.chose(v, strings.TrimSpace(b.Variable+" "+string(b.Operator)+" "+w.render(b.Value)))
			return v
		}
	}
	return w.decide(ctx, false)
}

// loop ends a turn that has come to too many nodes.
func (w *walk) loop() {
	w.state.Loops = w.before.Loops + 1
	w.note(LogEntry{Kind: LogLoop, Text: "the turn has come to as many nodes as it may, and waits"})
	if w.state.Loops > 1 {
		w.state.Over = true
		w.answer.Text(w.agent.Lines.Apology)
		w.answer.Step(conversation.End{Reason: "the pathway goes round in a circle"})
	}
}
