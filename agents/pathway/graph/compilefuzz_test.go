package graph_test

import (
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strings"
	"testing"

	"pgregory.net/rapid"

	"github.com/callwright/callwright"
	"github.com/callwright/callwright/agents/agentstest"
	"github.com/callwright/callwright/agents/pathway/graph"
)

// FuzzCompile checks that a valid document with any additional node and edge compiles to a valid graph or has faults, and that its
// normalized form has the same hash, or faults too. Diff must not panic.
func FuzzCompile(f *testing.F) {
	d := agentstest.EveryNode("")
	for i, n := range d.Nodes {
		f.Add(string(n), string(d.Edges[min(i, len(d.Edges)-1)]))
	}
	f.Add(`{"id":"x","type":"Webhook","data":{"url":"{{a}}","headers":[[]],"responsePathways":[["a","==",null,{"id":"day"}]]}}`, `{"label":{}}`)
	f.Fuzz(func(t *testing.T, node, edge string) {
		d := agentstest.EveryNode("")
		d.Nodes = append(d.Nodes, json.RawMessage(node))
		d.Edges = append(d.Edges, json.RawMessage(edge))
		g, err := graph.Compile(d)
		normal, normalErr := graph.Compile(d.Normalize())
		if (err == nil) != (normalErr == nil) {
			t.Fatalf("the faults %v become %v", err, normalErr)
		}
		_ = graph.Diff(agentstest.EveryNode(""), d)
		if err != nil {
			checkFaults(t, err)
			return
		}
		checkGraph(t, g)
		if g.Hash != normal.Hash {
			t.Fatalf("the hash %s becomes %s", g.Hash, normal.Hash)
		}
	})
}

// checkFaults checks that an error consists of 1 to 101 faults with CodeBadRequest, a message and distinct paths.
func checkFaults(t *testing.T, err error) {
	t.Helper()
	all, ok := errors.AsType[callwright.FieldErrors](err)
	if !ok || len(all) == 0 || len(all) > 101 {
		t.Fatalf("the error is %T with %d faults", err, len(all))
	}
	places := map[string]bool{}
	for _, fault := range all {
		if fault.Code != callwright.CodeBadRequest || fault.Message == "" || places[fault.Field] {
			t.Fatalf("a fault is %+v", fault)
		}
		places[fault.Field] = true
	}
}

// checkGraph checks the invariants of a graph on which the interpreter relies.
func checkGraph(t *testing.T, g *graph.Graph) {
	t.Helper()
	if g.Start == nil || g.Nodes[g.Start.ID] != g.Start || len(g.Hash) != 64 {
		t.Fatalf("the start is %+v", g.Start)
	}
	for id, n := range g.Nodes {
		always := 0
		for _, e := range n.Edges {
			if e.To == nil || g.Nodes[e.To.ID] != e.To || e.Label == nil && e.Description == nil && !e.Always {
				t.Fatalf("node %s has the edge %+v", id, e)
			}
			if e.Always {
				always++
			}
		}
		for _, b := range n.Branches {
			if b.To == nil || g.Nodes[b.To.ID] != b.To || b.Variable == "" || b.Operator == "" || b.Value == nil {
				t.Fatalf("node %s has the branch %+v", id, b)
			}
		}
		switch {
		case n.ID != id, always > 1, n.Type == graph.NodeEnd && len(n.Edges) > 0, n.Global && n.Label == nil,
			n.Type == graph.NodeDefault && n.Text == nil && n.Prompt == nil, n.Type == graph.NodeWebhook && n.Request == nil,
			n.Type == graph.NodePress && n.Digits == nil, n.Type == graph.NodeKnowledge && n.Knowledge == "" && n.KnowledgeBase == "":
			t.Fatalf("node %s is %+v", id, n)
		}
	}
}

// object is a node or an edge of a document.
type object = map[string]any

