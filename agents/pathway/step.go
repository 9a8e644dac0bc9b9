package pathway

import (
	"context"
	"log/slog"
	"slices"
	"strings"
	"time"

	"github.com/callwright/callwright"
	"github.com/callwright/callwright/agents/conversation"
	"github.com/callwright/callwright/agents/dialogue"
	"github.com/callwright/callwright/agents/llm"
	"github.com/callwright/callwright/agents/request"
)

// Runtime leads conversations along graphs. It keeps nothing between turns, and serves any number of conversations at
// once.
type Runtime struct {
	Model     llm.Model        // required
	Requests  request.Client   // nil: requests fail
	Knowledge Knowledge        // nil: there are no knowledge bases
	Clock     callwright.Clock // nil: the machine's
	Logger    *slog.Logger     // nil: discards
}

// Agent is who speaks in a conversation. It is the same for all its turns.
type Agent struct {
	Org           callwright.OrgID
	Persona       string // stands before the nodes' prompts; may hold {{variables}}
	Language      string // BCP 47; empty: not stated
	Model         string // for a node without its own; empty: the adapter's
	Temperature   *float64
	TransferTo    string         // E.164 number or SIP URI for a transfer node without its own; empty: none
	FirstSentence string         // said before the words of the first node; may hold {{variables}}
	Facts         []request.Fact // about variables, beside those of the graph
	Lines         dialogue.Lines
}

// MaxVisits is how many nodes a conversation can come to in one turn. A graph that leads in a circle without waiting for
// the caller ends the turn there, at the node that was reached last; the second such turn in a row ends the conversation.
const MaxVisits = 32

// maxRequests is how many webhook nodes may ask in one turn. Further ones go on as if nobody had answered.
const maxRequests = 8

// Step takes a turn: it hears in, decides where the conversation goes, and gives what is said and done there to emit, as
// soon as it is known; emit says whether it wants more. What is said in the first turn is the first sentence and the
// words of the first node, also when the caller has spoken first.
//
// A turn of the caller at the node that waits:
//
//  1. Silence and what was not understood are answered without a model: see dialogue.Talk.Patience.
//  2. The node's variables are looked for in what was said, but for those that are known already (Node.Refresh: all).
//  3. One question decides: a global node, else, if the node's condition is met, one of its edges, else it stays and
//     speaks again. An edge that is always taken needs no question where neither a global node nor a condition does. See
//     walk.ways. Answers without sense, and a model that can't answer (llm.ClassUnsupported), take what is right
//     otherwise.
//  4. Every node that it comes to speaks, and does what is of its type: see walk.act.
//
// s is not changed. The State that comes back is always one that can be gone on from: where emit wants no more or ctx
// ends, at the node that had the word. What that node had to do once its words were said, such as to end the call, it does
// after the next turn, or when the conversation comes back from the global node to which that has led. A turn that ctx ends
// before anything came of it has only heard; the next one decides about all that the caller has said since. A second
// conversation.TurnStart says that a transfer has failed.
//
// A model's failure is the error, a *llm.Failure; the agent has said its apology then, and the conversation is over. The
// end of ctx is CodeUnavailable. A conversation that is over, or at a node that the graph does not have, is
// CodeInvalidState, and nothing happens; but a caller who breaks into the last words has kept them from being the last.
func (r *Runtime) Step(
	ctx context.Context, g *Graph, a Agent, s State, in conversation.Turn, emit func(conversation.Step) bool,
) (State, Log, error) {
	at := g.Start
	if s.Node != "" {
		at = g.Nodes[s.Node]
	}
	switch {
	case at == nil:
		return s, Log{}, callwright.Errorf(callwright.CodeInvalidState, "the pathway has no node %q", s.Node)
	case s.Over && !in.Interrupted && (in.Kind != conversation.TurnStart || at.Type != NodeTransfer):
		return s, Log{}, callwright.Errorf(callwright.CodeInvalidState, "the conversation is over")
	}
	in.Text = strings.ToValidUTF8(in.Text, "\uFFFD")
	w := &walk{runtime: r, graph: g, agent: a, before: s, state: s, at: at}
	w.agent.Lines = a.Lines.Filled()
	w.state.Turn++
	w.state.Over = false
	w.state.Visited = slices.Clip(s.Visited) // further ones are this turn's own
	w.log = Log{Turn: w.state.Turn, Heard: in.Text}
	began := r.now()
	w.take(ctx, in, emit)
	w.close(ctx)
	w.log.Took = r.now().Sub(began)
	return w.state, w.log, w.err
}

func (r *Runtime) now() time.Time {
	if r.Clock == nil {
		return callwright.SystemClock{}.Now()
	}
	return r.Clock.Now()
}

// walk is one turn on its way through the graph.
type walk struct {
	runtime *Runtime
	graph   *Graph
	agent   Agent
	before  State         // as it came
	state   State         // as it is now
	heard   dialogue.Talk // with what the caller said, before the answer
	answer  *dialogue.Answer
	at      *Node // where the conversation is
	log     Log
	visits  int
	asked   int      // requests of webhook nodes
	own     bool     // state.Variables is this turn's own, and may be changed
	acted   bool     // something was done that can't be taken back
	missing []string // variables of templates that have no value
	err     error    // of the model
}

