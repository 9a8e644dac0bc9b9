package pathway

import (
	"context"
	"slices"
	"strconv"
	"strings"

	"github.com/callwright/callwright"
	"github.com/callwright/callwright/agents/conversation"
	"github.com/callwright/callwright/agents/conversation/expect"
	"github.com/callwright/callwright/agents/conversation/overlap"
	"github.com/callwright/callwright/agents/dialogue"
	"github.com/callwright/callwright/agents/llm"
	"github.com/callwright/callwright/agents/pathway/graph"
	"github.com/callwright/callwright/agents/request"
	"github.com/callwright/callwright/agents/template"
)

// Step runs a turn of a conversation. It calls emit with the agent's words and actions as soon as they are known. emit returns false to
// stop the turn. In the first turn the agent says its first sentence and the words of the first node, even if the caller has spoken first.
//
// A later turn has these steps:
//
//  1. Silence and unclear speech are answered without a model: see dialogue.Talk.Patience.
//  2. The model extracts the node's variables that are unknown, or all of them with Node.Refresh. A boolean variable
//     is the answer to a question: it is not extracted from words that interrupt the agent before the caller has heard
//     the first words of the question. The question is the last sentence with a question mark in the interrupted words,
//     or else their last sentence. Texts and numbers are always extracted, because the caller has named them.
//     A number is only known if it has the number of digits that the variable's description names: see
//     expect.OfVariable. For another number the agent says how many digits it has heard, and asks again, at most twice at
//     a node. Meanwhile the caller can still go to a global node. Then the conversation continues without the number.
//  3. The model answers one question: go to a global node, follow one of the edges if the node's condition is met, or stay
//     and speak again. An edge that is always taken needs no question, unless there are global nodes or a condition. If
//     the model cannot answer (llm.ClassUnsupported), or its answers are invalid, the conversation follows the edge that is
//     always taken, or stays.
//  4. Every node that the conversation enters speaks and performs the action of its type, such as sending a request, until
//     a node waits for the caller.
//
// Step does not change s. The returned State is always resumable. If emit stops the turn, or ctx ends, the conversation stays at the node
// that was speaking, and the node's action, such as ending the call, stays pending. The action is performed after the next turn, or when
// the conversation returns from a global node. If ctx ends before any words or actions, the State contains only the caller's words, and the
// next turn answers all of them. A second conversation.TurnStart means that a transfer has failed.
//
// Step commits a turn that is early before webhooks, tools and the steps that require it: see conversation.Turn.Early. If the turn is
// withdrawn, Step returns s, a Log with Withdrawn, and conversation.ErrWithdrawn.
//
// If the model fails, Step returns a *llm.Failure; the agent has then apologized, and the conversation is over. If ctx has ended, it
// returns CodeUnavailable. If the conversation is over, or the graph does not contain its node, Step does nothing and returns
// CodeInvalidState. However, a turn that interrupted the last words continues a conversation that is over, as does a TurnStart after a
// failed transfer.
func (r *Interpreter) Step(
	ctx context.Context, g *graph.Graph, a Agent, s State, in conversation.Turn, emit func(conversation.Step) bool,
) (State, Log, error) {
	at := g.Start
	if s.Node != "" {
		at = g.Nodes[s.Node]
	}
	switch {
	case at == nil:
		return s, Log{}, callwright.Errorf(callwright.CodeInvalidState, "the pathway has no node %q", s.Node)
	case s.Over && !in.Interrupted && (in.Kind != conversation.TurnStart || at.Type != graph.NodeTransfer):
		return s, Log{}, callwright.Errorf(callwright.CodeInvalidState, "the conversation is over")
	}
	in.Text = strings.ToValidUTF8(in.Text, "\uFFFD")
	w := &walk{interpreter: *r, counter: llm.NewCounter(r.Model), graph: g, agent: a, before: s, state: s, at: at}
	w.values = *template.NewValues(s.Variables, maxAdded)
	w.agent.Lines = a.Lines.Filled(a.Language)
	w.state.Turn++
	w.state.Over = false
	w.state.Visited = slices.Clip(s.Visited) // clipped, so that append copies it
	w.log = Log{Turn: w.state.Turn, Heard: in.Text}
	w.interpreter.Runtime = r.WithDefaults()
	began := w.interpreter.Clock.Now()
	ctx = request.WithBudget(ctx)
	w.runTurn(ctx, in, emit)
	if w.answer.Certain(); in.Withdraw() {
		return s, Log{Withdrawn: Withdrawn{1, w.log.Usage, w.counter.Calls(), w.counter.Uses()}}, conversation.ErrWithdrawn
	}
	w.close(ctx)
	w.log.Duration = w.interpreter.Clock.Now().Sub(began)
	return w.state, w.log, w.err
}

