package agenttests

import (
	"cmp"
	"encoding/json"
	"slices"
	"strconv"
	"strings"

	"github.com/callwright/callwright"
	"github.com/callwright/callwright/agents/llm"
	"github.com/callwright/callwright/agenttest/assert"
	"github.com/callwright/callwright/agenttest/engine"
	"github.com/callwright/callwright/transport/dashboard/internal/page"
)

// The limits of the parts of a run that a page shows.
const (
	maxTurns   = 100  // turns on a page
	maxResults = 50   // assertions on a page
	maxText    = 2000 // bytes of a turn's text
	maxValue   = 500  // bytes of a value in JSON
	maxNotes   = 10   // notes of a turn
	maxRefs    = 20   // links from an assertion to turns, and from a turn to assertions
)

// turn is a turn of a conversation with the assertions that cite it.
type turn struct {
	Number   int
	Agent    bool
	Node     string
	Text     []piece
	Results  []ref // assertions that cite the turn, numbered from 1
	More     int   // number of further assertions that cite the turn
	Detail   *engine.Turn
	Notes    []engine.Note
	NoteMore bool
}

// ref is a link to a turn or to an assertion.
type ref struct {
	Number int
	Href   string
}

// piece is a part of a text. It is Marked if an assertion cites it.
type piece struct {
	Text   string
	Marked bool
}

// result is the result of an assertion with links to the turns that it cites.
type result struct {
	assert.Result

	Number           int // starts at 1
	Turns            []ref
	Node             string
	Expected, Actual string // JSON; empty if there is nothing to compare
}

// evidence contains the turns and the assertions of a run that a page shows. They link to each other.
type evidence struct {
	at string // path of the run's page, because the page of an analysis has a path below it

	Turns   []turn
	Talk    part
	Results []result
	Checks  part
	Tabs    []tab
}

// tab is a link that selects the assertions with an outcome.
type tab struct {
	Name, Query string
	Count       int
	Current     bool
}

// outcomes lists the values of the query parameter "outcome", which selects assertions.
var outcomes = []struct {
	name, title string
	outcome     assert.Outcome
}{{"", "All", ""}, {"failed", "Failed", assert.Failed}, {"error", "Not evaluated", assert.Error}, {"passed", "Passed", assert.Passed}}

// readEvidence returns the turns and the assertions of a run for the page at the given path. An invalid query parameter causes
// CodeBadRequest.
func readEvidence(r *page.Request, at string, o *engine.Outcome) (v evidence, err error) {
	v.at = at
	if v.Talk, err = partOf(r, at, "Turns", "turns", "conversation", len(o.Evidence.Turns), maxTurns); err != nil {
		return v, err
	}
	v.Talk.First = 0
	chosen, err := v.choose(r, o.Results)
	if err != nil {
		return v, err
	}
	if v.Checks, err = partOf(r, at, "Assertions", "assertions", "assertions", len(chosen), maxResults); err != nil {
		return v, err
	}
	quotes := v.talk(r, o)
	for _, i := range chosen[v.Checks.From:v.Checks.To] {
		v.Results = append(v.Results, v.result(r, &o.Evidence, i, o.Results[i]))
	}
	for i := range v.Turns {
		v.Turns[i].Text = mark(callwright.Clip(o.Evidence.Turns[v.Talk.From+i].Text, maxText), quotes[i])
	}
	return v, nil
}

// choose sets the tabs, and returns the indexes of the results that the query parameter "outcome" selects: all results if it is empty. An
// unknown outcome causes CodeBadRequest.
func (v *evidence) choose(r *page.Request, results []assert.Result) (chosen []int, err error) {
	name := r.Query("outcome")
	known := false
	for _, o := range outcomes {
		var all []int
		for i, res := range results {
			if o.outcome == "" || res.Outcome == o.outcome {
				all = append(all, i)
			}
		}
		v.Tabs = append(v.Tabs, tab{o.title, v.at + r.With("outcome", o.name, "assertions", "") + "#assertions", len(all), o.name == name})
		if o.name == name {
			known, chosen = true, all
		}
	}
	if !known {
		return nil, callwright.Invalid("outcome", "must be passed, failed or error")
	}
	return chosen, nil
}

// talk sets the turns on the page, and returns for each of these turns up to maxRefs texts that assertions quote.
func (v *evidence) talk(r *page.Request, o *engine.Outcome) (quotes [][]string) {
	from, to := v.Talk.From, v.Talk.To
	v.Turns, quotes = make([]turn, to-from), make([][]string, to-from)
	for i := range v.Turns {
		said := o.Evidence.Turns[from+i]
		v.Turns[i].Number, v.Turns[i].Agent, v.Turns[i].Node = from+i, said.Role == llm.RoleAgent, nodeName(&o.Evidence, said.Node)
	}
	for i, res := range o.Results {
		for _, n := range cited(&res, len(o.Evidence.Turns)) {
			if n < from || n >= to {
				continue
			}
			t := &v.Turns[n-from]
			if len(t.Results) == maxRefs {
				t.More++
				continue
			}
			element := "#assertion-" + strconv.Itoa(i+1)
			if i/maxResults != v.Checks.From/maxResults || r.Query("outcome") != "" {
				element = v.at + r.With("outcome", "", "assertions", strconv.Itoa(i/maxResults+1)) + element
			}
			t.Results = append(t.Results, ref{i + 1, element})
		}
		for _, q := range res.Quotes {
			if q.Turn >= from && q.Turn < to && len(quotes[q.Turn-from]) < maxRefs {
				quotes[q.Turn-from] = append(quotes[q.Turn-from], q.Text)
			}
		}
	}
	for i, d := range o.Turns {
		if d.Index >= from && d.Index < to {
			at := &v.Turns[d.Index-from]
			at.Detail, at.Notes, at.NoteMore = &o.Turns[i], d.Notes[:min(maxNotes, len(d.Notes))], len(d.Notes) > maxNotes
		}
	}
	return quotes
}

// cited returns the indexes of the turns that an assertion cites, sorted and without duplicates. It omits indexes outside 0 to turns-1.
func cited(res *assert.Result, turns int) (all []int) {
	if res.Turn != nil {
		all = append(all, *res.Turn)
	}
	for _, q := range res.Quotes {
		all = append(all, q.Turn)
	}
	slices.Sort(all)
	return slices.DeleteFunc(slices.Compact(all), func(n int) bool { return n < 0 || n >= turns })
}

// result returns the data to show for the assertion with index i.
func (v *evidence) result(r *page.Request, e *assert.Evidence, i int, res assert.Result) result {
	out := result{
		Result: res, Number: i + 1, Node: nodeName(e, res.Node), Expected: valueText(res.Expected), Actual: valueText(res.Actual),
	}
	turns := cited(&res, len(e.Turns))
	for _, n := range turns[:min(maxRefs, len(turns))] {
		out.Turns = append(out.Turns, v.toTurn(r, n))
	}
	return out
}

// toTurn returns the link to a turn, which may be on another page.
func (v *evidence) toTurn(r *page.Request, n int) ref {
	element := "#turn-" + strconv.Itoa(n)
	if n < v.Talk.From || n >= v.Talk.To {
		element = v.at + r.With("turns", strconv.Itoa(n/maxTurns+1)) + element
	}
	return ref{n, element}
}

// mark splits a text into pieces, and marks the first occurrence of each quote.
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

// valueText returns a value as JSON of at most maxValue bytes, or an empty text if the value is nil or cannot be encoded.
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
