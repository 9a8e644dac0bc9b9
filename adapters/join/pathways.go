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

// Pathways resolves pathways for issues; it implements triage.ResourceResolver.
type Pathways struct{ Service *pathway.Service }

var _ triage.ResourceResolver = Pathways{}

// Find returns the names and metadata of pathways, by id. It omits absent pathways.
func (l Pathways) Find(ctx context.Context, org callwright.OrgID, ids []string) (map[string]triage.Item, error) {
	return find(ids, func(id string) (triage.Item, error) {
		p, err := l.Service.Get(ctx, org, id)
		return triage.Item{Title: p.Name, Metadata: map[string]any{
			"created_at": stamp(p.CreatedAt), "updated_at": stamp(p.UpdatedAt), "latest_version": p.Latest,
			"production_version": p.Production,
		}}, err
	})
}

// maxFacts is the maximum size of the facts about a pathway, in bytes of JSON.
const maxFacts = 64 << 10

// Read returns the evidence about a pathway for analysts. It describes the version in production, or the draft if there is none: each node
// is a fact, named by its id, and contains its edges. Long texts of a large pathway are clipped. Nodes of a very large pathway that do not
// fit are omitted and counted. If the pathway is empty or no longer valid, the evidence contains the error in place of the nodes. Read
// returns CodeNotFound if the pathway is absent.
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
	case errors.Is(err, callwright.ErrInvalidState): // the pathway is empty, or is no longer valid
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

// Limits of the length of a node's texts, in bytes. Read begins with maxText, and reduces the limit down to minText while the nodes do not
// fit.
const (
	maxText = 16 << 10
	minText = 256
)

// about returns the facts about a pathway, except for its nodes. number is the version, or 0 for the draft.
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

// walk returns all nodes that can be reached from the start and the global nodes, in breadth-first order.
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

// spare is the size reserved for the fact that counts omitted nodes, in bytes.
const spare = 64

// nodes adds the nodes that fit into maxFacts, and returns how many do not fit.
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

// size returns the length of the JSON form of the facts, in bytes.
func size(f facts) int {
	raw, _ := json.Marshal(f) //nolint:errchkjson // texts, numbers and lists of them always have a form
	return len(raw)
}

// node returns the facts about a node, with each text clipped to the given number of bytes. About a request to another system, the facts
// contain only its branches.
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

// text returns the unrendered text of a template, clipped to the given number of bytes. It returns an empty string for nil.
func text(t *template.Template, most int) string {
	if t == nil {
		return ""
	}
	return callwright.Clip(t.Text(), most)
}