// runTurn answers a turn of the caller, or begins the conversation.
func (w *walk) runTurn(ctx context.Context, in conversation.Turn, emit func(conversation.Step) bool) {
	talk := &w.state.Talk
	said := talk.Last > 0 || talk.Unsaid != ""
	words := talk.LastWords()
	rest := talk.Hear(in)
	unasked := in.Interrupted && said && unheard(words, in.Heard)
	closing := talk.Patience(in, rest, w.agent.Silences)
	w.heard = *talk
	if in.Interrupted && said && w.state.SaysText {
		w.state.Interruption.Rest, w.state.Interruption.Unasked = rest, unasked
		w.state.Interruption.Cut = w.state.Interruption.Cut || closing == dialogue.None
	}
	w.unasked = unasked || w.state.Interruption.unasked()
	w.interruption, w.state.SaysText = w.state.Interruption, false
	w.answer = talk.Answer(emit)
	w.answer.Commit = func() error { return in.Commit(ctx) }
	w.answer.BargeIn = w.at.BargeIn
	if closing == dialogue.None {
		w.state.Loops = 0
	}
	switch {
	case len(w.state.Visited) == 0:
		w.say(w.agent.FirstSentence)
		w.follow(ctx, way{kind: along, to: w.at})
	case in.Kind == conversation.TurnStart:
		w.notReached(ctx)
	case closing != dialogue.None:
		w.sayCourtesy(ctx, in, closing, rest)
	default:
		w.hear(ctx, in)
	}
	if !w.broken(ctx) {
		w.expect()
	}
}

// hear continues the conversation after the caller's words. If the caller interrupted a global node that returns after its words, the words
// count as an answer to the previous node.
func (w *walk) hear(ctx context.Context, in conversation.Turn) {
	asked := w.state.Talk.Asked(in, w.agent.Language)
	if w.state.ActionPending && w.returns() {
		v := way{kind: back, to: w.graph.Nodes[w.state.Return]}
		w.chose(v, "the caller interrupted the words")
		w.at, w.answer.BargeIn = v.to, v.to.BargeIn
		w.state.Node, w.state.ActionPending, w.state.Return, w.state.ReturnPending = w.at.ID, w.state.ReturnPending, "", false
		w.state.Interruption, w.state.ReturnInterruption = w.returning(w.at), Interruption{}
		w.unasked = w.state.Interruption.unasked()
	}
	if w.extract(ctx); w.broken(ctx) {
		return
	}
	v := w.decide(ctx, true)
	if w.broken(ctx) {
		return
	}
	if v.kind == stay && w.recounts() {
		w.recount()
		return
	}
	w.miscounted = 0
	switch v.kind {
	case stay:
		w.state.ActionPending = false
		w.stay(ctx, in, asked)
	case finish:
		if w.cut() && overlap.AsksToStop(w.agent.Language, in.Text) {
			w.answer.Text(w.agent.Lines.GoAhead)
			return
		}
		if w.speak(ctx, false); !w.broken(ctx) {
			w.follow(ctx, w.act(ctx))
		}
	default:
		w.follow(ctx, v)
	}
}

// maxRecounts is the number of times that the agent asks for a number again at a node.
const maxRecounts = 2

// recounts reports whether the agent asks for a number again, because it has the wrong length: see miscount.
func (w *walk) recounts() bool { return w.miscounted > 0 && w.state.Recounts < maxRecounts }

// recount asks for a number again, and says how many digits were heard.
func (w *walk) recount() {
	w.state.ActionPending = false
	w.state.Recounts++
	line := w.agent.Lines.Repeat
	if w.miscounted > 1 {
		line = strings.ReplaceAll(w.agent.Lines.Digits, dialogue.DigitsHeard, strconv.Itoa(w.miscounted))
	}
	w.miscounted = 0
	w.answer.Text(line)
}

// stay answers the caller's words if the conversation stays at its node. asked is Wait if they ask the agent to wait: the caller then has
// time, and does not hear the node's words again. A text of one sentence is said again. Longer texts are not: see continueText.
func (w *walk) stay(ctx context.Context, in conversation.Turn, asked dialogue.Courtesy) {
	switch {
	case w.cut():
		w.continueText(ctx, in, asked)
	case asked == dialogue.Wait:
		w.answer.Courtesy(asked, "", w.agent.Lines)
	case w.isLong(w.at):
		w.continueText(ctx, in, asked)
	case !w.speak(ctx, false) && w.at.Type != graph.NodeWait:
		w.answer.Text(w.agent.Lines.Repeat)
	}
}

