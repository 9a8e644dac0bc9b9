package join

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"

	"github.com/callwright/callwright"
	"github.com/callwright/callwright/agents/pathway"
	"github.com/callwright/callwright/agents/pathway/graph"
	"github.com/callwright/callwright/agents/template"
	"github.com/callwright/callwright/triage"
)

// Pathways resolves pathways for issues.
type Pathways struct{ Service *pathway.Service }

var _ triage.ResourceResolver = Pathways{}

// Find returns the names and metadata of pathways by id.
func (l Pathways) Find(ctx context.Context, org callwright.OrgID, ids []string) (map[string]triage.Item, error) {
	return find(ids, func(id string) (triage.Item, error) {
		p, err := l.Service.Get(ctx, org, id)
		return triage.Item{Title: p.Name, Metadata: map[string]any{
			"created_at": stamp(p.CreatedAt), "updated_at": stamp(p.UpdatedAt), "latest_version": p.Latest,
			"production_version": p.Production,
		}}, err
	})
}

// maxFacts bounds the facts about a pathway, in bytes of JSON.
const maxFacts = 64 << 10

// Read returns the evidence about a pathway for analysts: its nodes, each a fact by its id, and the edges between them, of the
// version in production or else of the draft. Long texts of a large pathway are clipped; nodes of a very large one that do not fit
// are omitted and counted.
func (l Pathways) Read(ctx context.Context, org callwright.OrgID, id string) (triage.Evidence, error) {
	p, err := l.Service.Get(ctx, org, id)
	if err != nil {
		return triage.Evidence{}, err
	}
	sel := pathway.Selector{}
	if p.Production != 0 {
		sel.Environment = pathway.Production
	}
	g, number, err := l.Service.Load(ctx, org, id, sel)
	switch {
	case errors.Is(err, callwright.ErrInvalidState): // it is empty, or has faults by now
		f := about(p, number, maxText)
		f["error"] = callwright.MessageOf(err)
		return triage.Evidence{Facts: f}, nil
	case err != nil:
		return triage.Evidence{}, err
	}
	nodes := walk(g)
	for most := maxText; ; most /= 4 {
		f := about(p, number, most)
		f.add("instructions", text(g.Prompt, most))
		f.add("start", g.Start.ID)
		if missing := f.nodes(nodes, most); missing == 0 {
			return triage.Evidence{Facts: f}, nil
		} else if most <= minText {
			f["nodes_left_out"] = missing
			return triage.Evidence{Facts: f}, nil
		}
	}
}

// The most bytes of a text of a node: at first, and when the nodes do not fit otherwise.
const (
	maxText = 16 << 10
	minText = 256
)

// about returns the facts about a pathway without its nodes.
func about(p pathway.Pathway, number, most int) facts {
	f := facts{leftOut: "Addresses, headers and bodies of requests, and the tools of nodes, are not shown."}
	f.add("name", p.Name)
	f.add("description", callwright.Clip(p.Description, most))
	f.add("version", "the draft")
	if number != 0 {
		f.add("version", fmt.Sprintf("version %d, in production", number))
	}
	f.at("updated_at", &p.UpdatedAt)
	return f
}

// walk returns all nodes in breadth-first order from the start.
func walk(g *graph.Graph) []*graph.Node {
	nodes := append([]*graph.Node{g.Start}, g.Globals...)
	seen := map[*graph.Node]bool{}
	var order []*graph.Node
	for len(nodes) > 0 {
		n := nodes[0]
		nodes = nodes[1:]
		if seen[n] {
			continue
		}
		seen[n] = true
		order = append(order, n)
		for _, b := range n.Branches {
			nodes = append(nodes, b.To)
		}
		for _, e := range n.Edges {
			nodes = append(nodes, e.To)
		}
	}
	return order
}

// spare is room for the fact that counts the nodes left out, in bytes.
const spare = 64

// nodes adds the nodes that fit, and returns the number of the others.
func (f facts) nodes(nodes []*graph.Node, most int) (missing int) {
	left := maxFacts - spare - size(f)
	for _, n := range nodes {
		one := facts{"node " + n.ID: node(n, most)}
		bytes := size(one)
		if bytes > left {
			missing++
			continue
		}
		left -= bytes
		f["node "+n.ID] = one["node "+n.ID]
	}
	return missing
}

// size returns the length of the facts as JSON, in bytes.
func size(f facts) int {
	raw, _ := json.Marshal(f) //nolint:errchkjson // texts, numbers and lists of them always have a form
	return len(raw)
}

// node returns the facts about a node. Of its requests to other systems they hold only the branches.
func node(n *graph.Node, most int) map[string]any {
	f := facts{"type": string(n.Type)}
	f.add("name", n.Name)
	f.add("prompt", text(n.Prompt, most))
	f.add("text", text(n.Text, most))
	f.add("condition", text(n.Condition, most))
	f.add("knowledge", callwright.Clip(n.Knowledge, most))
	f.add("global", n.Global)
	f.add("when", text(n.Label, most))
	f.add("description", text(n.Description, most))
	f.add("returns", n.AutoReturn)
	f.add("does_not_wait", n.Skip)
	for _, v := range n.Extract {
		f.list("finds_out", map[string]any{"name": v.Name, "type": string(v.Type), "description": callwright.Clip(v.Description, most)})
	}
	for _, b := range n.Branches {
		f.list("branches", map[string]any{
			"if": b.Variable + " " + string(b.Operator) + " " + text(b.Value, most), "to": b.To.ID,
		})
	}
	for _, e := range n.Edges {
		way := facts{"to": e.To.ID}
		way.add("when", text(e.Label, most))
		way.add("description", text(e.Description, most))
		way.add("always", e.Always)
		f.list("ways", map[string]any(way))
	}
	return f
}

// text returns a template as its author wrote it, clipped; empty for nil.
func text(t *template.Template, most int) string {
	if t == nil {
		return ""
	}
	return callwright.Clip(t.Text(), most)
}