// drawGraph returns a random valid graph: a tree that begins at the start, global nodes, and further edges. The first node is the start,
// the last node is an End Call, and the global prompt follows it.
func drawGraph(t *rapid.T) (nodes, edges []object) {
	count := rapid.IntRange(2, 12).Draw(t, "nodes")
	link := func(from, to int, always bool) {
		edges = append(edges, object{
			"id": fmt.Sprintf("e%d", len(edges)), "source": nodes[from]["id"], "target": nodes[to]["id"],
			"data": object{"label": "the caller says \"on\"", "alwaysPick": always},
		})
	}
	for i := range count {
		kind := rapid.SampledFrom([]string{"Default", "Knowledge Base", "Webhook", "Wait for Response", "Transfer Call", "Press Button"}).Draw(t, "type")
		switch i {
		case 0:
			kind = "Default"
		case count - 1:
			kind = "End Call"
		}
		data := object{
			"name": fmt.Sprintf("Node %d", i), "text": "Say {{this}}.", "url": "https://example.com/x", "digits": "1#", "kb": "All.",
			"transferNumber": "+15550100123", "extractVars": []any{[]any{"day", "string", "d"}, object{"name": "n", "type": "integer"}},
			"isStart": i == 0,
		}
		nodes = append(nodes, object{"id": fmt.Sprintf("n%d", i), "type": kind, "position": object{"x": i}, "data": data})
		switch way := rapid.IntRange(0, 3).Draw(t, "way"); {
		case i == 0:
		case way == 0:
			data["isGlobal"], data["globalLabel"] = true, "the caller asks"
		default:
			link(rapid.IntRange(0, i-1).Draw(t, "from"), i, false)
		}
	}
	for range rapid.IntRange(0, 5).Draw(t, "more edges") {
		link(rapid.IntRange(0, count-2).Draw(t, "source"), rapid.IntRange(0, count-1).Draw(t, "target"), false)
	}
	link(0, count-1, true)
	nodes = append(nodes, object{"globalConfig": object{"globalPrompt": "Be brief."}})
	return nodes, edges
}

// encoded returns the document of nodes and edges.
func encoded(t *rapid.T, nodes, edges []object) graph.Document {
	var d graph.Document
	for list, to := range map[*[]object]*[]json.RawMessage{&nodes: &d.Nodes, &edges: &d.Edges} {
		for _, v := range *list {
			raw, err := json.Marshal(v)
			if err != nil {
				t.Fatal(err)
			}
			*to = append(*to, raw)
		}
	}
	return d
}

