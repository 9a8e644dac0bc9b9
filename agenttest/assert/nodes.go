package assert

import (
	"context"
	"slices"
)

// reachedRule is the rule of NodeReached.
type reachedRule struct{ node string }

func compileNodeReached(f *fields, _ *Assertion) rule {
	f.require("node_id")
	return &reachedRule{f.node("node_id")}
}

func (c *reachedRule) evaluate(_ context.Context, e *Evidence, _ evaluationTools, r *Result) {
	r.Expected = c.node
	r.Actual = path512(e)
	if i := e.visited(c.node); i >= 0 {
		r.decidedIn(e, e.Visits[i].Turn)
		r.passf("The agent visited the node %s.", excerpt(c.node))
		return
	}
	r.failf(Failed, CodeNodeMissed, "The agent did not visit the node %s.", excerpt(c.node))
	r.Node = e.lastNodeBefore(c.node)
}

// visitedRule is the rule of NodesVisited.
type visitedRule struct {
	nodes     []string
	any       bool
	inOrder   bool
	forbidden []string
}

func compileNodesVisited(f *fields, _ *Assertion) rule {
	c := &visitedRule{}
	f.require("node_ids")
	c.nodes = f.nodeList("node_ids", 1, MaxSet)
	c.any = choice(f, "match", "all", "any") == "any"
	if c.inOrder = f.flag("in_order", false); c.inOrder && c.any {
		f.rejectf(path("in_order"), "requires match to be all")
	}
	if !c.inOrder {
		c.nodes = unique(c.nodes)
	}
	c.forbidden = f.nodeList("forbidden", 0, MaxSet)
	for i, id := range c.forbidden {
		if id != "" && slices.Contains(c.nodes, id) {
			f.rejectf(item("forbidden", i), "must not be in node_ids too")
		}
	}
	return c
}

// unique returns the texts without duplicates, in the order of their first occurrences.
func unique(all []string) []string {
	var once []string
	for _, s := range all {
		if !slices.Contains(once, s) {
			once = append(once, s)
		}
	}
	return once
}

func (c *visitedRule) evaluate(_ context.Context, e *Evidence, _ evaluationTools, r *Result) {
	r.Expected = slices.Clone(c.nodes)
	r.Actual = path512(e)
	for i, v := range e.Visits {
		if slices.Contains(c.forbidden, v.Node) {
			r.decidedIn(e, v.Turn)
			r.failf(Failed, CodeNodeForbidden, "The agent visited the forbidden node %s.", excerpt(v.Node))
			r.Node = e.Visits[max(i-1, 0)].Node
			return
		}
	}
	missed := ""
	hits := 0
	for _, node := range c.nodes {
		if e.visited(node) >= 0 {
			hits++
		} else if _, unknown := e.lacks([]string{node}); missed == "" && !unknown {
			missed = node
		}
	}
	switch {
	case c.any && hits > 0:
		r.passf("The agent visited %d of %d nodes.", hits, len(c.nodes))
	case c.any:
		r.failf(Failed, CodeNodeMissed, "The agent visited none of %s.", plural(len(c.nodes), "node"))
		r.Node = e.lastNodeBefore(missed)
	case c.inOrder:
		c.order(e, missed, r)
	case missed == "":
		r.passf("The agent visited %s.", allOf(len(c.nodes)))
	default:
		c.share(e, hits, missed, r)
	}
}

// share sets a failed result for a set of which only some nodes were visited. The score is the share of visited nodes.
func (c *visitedRule) share(e *Evidence, hits int, missed string, r *Result) {
	r.failf(Failed, CodeNodeMissed, "The agent visited %d of %d nodes. It missed %s.", hits, len(c.nodes), excerpt(missed))
	r.score(float64(hits) / float64(len(c.nodes)))
	r.Node = e.lastNodeBefore(missed)
}

// order sets the result for nodes that must be visited in order. The score is the largest share of them that was visited in order.
func (c *visitedRule) order(e *Evidence, missed string, r *Result) {
	visits := e.path()
	if len(visits) > MaxNodes {
		r.failf(Error, CodeTooLarge, "The agent visited more than %d nodes.", MaxNodes)
		return
	}
	edits, kept := compare(c.nodes, visits)
	switch {
	case kept == len(c.nodes):
		r.passf("The agent visited %s in order.", allOf(len(c.nodes)))
	case missed != "":
		c.share(e, kept, missed, r)
	default:
		r.failf(Failed, CodeWrongOrder, "The agent visited the nodes in another order: only %d of %d are in order.", kept, len(c.nodes))
		r.score(float64(kept) / float64(len(c.nodes)))
		r.Node = lastKept(edits)
	}
}

// allOf returns "the node" or "all n nodes", for a sentence.
func allOf(n int) string {
	if n == 1 {
		return "the node"
	}
	return "all " + plural(n, "node")
}

// visited returns the index of the first visit of a node, or -1 if the node was not visited.
func (e *Evidence) visited(node string) int {
	return slices.IndexFunc(e.Visits, func(v Visit) bool { return v.Node == node })
}

// path returns the ids of the visited nodes in order.
func (e *Evidence) path() []string {
	ids := make([]string, len(e.Visits))
	for i, v := range e.Visits {
		ids[i] = v.Node
	}
	return ids
}

// path512 returns the ids of the first MaxNodes visited nodes, for results.
func path512(e *Evidence) []string {
	ids := make([]string, 0, min(len(e.Visits), MaxNodes))
	for _, v := range e.Visits[:min(len(e.Visits), MaxNodes)] {
		ids = append(ids, v.Node)
	}
	return ids
}
