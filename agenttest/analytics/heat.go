package analytics

import (
	"cmp"
	"slices"

	"github.com/callwright/callwright/agenttest/stats"
)

// maxHeat is the maximum number of separate nodes in the heatmap. Further nodes are combined.
const maxHeat = 1999

// leastVisits is the number of scored runs that must have visited a node so that it can be the weakest.
const leastVisits = 5

// NodeFailures counts the failures that are blamed on a node. A failed run blames at most one node: see assert.Blame.
type NodeFailures struct {
	Node   string // id; empty for the nodes beyond the limit
	Name   string
	Failed int
	Visits int // scored runs that visited the node
}

// Rate returns the failures per visit, or 0 without visits.
func (n NodeFailures) Rate() float64 {
	if n.Visits == 0 {
		return 0
	}
	return float64(n.Failed) / float64(n.Visits)
}

// heat counts the visits and failures of nodes.
type heat struct {
	index map[string]int32
	nodes []NodeFailures // the first element counts the nodes beyond the limit

	unplaced int // failed runs that blame no node
}

func newHeat() heat {
	return heat{index: map[string]int32{}, nodes: []NodeFailures{{Name: otherNodes}}}
}

// resolve returns the indexes of a path's nodes, without duplicates, and the index of the blamed node, or -1. It adds new nodes up to the
// limit; all further nodes have the index 0.
func (h *heat) resolve(path []string, blamed int) (visited []int32, place int32) {
	place = -1
	for i, id := range path {
		at, known := h.index[id]
		if !known && len(h.index) < maxHeat {
			at = int32(len(h.nodes))
			h.index[id], h.nodes = at, append(h.nodes, NodeFailures{Node: id})
		}
		if !slices.Contains(visited, at) {
			visited = append(visited, at)
		}
		if i == blamed {
			place = at
		}
	}
	return visited, place
}

func (h *heat) add(w *way, failed bool) {
	for _, at := range w.visited {
		h.nodes[at].Visits++
	}
	switch {
	case failed && w.blamed >= 0:
		h.nodes[w.blamed].Failed++
	case failed:
		h.unplaced++
	}
}

// report returns the visited nodes in descending order of failures, and the weakest node. The weakest node is the one whose failure rate
// has the highest lower bound; it is nil if no node qualifies.
func (h *heat) report(names Names) (all []NodeFailures, weakest *NodeFailures) {
	all = []NodeFailures{}
	for _, n := range h.nodes {
		if n.Visits == 0 {
			continue
		}
		if n.Node != "" {
			n.Name, _ = names.Node(n.Node)
		}
		all = append(all, n)
	}
	slices.SortFunc(all, func(a, b NodeFailures) int {
		return cmp.Or(cmp.Compare(b.Failed, a.Failed), cmp.Compare(a.Visits, b.Visits), cmp.Compare(a.Node, b.Node))
	})
	highest := 0.0
	for _, n := range all {
		if n.Node == "" || n.Failed == 0 || n.Visits < leastVisits {
			continue
		}
		if low := stats.Wilson(n.Failed, n.Visits).Low; low > highest {
			found := n
			weakest, highest = &found, low
		}
	}
	return all, weakest
}