// TestMutations checks that random graphs compile, and that each kind of damage is reported at its path. No other faults may be reported,
// except unreachable nodes.
func TestMutations(t *testing.T) {
	t.Parallel()
	data := func(o object) object { return o["data"].(object) }
	type damage func(nodes, edges []object, node, edge int) (newNodes, newEdges []object, place string)
	at := func(list string, i int, member string) string { return fmt.Sprintf("%s[%d].%s", list, i, member) }
	kinds := map[string]damage{
		"second start": func(n, e []object, i, _ int) ([]object, []object, string) {
			i = max(i, 1)
			data(n[i])["isStart"] = true
			return n, e, at("nodes", i, "data.isStart")
		},
		"no start": func(n, e []object, _, _ int) ([]object, []object, string) {
			delete(data(n[0]), "isStart")
			return n, e, "nodes"
		},
		"same id": func(n, e []object, i, _ int) ([]object, []object, string) {
			return append(n, object{"id": n[i]["id"], "type": "End Call"}), e, at("nodes", len(n), "id")
		},
		"unknown type": func(n, e []object, i, _ int) ([]object, []object, string) {
			i = min(i, len(n)-3) // not the End Call node, whose edges would no longer be a fault
			n[i]["type"] = "Magic"
			return n, e, at("nodes", i, "type")
		},
		"dangling target": func(n, e []object, _, i int) ([]object, []object, string) {
			e[i]["target"] = "nowhere"
			return n, e, at("edges", i, "target")
		},
		"dangling source": func(n, e []object, _, i int) ([]object, []object, string) {
			e[i]["source"] = "nowhere"
			return n, e, at("edges", i, "source")
		},
		"unlabelled edge": func(n, e []object, _, i int) ([]object, []object, string) {
			e[i]["data"] = object{"label": " "}
			return n, e, at("edges", i, "data.label")
		},
		"same edge": func(n, e []object, _, i int) ([]object, []object, string) {
			copied := object{"id": e[i]["id"], "source": e[i]["source"], "target": e[i]["target"], "label": "x"}
			return n, append(e, copied), at("edges", len(e), "id")
		},
		"second always": func(n, e []object, _, _ int) ([]object, []object, string) {
			more := object{"id": "more", "source": "n0", "target": "n0", "data": object{"alwaysPick": true}}
			return n, append(e, more), at("edges", len(e), "data.alwaysPick")
		},
		"after the end": func(n, e []object, _, _ int) ([]object, []object, string) {
			more := object{"id": "more", "source": n[len(n)-2]["id"], "target": "n0", "label": "x"}
			return n, append(e, more), at("edges", len(e), "source")
		},
		"orphan": func(n, e []object, _, _ int) ([]object, []object, string) {
			return append(n, object{"id": "orphan", "type": "End Call"}), e, fmt.Sprintf("nodes[%d]", len(n))
		},
		"global without label": func(n, e []object, i, _ int) ([]object, []object, string) {
			data(n[i])["isGlobal"], data(n[i])["globalLabel"] = true, ""
			return n, e, at("nodes", i, "data.globalLabel")
		},
		"silent node": func(n, e []object, _, _ int) ([]object, []object, string) {
			delete(data(n[0]), "text")
			return n, e, at("nodes", 0, "data.prompt")
		},
		"variable": func(n, e []object, i, _ int) ([]object, []object, string) {
			data(n[i])["extractVars"] = []any{[]any{"ok"}, []any{"not ok", "string"}}
			return n, e, at("nodes", i, "data.extractVars[1][0]")
		},
		"branch": func(n, e []object, _, _ int) ([]object, []object, string) {
			d := object{"url": "https://example.com", "isStart": true, "responsePathways": []any{[]any{"a", "==", 1, object{"id": "nowhere"}}}}
			n[0]["type"], n[0]["data"] = "Webhook", d
			return n, e, at("nodes", 0, "data.responsePathways[0][3].id")
		},
		"second settings": func(n, e []object, _, _ int) ([]object, []object, string) {
			return append(n, object{"globalConfig": object{}}), e, at("nodes", len(n), "globalConfig")
		},
	}
	names := make([]string, 0, len(kinds))
	for name := range kinds {
		names = append(names, name)
	}
	slices.Sort(names)
	rapid.Check(t, func(rt *rapid.T) {
		nodes, edges := drawGraph(rt)
		g, err := graph.Compile(encoded(rt, nodes, edges))
		if err != nil {
			rt.Fatalf("a drawn graph is refused: %v", err)
		}
		checkGraph(t, g)
		name := rapid.SampledFrom(names).Draw(rt, "damage")
		node, edge := rapid.IntRange(0, len(nodes)-2).Draw(rt, "node"), rapid.IntRange(0, len(edges)-1).Draw(rt, "edge")
		nodes, edges, place := kinds[name](nodes, edges, node, edge)
		g, err = graph.Compile(encoded(rt, nodes, edges))
		all, _ := errors.AsType[callwright.FieldErrors](err)
		if g != nil || !slices.ContainsFunc(all, func(e *callwright.Error) bool { return e.Field == place }) {
			rt.Fatalf("%s: no fault at %s, but %v", name, place, err)
		}
		for _, e := range all {
			if e.Field != place && !strings.HasPrefix(e.Message, "must be reachable") {
				rt.Fatalf("%s: another fault %v", name, e)
			}
		}
	})
}
