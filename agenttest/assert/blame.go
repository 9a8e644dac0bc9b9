package assert

import (
	"slices"
	"strings"
)

// Blame returns the id of the one visited node that a failed run is blamed on; empty if the agent visited none. It is the
// Result.Node of the heaviest failed assertion, the first of those of the same weight. Required assertions go before
// optional ones. If that assertion is blamed on no single node, it is the last visited node.
//
// Result.Node is the node that was active in the turn that decided. Without such a turn it is, of a reference path, the last
// node that was visited as it says; of a node that was missed, the last visited node from which it can still be reached; of a
// variable, the last visited node that collects it.
func Blame(e *Evidence, results []Result) string {
	if e == nil || len(e.Visits) == 0 {
		return ""
	}
	var heaviest *Result
	for i := range results {
		r := &results[i]
		if r.Outcome == Failed && (heaviest == nil || r.Required && !heaviest.Required ||
			r.Required == heaviest.Required && r.Weight > heaviest.Weight) {
			heaviest = r
		}
	}
	if heaviest != nil && e.visited(heaviest.Node) >= 0 {
		return heaviest.Node
	}
	return e.Visits[len(e.Visits)-1].Node
}

// blame sets the node of a failed assertion that a turn or a variable has decided.
func (r *Result) blame(e *Evidence, variable string) {
	switch {
	case r.Outcome != Failed:
	case r.Turn != nil:
		r.Node = e.active(*r.Turn)
	case variable != "":
		r.Node = e.collects(variable)
	}
}

// active returns the visited node where the agent was in a turn; empty: it visited none.
func (e *Evidence) active(turn int) string {
	if at := e.Turns[turn].Node; at != "" && e.visited(at) >= 0 {
		return at
	}
	for _, v := range slices.Backward(e.Visits) {
		if v.Turn < turn {
			return v.Node
		}
	}
	if len(e.Visits) > 0 {
		return e.Visits[0].Node
	}
	return ""
}

// collects returns the last visited node that collects a variable, or the object that it is in; empty: there is none.
func (e *Evidence) collects(variable string) string {
	object, _, _ := strings.Cut(variable, ".")
	for _, v := range slices.Backward(e.Visits) {
		if fills := e.Graph[v.Node].Fills; slices.Contains(fills, variable) || slices.Contains(fills, object) {
			return v.Node
		}
	}
	return ""
}

// strayed returns the last visited node from which a node can be reached; empty: there is none.
func (e *Evidence) strayed(from string) string {
	before := make(map[string][]string, len(e.Graph))
	for id, n := range e.Graph {
		for _, next := range n.Next {
			before[next] = append(before[next], id)
		}
	}
	reaches := make(map[string]bool, len(e.Graph))
	for open := []string{from}; len(open) > 0; {
		id := open[len(open)-1]
		open = open[:len(open)-1]
		for _, b := range before[id] {
			if !reaches[b] {
				reaches[b] = true
				open = append(open, b)
			}
		}
	}
	for _, v := range slices.Backward(e.Visits) {
		if reaches[v.Node] {
			return v.Node
		}
	}
	return ""
}