// sayCourtesy answers silence and noise. At a node with QuietSilence, it does not answer silence. If the words of a node were interrupted
// by noise, or the node does not wait for the caller, the agent says the rest, and the node performs its pending action.
func (w *walk) sayCourtesy(ctx context.Context, in conversation.Turn, c dialogue.Courtesy, rest string) {
	if in.Kind == conversation.TurnSilence && w.at.QuietSilence {
		w.state.Talk.Silences = 0
		return
	}
	w.state.Over = c == dialogue.Goodbye
	acts := !w.state.Over && w.state.ActionPending && (c == dialogue.GoOn || w.moves())
	if w.before.SaysText && (acts || c == dialogue.GoOn) {
		w.state.SaysText, w.state.Interruption.Rest, w.state.Interruption.Unasked = true, "", false
	}
	if !acts {
		w.answer.Courtesy(c, rest, w.agent.Lines)
		return
	}
	if w.answer.Text(rest); !w.broken(ctx) {
		w.follow(ctx, w.act(ctx))
	}
}

// notReached continues the conversation after a failed transfer: along the edge that is always taken, or back from a global node. Otherwise
// the conversation waits at the node.
func (w *walk) notReached(ctx context.Context) {
	w.state.ActionPending = false
	w.note(LogEntry{Kind: LogError, Text: "the transfer has failed"})
	w.answer.Text(w.agent.Lines.NotReached)
	if v, ok := w.always(false); ok && w.at.Type == graph.NodeTransfer && !w.broken(ctx) {
		w.chose(v, "the transfer has failed")
		w.follow(ctx, v)
	}
}

// close finishes the log and the state of the turn. If ctx ended before any words or actions, the conversation stays at its node, and the
// next turn also answers the caller's words of this turn.
func (w *walk) close(ctx context.Context) {
	if ctx.Err() != nil && w.err == nil {
		w.err = callwright.Errorf(callwright.CodeUnavailable, "the turn was canceled: %w", ctx.Err())
		if !w.acted && !w.answer.Spoken() {
			turn := w.state.Turn
			w.state = w.before
			w.state.Turn, w.state.Talk = turn, w.heard
			w.state.Interruption, w.state.SaysText = w.interruption, false
			w.note(LogEntry{Kind: LogError, Text: "the turn was canceled before anything was said"})
		}
	}
	w.nameLimits()
	w.log.Node, w.log.Said, w.log.ModelCalls, w.log.Models = w.state.Node, w.answer.Said(), w.counter.Calls(), w.counter.Uses()
}

// expect emits hints of the caller's next words for the recognizer, the form of the expected answer, and the node's waits for the caller. In
// a graph with such waits, it always emits a step, which replaces the waits of the node before.
func (w *walk) expect() {
	e := conversation.Expect{Phrases: w.hints(), Answer: w.expected(), Least: w.at.LeastWait, Longest: w.at.LongestWait}
	if len(e.Phrases) > 0 || w.graph.Waits || e.Answer.Kind != expect.Free {
		w.answer.Step(e)
	}
}

// expected returns the form of the answer that the node expects, by the variables that it still extracts. If their forms differ, the words
// of the turn decide which of them was asked for.
func (w *walk) expected() expect.Answer {
	var forms []expect.Answer
	for _, f := range w.wanted(w.state.Interruption.unasked()) {
		if a := expect.OfVariable(f.Name, f.Type == llm.FieldBoolean, f.Description); !slices.Contains(forms, a) {
			forms = append(forms, a)
		}
	}
	if len(forms) == 1 {
		return forms[0]
	}
	asked := expect.OfVariable("", false, w.answer.Said())
	for _, a := range forms {
		if a.Kind == asked.Kind {
			return a
		}
	}
	return expect.Answer{}
}

// hints returns phrases that the caller may say next, if the model can predict them.
func (w *walk) hints() []string {
	h, ok := w.interpreter.Model.(llm.Hinter)
	if !ok {
		return nil
	}
	defer func(missing []string, unknown string) { // hints are not spoken, so the log does not report variables that are missing in them
		w.missing, w.unknown = missing, unknown
	}(w.missing, w.unknown)
	ways := w.ways(true)
	options := make([]llm.Option, 0, len(ways)+len(w.at.Extract))
	for _, v := range ways {
		options = append(options, v.option)
	}
	for _, f := range w.wanted(w.state.Interruption.unasked()) {
		options = append(options, llm.Option{ID: "variable " + f.Name, Label: f.Description})
	}
	return h.Hints(w.request(), options)
}
