package runner

import (
	"slices"

	"github.com/callwright/callwright/agents/pathway/graph"
	"github.com/callwright/callwright/agenttest/assert"
)

// Graph converts the graph of a version for assertions. The successors of a node are the targets of its edges and branches, and the global
// nodes; the return from a global node is not included. A node fills the variables that it extracts, and the variables that its request and
// its tools set. It says its text, if any.
func Graph(g *graph.Graph) assert.Graph {
	out := make(assert.Graph, len(g.Nodes))
	for id, n := range g.Nodes {
		node := assert.Node{Name: n.Name}
		if n.Text != nil {
			node.Says = n.Text.Text()
		}
		for _, b := range n.Branches {
			node.Next = append(node.Next, b.To.ID)
		}
		for _, e := range n.Edges {
			node.Next = append(node.Next, e.To.ID)
		}
		for _, to := range g.Globals {
			if to != n {
				node.Next = append(node.Next, to.ID)
			}
		}
		for _, f := range n.Extract {
			node.Fills = append(node.Fills, f.Name)
		}
		if n.Request != nil {
			for _, m := range n.Request.Source().Variables {
				node.Fills = append(node.Fills, m.Name)
			}
		}
		node.Fills = append(node.Fills, n.Tools.Variables()...)
		node.Next, node.Fills = unique(node.Next), unique(node.Fills)
		out[id] = node
	}
	return out
}

// unique returns the list without duplicates, in the same order. It changes the list's array.
func unique(list []string) []string {
	seen := make(map[string]bool, len(list))
	return slices.DeleteFunc(list, func(s string) bool {
		twice := seen[s]
		seen[s] = true
		return twice
	})
}
