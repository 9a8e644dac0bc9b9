package runner

import (
	"slices"

	"github.com/callwright/callwright/agents/pathway/graph"
	"github.com/callwright/callwright/agenttest/assert"
)

// Graph returns a version's graph in the form of assertions. The successors of a node are the nodes of its edges and branches, and
// the global nodes, without the way back from a global node. A node fills the variables that it extracts, and the variables of its
// request and its tools. It says its text, if any.
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

// unique removes duplicates from a list, and keeps its order.
func unique(list []string) []string {
	seen := make(map[string]bool, len(list))
	return slices.DeleteFunc(list, func(s string) bool {
		twice := seen[s]
		seen[s] = true
		return twice
	})
}
