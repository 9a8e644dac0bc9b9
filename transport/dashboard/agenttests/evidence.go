package agenttests

import (
	"cmp"
	"encoding/json"
	"slices"
	"strings"

	"github.com/callwright/callwright"
	"github.com/callwright/callwright/agents/llm"
	"github.com/callwright/callwright/agenttest/assert"
	"github.com/callwright/callwright/agenttest/engine"
)

// The bounds of what is shown of a run.
const (
	maxTurns = 200
	maxText  = 4000 // bytes of a turn
	maxValue = 1000 // bytes of a value as JSON
	maxNotes = 20   // of a turn
)

// turn is a turn of a conversation with the evidence in it.
type turn struct {
	Agent    bool
	Node     string
	Text     []piece
	Results  []int // numbers of the assertions that rest on the turn, from 1
	Detail   *engine.Turn
	Notes    []engine.Note
	NoteMore bool
}

// piece is a part of a text; Marked: an assertion cites it.
type piece struct {
	Text   string
	Marked bool
}

// result is the result of an assertion with the turns that it rests on.
type result struct {
	assert.Result

	Turns            []int
	Node             string
	Expected, Actual string // as JSON; empty: there is nothing to compare
}

// marked returns the turns of a run and the results of its assertions, which refer to each other.
func marked(o *engine.Outcome) ([]turn, []result) {
	e := &o.Evidence
	turns := make([]turn, min(maxTurns, len(e.Turns)))
	quotes := make([][]string, len(turns))
	results := make([]result, len(o.Results))
	for i, res := range o.Results {
		out := result{Result: res, Node: nodeName(e, res.Node), Expected: valueText(res.Expected), Actual: valueText(res.Actual)}
		if res.Turn != nil {
			out.Turns = append(out.Turns, *res.Turn)
		}
		for _, q := range res.Quotes {
			out.Turns = append(out.Turns, q.Turn)
			if q.Turn >= 0 && q.Turn < len(turns) {
				quotes[q.Turn] = append(quotes[q.Turn], q.Text)
			}
		}
		slices.Sort(out.Turns)
		out.Turns = slices.DeleteFunc(slices.Compact(out.Turns), func(n int) bool { return n < 0 || n >= len(turns) })
		for _, n := range out.Turns {
			turns[n].Results = append(turns[n].Results, i+1)
		}
		results[i] = out
	}
	for i := range turns {
		said := e.Turns[i]
		turns[i].Agent, turns[i].Node = said.Role == llm.RoleAgent, nodeName(e, said.Node)
		turns[i].Text = mark(callwright.Clip(said.Text, maxText), quotes[i])
	}
	for i, t := range o.Turns {
		if t.Index < 0 || t.Index >= len(turns) {
			continue
		}
		at := &turns[t.Index]
		at.Detail, at.Notes, at.NoteMore = &o.Turns[i], t.Notes[:min(maxNotes, len(t.Notes))], len(t.Notes) > maxNotes
	}
	return turns, results
}

// mark cuts a text at the quotes in it.
func mark(text string, quotes []string) []piece {
	type span struct{ from, to int }
	var spans []span
	for _, q := range quotes {
		if at := strings.Index(text, q); at >= 0 && q != "" {
			spans = append(spans, span{at, at + len(q)})
		}
	}
	slices.SortFunc(spans, func(a, b span) int { return cmp.Compare(a.from, b.from) })
	var pieces []piece
	done := 0
	for _, s := range spans {
		from := max(s.from, done)
		if s.to <= from {
			continue
		}
		if from > done {
			pieces = append(pieces, piece{Text: text[done:from]})
		}
		pieces = append(pieces, piece{text[from:s.to], true})
		done = s.to
	}
	if done < len(text) {
		pieces = append(pieces, piece{Text: text[done:]})
	}
	return pieces
}

// valueText returns a value as JSON; empty for none.
func valueText(value any) string {
	if value == nil {
		return ""
	}
	text, err := json.Marshal(value)
	if err != nil {
		return ""
	}
	return callwright.Clip(string(text), maxValue)
}
