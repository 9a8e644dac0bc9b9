package assert

import (
	"maps"
	"slices"
	"strings"
)

// Blame returns the id of the visited node to which a run's failure is attributed; empty if the failure has no place. It is the
// Result.Node of the failed assertion with the greatest weight, the first one among equals. Required assertions precede optional
// ones. A node is never blamed only for being the last.
//
// Result.Node is the node that was active in the deciding turn. Without such a turn it depends on the assertion. For a reference
// path it is the last node visited in agreement with the path. For a missed node it is the last visited node from which the node
// can still be reached. For a variable, for missing words and for a missing request it is the last visited node that collects, says
// or sends it, else the last one from which such a node can still be reached.
func Blame(e *Evidence, results []Result) string {
	if e == nil {
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
	if heaviest == nil || e.visited(heaviest.Node) < 0 {
		return ""
	}
	return heaviest.Node
}

// blame sets the node of a failed assertion decided by a turn or a variable.
func (r *Result) blame(e *Evidence, variable string) {
	switch {
	case r.Outcome != Failed:
	case r.Turn != nil:
		r.Node = e.active(*r.Turn)
	case variable != "":
		r.Node = e.collects(variable)
	}
}

// blameMissingWords sets the node of an assertion that failed for missing words, and names the nodes that say them. says reports whether a
// text contains the words.
func (r *Result) blameMissingWords(e *Evidence, says func(text string) bool) {
	nodes := e.where(func(_ string, n *Node) bool { return n.Says != "" && says(n.Says) })
	if len(nodes) == 0 {
		return
	}
	r.Node = e.place(nodes)
	switch visited := e.visited(nodes[0]) >= 0; {
	case len(nodes) > 1:
		r.Reasoning += " " + plural(len(nodes), "node") + " of the pathway say this, one is " + excerpt(nodes[0]) + "."
	case visited:
		r.Reasoning += " The node " + excerpt(nodes[0]) + ", which was visited, says this."
	default:
		r.Reasoning += " The node " + excerpt(nodes[0]) + ", which was not visited, says this."
	}
}

// active returns the agent's visited node in a turn; empty: none.
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

// collects returns the place of a variable, or of its object; empty: none.
func (e *Evidence) collects(variable string) string {
	object, _, _ := strings.Cut(variable, ".")
	return e.place(e.where(func(_ string, n *Node) bool {
		return slices.Contains(n.Fills, variable) || slices.Contains(n.Fills, object)
	}))
}

// where returns the ids of the nodes for which does returns true: first the visited ones, the last visit first, then the others by
// id.
func (e *Evidence) where(does func(id string, n *Node) bool) (ids []string) {
	for _, v := range slices.Backward(e.Visits) {
		if n, known := e.Graph[v.Node]; known && !slices.Contains(ids, v.Node) && does(v.Node, &n) {
			ids = append(ids, v.Node)
		}
	}
	for _, id := range slices.Sorted(maps.Keys(e.Graph)) {
		if n := e.Graph[id]; e.visited(id) < 0 && does(id, &n) {
			ids = append(ids, id)
		}
	}
	return ids
}

// place returns the node at which a conversation failed to perform the action of nodes, the result of where: the first of them if
// it was visited, else the last visited node from which one of them can be reached; empty: none.
func (e *Evidence) place(nodes []string) string {
	if len(nodes) > 0 && e.visited(nodes[0]) >= 0 {
		return nodes[0]
	}
	return e.lastNodeBefore(nodes...)
}

// lastNodeBefore returns the last visited node from which one of the nodes can be reached; empty: none.
func (e *Evidence) lastNodeBefore(from ...string) string {
	if len(from) == 0 {
		return ""
	}
	before := make(map[string][]string, len(e.Graph))
	for id, n := range e.Graph {
		for _, next := range n.Next {
			before[next] = append(before[next], id)
		}
	}
	reaches := make(map[string]bool, len(e.Graph))
	for open := slices.Clone(from); len(open) > 0; {
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
