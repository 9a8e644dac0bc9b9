package pathway

import (
	"cmp"
	"context"
	"fmt"
	"strconv"
	"strings"

	"github.com/callwright/callwright/agents/conversation/expect"
	"github.com/callwright/callwright/agents/llm"
	"github.com/callwright/callwright/agents/pathway/graph"
	"github.com/callwright/callwright/agents/template"
)

// routing contains the instructions by which a model chooses a way.
const routing = "The conversation is led by a plan, and has come to one of its points. Choose how it goes on from there."

// wanted returns the variables that the model must extract at the node: all if Refresh is set, otherwise those without a value. It omits
// boolean variables if the caller has not heard the question for them.
func (w *walk) wanted(unasked bool) []llm.Field {
	var fields []llm.Field
	for _, f := range w.at.Extract {
		if unasked && f.Type == llm.FieldBoolean {
			continue
		}
		if v := w.state.Variables[f.Name]; v == nil || w.at.Refresh {
			fields = append(fields, f)
		}
	}
	return fields
}

// unheard reports whether a caller who has heard the beginning of the agent's words has not heard the first word of their question.
func unheard(words, heard string) bool {
	asks, last := question(words)
	at := strings.LastIndex(words, cmp.Or(asks, last))
	return len(strings.TrimSpace(heard)) <= at
}

// extract lets the model extract the node's variables from the conversation, and sets the found values.
func (w *walk) extract(ctx context.Context) {
	fields := w.wanted(w.unasked)
	if len(fields) == 0 {
		return
	}
	q := w.question()
	q.Fields = fields
	found, usage, err := llm.Extract(ctx, w.counter, q)
	w.log.Usage = w.log.Usage.Add(usage)
	if err != nil {
		w.tolerate(ctx, err)
	}
	w.miscount(fields, found)
	w.set(found)
}

// miscount deletes numbers from the found values whose length is not the length that the description of their variable names. It stores the
// length of the last of these in miscounted.
func (w *walk) miscount(fields []llm.Field, found map[string]any) {
	for _, f := range fields {
		v, known := found[f.Name]
		if !known || f.Type != llm.FieldString && f.Type != llm.FieldInteger {
			continue
		}
		a := expect.OfVariable(f.Name, false, f.Description)
		n := len(expect.DigitsIn(w.agent.Language, template.Spoken(v)))
		if a.Kind != expect.Digits || a.Max == 0 || n >= a.Min && n <= a.Max {
			continue
		}
		delete(found, f.Name)
		w.miscounted = n
		w.note(LogEntry{Kind: LogError, Text: fmt.Sprintf("%s is not set, because the number has %d digits: its description asks for %s", f.Name, n, bounds(a))})
	}
}

// bounds returns the number of digits of an expected answer as text.
func bounds(a expect.Answer) string {
	if a.Min == a.Max {
		return strconv.Itoa(a.Min)
	}
	return fmt.Sprintf("%d to %d", a.Min, a.Max)
}

// tolerate logs an error of the model if the model does not support the question or its answers are invalid, and the turn continues. Other
// errors fail the turn.
func (w *walk) tolerate(ctx context.Context, err error) {
	switch llm.ClassOf(err) {
	case llm.ClassInvalid, llm.ClassUnsupported:
		w.note(LogEntry{Kind: LogError, Text: err.Error()})
	default:
		w.fail(ctx, err)
	}
}

// decide returns the next way. It asks the model only if there are several ways. heard means that the caller has spoken.
func (w *walk) decide(ctx context.Context, heard bool) way {
	ways := w.ways(heard)
	otherwise := ways[len(ways)-1]
	if len(ways) == 1 {
		if heard || otherwise.kind != stay {
			w.chose(otherwise, "the only way")
		}
		return otherwise
	}
	q := w.question()
	q.Instructions, q.Options = routing, make([]llm.Option, 0, len(ways))
	for _, v := range ways {
		q.Options = append(q.Options, v.option)
	}
	choice, usage, err := llm.Choose(ctx, w.counter, q)
	w.log.Usage = w.log.Usage.Add(usage)
	if err != nil {
		if w.tolerate(ctx, err); !w.broken(ctx) {
			w.chose(otherwise, "the model did not decide")
		}
		return otherwise
	}
	for _, v := range ways {
		if v.option.ID == choice.Option {
			w.chose(v, strings.TrimPrefix(v.option.Label+": "+choice.Reason, ": "))
			return v
		}
	}
	return otherwise // unreachable, because Choose returns one of the options
}

// ways returns the possible ways. The last way is right if no other way is.
//
// If the caller has spoken, the ways to the other global nodes come first. If the node's action is then still pending, the last way
// finishes the action, and no further ways are possible. If the agent asks for a number again, the conversation stays. Otherwise, the way that needs no choice follows (see the method always), or else
// all edges. If the node has a condition, these ways require that it is met. The last way stays at the node, unless a way needs no choice
// and the node has no condition.
func (w *walk) ways(heard bool) []way {
	out := make([]way, 0, len(w.graph.Globals)+len(w.at.Edges)+1)
	add := func(v way, o llm.Option) []way {
		v.option = o
		v.option.ID = "way " + strconv.Itoa(len(out)+1)
		out = append(out, v)
		return out
	}
	otherwise := llm.Option{Label: "none of the others", Otherwise: true}
	if heard {
		for _, n := range w.graph.Globals {
			if n != w.at {
				add(way{kind: global, to: n}, llm.Option{Label: w.label(n.Label, n), Description: w.brief(n.Description)})
			}
		}
		if w.state.ActionPending && w.at.Acts() {
			return add(way{kind: finish, to: w.at}, otherwise)
		}
		if w.recounts() {
			return add(way{kind: stay, to: w.at}, otherwise)
		}
	}
	condition := strings.TrimSpace(w.brief(w.at.Condition))
	always, ok := w.always(heard)
	switch {
	case ok && condition == "":
		return add(always, otherwise)
	case ok:
		add(always, llm.Option{Label: condition})
	default:
		for _, e := range w.at.Edges {
			add(way{kind: along, to: e.To, edge: e}, llm.Option{
				Label: w.label(e.Label, e.To), Description: w.brief(e.Description), Condition: condition,
			})
		}
	}
	return add(way{kind: stay, to: w.at}, otherwise)
}

// label returns the condition of a way to a node, or the node's name if the condition is blank.
func (w *walk) label(t *template.Template, to *graph.Node) string {
	return cmp.Or(strings.TrimSpace(w.brief(t)), to.Name)
}

// maxGrowth bounds the bytes that variables add to a text about a way, because a question may contain thousands of such texts.
const maxGrowth = 4 << 10

// brief renders a text about a way, within maxGrowth. The text of a nil template is empty.
func (w *walk) brief(t *template.Template) string {
	if t == nil {
		return ""
	}
	w.miss(t)
	return w.values.Render(t, maxGrowth)
}

// always returns the way that needs no choice, or false if there is none. From a global node, this is the way back, if the node has
// AutoReturn, or if it has no edges and the caller has spoken. Otherwise it is the first edge that is always taken.
func (w *walk) always(heard bool) (way, bool) {
	n := w.at
	if to := w.graph.Nodes[w.state.Return]; n.Global && to != nil && (n.AutoReturn || heard && len(n.Edges) == 0) {
		return way{kind: back, to: to}, true
	}
	for _, e := range n.Edges {
		if e.Always {
			return way{kind: along, to: e.To, edge: e}, true
		}
	}
	return way{}, false
}
