package pathway

import (
	"context"
	"fmt"
	"maps"
	"reflect"
	"slices"
	"strings"

	"github.com/callwright/callwright/agents/dialogue"
	"github.com/callwright/callwright/agents/llm"
	"github.com/callwright/callwright/agents/pathway/graph"
	"github.com/callwright/callwright/agents/request"
	"github.com/callwright/callwright/agents/template"
)

// walk contains the state of one turn while it runs.
type walk struct {
	interpreter  Interpreter  // includes the defaults of its Runtime
	counter      *llm.Counter // the interpreter's model
	graph        *graph.Graph
	agent        Agent
	before       State         // state at the beginning of the turn
	state        State         // current state
	heard        dialogue.Talk // the talk including the caller's words, without the answer
	interruption Interruption  // State.Interruption including the caller's words
	answer       *dialogue.Answer
	at           *graph.Node     // current node
	values       template.Values // variables of state, for texts
	log          Log
	unasked      bool // whether the caller spoke before the question: see the function unheard
	miscounted   int  // number of digits that the caller said, if it is not the number that a variable needs; otherwise 0
	returned     bool // whether the conversation has returned from a global node to this node
	visits       int
	asked        int      // number of webhook nodes' requests
	sent         int      // number of requests in the log
	own          bool     // whether this turn has cloned state.Variables and may change it
	acted        bool     // whether an irreversible action was performed
	missing      []string // variables in templates that have no value
	unknown      string   // first requested model that the interpreter does not have
	err          error    // error of the model
}

// way is a possible continuation of a conversation at a node.
type way struct {
	kind   wayKind
	to     *graph.Node
	edge   *graph.Edge // edge of a way of kind along; nil at the start and for a webhook's branch
	option llm.Option
}

// wayKind names the kind of a way.
type wayKind int

// The kinds of ways from a node.
const (
	stay   wayKind = iota // wait for the caller at the node
	along                 // go to another node
	global                // go to a global node
	back                  // return from a global node
	finish                // perform the node's pending action
)

// broken reports whether the turn ends at this point, because the answer was stopped, the conversation is over, or ctx has ended.
func (w *walk) broken(ctx context.Context) bool {
	return w.state.Over || w.answer.Stopped() || ctx.Err() != nil
}

// fail ends the conversation with the apology and logs the model's error. It does nothing if ctx has ended, because that caused the error.
func (w *walk) fail(ctx context.Context, err error) {
	if ctx.Err() != nil {
		return
	}
	w.err = err
	w.note(LogEntry{Kind: LogError, Text: err.Error()})
	w.interpreter.Logger.WarnContext(ctx, "model failed, ending the conversation", "error", err)
	w.state.Over = true
	w.answer.Text(w.agent.Lines.Apology)
}

// usualEntries is the number of log entries for which a turn reserves memory.
const usualEntries = 3

// note adds an event at the current node to the turn's log.
func (w *walk) note(e LogEntry) {
	e.Node, e.Name, e.At = w.at.ID, w.at.Name, w.interpreter.Clock.Now()
	if e.Kind == LogRequest {
		w.sent++
	}
	if w.log.Entries == nil {
		w.log.Entries = make([]LogEntry, 0, usualEntries)
	}
	w.log.Entries = append(w.log.Entries, e)
}

// requests returns the client for the node's next requests. The client adds the node and the place in the log to each request.
func (w *walk) requests() request.Client { return request.At(w.interpreter.Requests, w.at.ID, w.sent) }

// chose logs a decision for a way, with its reason.
func (w *walk) chose(v way, reason string) {
	e := LogEntry{Kind: LogDecision, Chosen: v.to.ID, Text: reason}
	if v.edge != nil {
		e.Edge = v.edge.ID
	}
	w.note(e)
}

// set sets variables, and logs the variables that changed. It does not change the map of the State before the turn.
func (w *walk) set(values map[string]any) {
	var changed map[string]any
	for name, v := range values {
		v = plain(v)
		if old, known := w.state.Variables[name]; known && reflect.DeepEqual(old, v) {
			continue
		}
		if changed == nil {
			changed = make(map[string]any, len(values))
		}
		changed[name] = v
	}
	if changed == nil {
		return
	}
	if !w.own {
		w.own = true
		w.state.Variables = maps.Clone(w.state.Variables)
	}
	if w.state.Variables == nil {
		w.state.Variables = make(map[string]any, len(changed))
	}
	maps.Copy(w.state.Variables, changed)
	w.values.Set(w.state.Variables)
	w.note(LogEntry{Kind: LogVariables, Variables: changed})
}

// maxAdded bounds the bytes that variables add to all texts of a turn, which are the agent's words and the model's input. Beyond this limit
// variables are empty.
const maxAdded = 2 << 20

// nameLimits logs the limits that the turn's texts have reached, variables in templates that have no value, and an unknown model.
func (w *walk) nameLimits() {
	if w.unknown != "" {
		w.note(LogEntry{Kind: LogError, Text: llm.Missing(w.unknown)})
	}
	if w.values.Left() == 0 {
		w.note(LogEntry{Kind: LogError, Text: fmt.Sprintf("the variables of the turn's texts have reached their limit of %d bytes: the rest is cut off", maxAdded)})
	}
	if w.answer.Full() {
		w.note(LogEntry{Kind: LogError, Text: fmt.Sprintf("the answer has reached its limit of %d bytes: the rest is cut off", dialogue.MaxAnswer)})
	}
	if len(w.missing) > 0 {
		slices.Sort(w.missing)
		w.note(LogEntry{Kind: LogError, Text: "no value for " + strings.Join(w.missing, ", ")})
	}
}

// render returns the text of a template with the values of variables. Values are data and not expanded again. Unknown variables are empty,
// and the log names them.
func (w *walk) render(t *template.Template) string {
	if t == nil {
		return ""
	}
	w.miss(t)
	return w.values.Render(t, template.MaxValues)
}

// miss notes the unknown variables of a template for the log, at most template.MaxNames in a turn.
func (w *walk) miss(t *template.Template) {
	for _, name := range w.values.Missing(t) {
		if len(w.missing) < template.MaxNames && !slices.Contains(w.missing, name) {
			w.missing = append(w.missing, name)
		}
	}
}