// take takes the turn.
func (w *walk) take(ctx context.Context, in conversation.Turn, emit func(conversation.Step) bool) {
	talk := &w.state.Talk
	rest := talk.Hear(in)
	courtesy := talk.Patience(in, rest)
	w.heard = *talk
	w.answer = talk.Answer(emit)
	if courtesy == dialogue.None {
		w.state.Loops = 0
	}
	switch {
	case len(w.state.Visited) == 0:
		w.say(w.agent.FirstSentence)
		w.follow(ctx, way{kind: along, to: w.at})
	case in.Kind == conversation.TurnStart:
		w.notReached(ctx)
	case courtesy != dialogue.None:
		w.courtesy(ctx, in, courtesy, rest)
	default:
		w.hear(ctx)
	}
	if !w.broken(ctx) {
		w.expect()
	}
}

// hear goes on by what the caller has said. It was not said to a global node that would have gone back by then, had the
// caller not spoken into its words.
func (w *walk) hear(ctx context.Context) {
	if w.state.Due && w.returns() {
		v := way{kind: back, to: w.graph.Nodes[w.state.Return]}
		w.chose(v, "the caller has spoken into the words")
		w.at = v.to
		w.state.Node, w.state.Due, w.state.Return, w.state.ReturnDue = w.at.ID, w.state.ReturnDue, "", false
	}
	if w.extract(ctx); w.broken(ctx) {
		return
	}
	v := w.decide(ctx, true)
	if w.broken(ctx) {
		return
	}
	switch v.kind {
	case stay:
		w.state.Due = false
		if !w.speak(ctx, false) && w.at.Type != NodeWait {
			w.answer.Text(w.agent.Lines.Repeat)
		}
	case finish:
		if w.speak(ctx, false); !w.broken(ctx) {
			w.follow(ctx, w.act(ctx))
		}
	default:
		w.follow(ctx, v)
	}
}

// courtesy answers silence and noise. Where a noise broke into the words of a node, the node goes on from there, and does
// what it has still to do.
func (w *walk) courtesy(ctx context.Context, in conversation.Turn, c dialogue.Courtesy, rest string) {
	if in.Kind == conversation.TurnSilence && w.at.QuietSilence {
		w.state.Talk.Silences = 0
		return
	}
	w.state.Over = c == dialogue.Goodbye
	if w.state.Over || !w.state.Due || c != dialogue.GoOn && !w.moves() {
		w.answer.Courtesy(c, rest, w.agent.Lines)
		return
	}
	if w.answer.Text(rest); !w.broken(ctx) {
		w.follow(ctx, w.act(ctx))
	}
}

// notReached goes on after a transfer that has failed: along the edge of the transfer's node that is always taken, or
// back from a global one, else it waits there.
func (w *walk) notReached(ctx context.Context) {
	w.state.Due = false
	w.note(LogEntry{Kind: LogError, Text: "the transfer has failed"})
	w.answer.Text(w.agent.Lines.NotReached)
	if v, ok := w.always(false); ok && w.at.Type == NodeTransfer && !w.broken(ctx) {
		w.chose(v, "the transfer has failed")
		w.follow(ctx, v)
	}
}

// broken says whether the turn ends here: nobody takes the answer any more, or the conversation is over.
func (w *walk) broken(ctx context.Context) bool {
	return w.state.Over || w.answer.Stopped() || ctx.Err() != nil
}

// fail ends the conversation with the apology; but the end of ctx is no failure of the model's.
func (w *walk) fail(ctx context.Context, err error) {
	if ctx.Err() != nil {
		return
	}
	w.err = err
	w.note(LogEntry{Kind: LogError, Text: err.Error()})
	w.runtime.warn(ctx, "the model has failed, and the conversation ends", err)
	w.state.Over = true
	w.answer.Text(w.agent.Lines.Apology)
}

func (r *Runtime) warn(ctx context.Context, text string, err error) {
	if r.Logger != nil {
		r.Logger.WarnContext(ctx, text, "error", err)
	}
}

// close ends the turn. If ctx has ended it before anything came of it, the conversation stays where it was, with what
// the caller has said: the next turn decides about both.
func (w *walk) close(ctx context.Context) {
	if ctx.Err() != nil && w.err == nil && !w.state.Over {
		w.err = callwright.Errorf(callwright.CodeUnavailable, "the turn was broken off: %w", ctx.Err())
		if !w.acted && !w.answer.Spoken() {
			turn := w.state.Turn
			w.state = w.before
			w.state.Turn, w.state.Talk = turn, w.heard
			w.note(LogEntry{Kind: LogError, Text: "the turn was broken off before anything was said"})
		}
	}
	w.nameMissing()
	w.log.Node, w.log.Said = w.state.Node, w.answer.Said()
}
