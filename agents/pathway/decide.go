package pathway

import (
	"cmp"
	"context"
	"strconv"
	"strings"

	"github.com/callwright/callwright/agents/llm"
	"github.com/callwright/callwright/agents/template"
)

// way is one of the ways that a conversation can take from a node.
type way struct {
	kind   wayKind
	to     *Node
	edge   *Edge // of along; nil at the start and for the branch of a webhook
	option llm.Option
}

// wayKind is how a way leads to its node.
type wayKind int

// The kinds of ways.
const (
	stay   wayKind = iota // at the node, which waits for the caller
	along                 // to the next node
	global                // to a global node
	back                  // from a global node to where the conversation was
	finish                // the node does what it had to do when its words were broken into
)

// routing is what a model is told where it chooses a way.
const routing = "The conversation is led by a plan, and has come to one of its points. Choose how it goes on from there."

// wanted are the variables to look for at the node.
func (w *walk) wanted() []llm.Field {
	var fields []llm.Field
	for _, f := range w.at.Extract {
		if v := w.state.Variables[f.Name]; v == nil || w.at.Refresh {
			fields = append(fields, f)
		}
	}
	return fields
}

// extract looks for the node's variables in what was said. What can't be made out stays unknown.
func (w *walk) extract(ctx context.Context) {
	fields := w.wanted()
	if len(fields) == 0 {
		return
	}
	q := w.question()
	q.Fields = fields
	found, usage, err := llm.Extract(ctx, w.runtime.Model, q)
	w.log.Usage = w.log.Usage.Add(usage)
	if err != nil {
		w.tolerate(ctx, err)
	}
	w.set(found)
}

// tolerate goes on without a model's answer where it gave none that makes sense, or can't give one, and fails otherwise.
func (w *walk) tolerate(ctx context.Context, err error) {
	switch llm.ClassOf(err) {
	case llm.ClassInvalid, llm.ClassUnsupported:
		w.note(LogEntry{Kind: LogError, Text: err.Error()})
	default:
		w.fail(ctx, err)
	}
}

// decide chooses a way, and asks the model only where there is something to choose. heard: the caller has spoken.
func (w *walk) decide(ctx context.Context, heard bool) way {
	ways := w.ways(heard)
	otherwise := ways[len(ways)-1]
	if len(ways) == 1 {
		if heard || otherwise.kind != stay {
			w.chose(otherwise, "there is no other way")
		}
		return otherwise
	}
	q := w.question()
	q.Instructions = routing
	for _, v := range ways {
		q.Options = append(q.Options, v.option)
	}
	choice, usage, err := llm.Choose(ctx, w.runtime.Model, q)
	w.log.Usage = w.log.Usage.Add(usage)
	if err != nil {
		if w.tolerate(ctx, err); !w.broken(ctx) {
			w.chose(otherwise, "the model could not decide")
		}
		return otherwise
	}
	for _, v := range ways {
		if v.option.ID == choice.Option {
			w.chose(v, strings.TrimPrefix(v.option.Label+": "+choice.Reason, ": "))
			return v
		}
	}
	return otherwise // Choose gives nothing but options
}

// ways are the ways that there are; the last is the right one when no other is.
//
// When the caller has spoken, every global node but this one is among them. Then come: what the node has still to do
// (State.Due), which is all; or the way that is always taken, behind its condition where it has one; or its edges, behind
// the condition too. The conversation may stay where there is a condition, or no edge that is always taken.
func (w *walk) ways(heard bool) []way {
	var out []way
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
		if w.state.Due && w.at.acts() {
			return add(way{kind: finish, to: w.at}, otherwise)
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

// label is when to take a way.
func (w *walk) label(t *template.Template, to *Node) string {
	return cmp.Or(strings.TrimSpace(w.brief(t)), to.Name)
}

// maxGrowth is how many bytes the variables of a text about a way may add to it: there may be thousands of such texts.
const maxGrowth = 4 << 10

// brief is a text about a way, with its variables.
func (w *walk) brief(t *template.Template) string {
	if t == nil {
		return ""
	}
	w.miss(t)
	return t.RenderShort(w.state.Variables, maxGrowth)
}

// always is the way that needs no choice: from a global node back to where the conversation was, when it is to go back of
// itself or, after the caller's next turn, has no edges; else the first edge that is always taken.
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
