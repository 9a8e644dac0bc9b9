package runner

import (
	"slices"

	"github.com/callwright/callwright/agents/pathway/graph"
	"github.com/callwright/callwright/agenttest/assert"
)

// Graph returns what assertions see of a version's graph. A node is followed by the nodes of its edges and branches, and by
// the global nodes, to which every node leads. The way back from a global node is not among them. A node fills the variables
// that the caller is asked for there, and those from the answers of its request and its tools. It says its text, if it has one.
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

// unique removes what a list has twice, and keeps its order.
func unique(list []string) []string {
	seen := make(map[string]bool, len(list))
	return slices.DeleteFunc(list, func(s string) bool {
		twice := seen[s]
		seen[s] = true
		return twice
	})
}
