package assert

import (
	"maps"
	"slices"
	"strings"
)

// Blame returns the id of the visited node to which a run's failure is attributed, or "" if no node is at fault. It is the Result.Node of
// the failed assertion with the greatest weight, and of the first such assertion if several have this weight. Required assertions precede
// optional ones. A node is never blamed only because it is the last one.
//
// Result.Node is the node that was active in the deciding turn, the node that sent the deciding request, or the node visited before a
// forbidden node. In all other cases it depends on the assertion:
//   - For a reference path or nodes in a wrong order, it is the last node visited in agreement with the reference or the order.
//   - For a missed node, it is the last visited node from which the missed node can still be reached.
//   - For a variable, missing words or a missing request, it is the last visited node that collects, says or sends it. If there is none, it
//     is the last visited node from which such a node can still be reached.
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

// blame sets the node of a failed assertion that a turn or a variable decided. It does nothing for other assertions.
func (r *Result) blame(e *Evidence, variable string) {
	switch {
	case r.Outcome != Failed:
	case r.Turn != nil:
		r.Node = e.active(*r.Turn)
	case variable != "":
		r.Node = e.collects(variable)
	}
}

// blameMissingWords sets the node of an assertion that failed because words are missing. The reasoning then names a node that says these
// words. If no node says them, blameMissingWords does nothing. says reports whether a text contains the words.
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

// active returns the agent's node in a turn: the turn's node if it was visited, else the last node visited before the turn, else the first
// visited node, or "" without visits.
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

// collects returns the node to blame for a variable that was not collected, or "" if there is none. A node that fills the variable's object
// counts too.
func (e *Evidence) collects(variable string) string {
	object, _, _ := strings.Cut(variable, ".")
	return e.place(e.where(func(_ string, n *Node) bool {
		return slices.Contains(n.Fills, variable) || slices.Contains(n.Fills, object)
	}))
}

// where returns the ids of the nodes that satisfy a predicate. Visited nodes come first, in descending order of their last visits, and the
// others follow in the order of their ids.
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

// place returns the node at which a conversation failed to perform an action. nodes are the nodes that perform the action, in the order in
// which Evidence.where returns them. place returns the first of them if it was visited, else the last visited node from which one of them
// can be reached, else "".
func (e *Evidence) place(nodes []string) string {
	if len(nodes) > 0 && e.visited(nodes[0]) >= 0 {
		return nodes[0]
	}
	return e.lastNodeBefore(nodes...)
}

// lastNodeBefore returns the last visited node from which one of the nodes can be reached, or "" if there is none.
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
