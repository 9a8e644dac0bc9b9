package analysis

import (
	"encoding/json"

	"github.com/callwright/callwright"
	"github.com/callwright/callwright/agents/pathway/graph"
)

// shown lists the members of a node's data that a model reads.
var shown = []string{
	"name", "text", "prompt", "condition", "extractVars", "isStart", "isGlobal", "globalLabel", "globalDescription",
	"enableGlobalAutoReturn", "digits", "kb",
}

// Shown returns the members of a node's data that a model may read, unchanged. It omits URLs, headers and bodies of requests, because they
// may contain keys.
func Shown(data map[string]json.RawMessage) map[string]json.RawMessage {
	members := make(map[string]json.RawMessage, len(shown))
	for _, name := range shown {
		if value, given := data[name]; given {
			members[name] = value
		}
	}
	return members
}

// NodesOf returns the nodes of a document, each with its type, its Shown members and its outgoing edges, without texts that look like
// secrets. It omits nodes without an id and invalid JSON.
func NodesOf(d graph.Document) []Node {
	type edge struct {
		Target string `json:"target"`
		Data   struct {
			Label       string `json:"label,omitempty"`
			Description string `json:"description,omitempty"`
			AlwaysPick  bool   `json:"alwaysPick,omitempty"`
		} `json:"data"`
	}
	edges := map[string][]edge{}
	for _, raw := range d.Edges {
		var e struct {
			Source string `json:"source"`
			edge
		}
		if json.Unmarshal(raw, &e) == nil {
			edges[e.Source] = append(edges[e.Source], e.edge)
		}
	}
	nodes := make([]Node, 0, len(d.Nodes))
	for _, raw := range d.Nodes {
		var n struct {
			ID   string                     `json:"id"`
			Type string                     `json:"type"`
			Data map[string]json.RawMessage `json:"data"`
		}
		if json.Unmarshal(raw, &n) != nil || n.ID == "" {
			continue
		}
		text := map[string]any{"type": n.Type, "edges": edges[n.ID]}
		for name, value := range Shown(n.Data) {
			text[name] = value
		}
		var name string
		_ = json.Unmarshal(n.Data["name"], &name) // name stays empty if it is not a text
		if written, err := json.Marshal(text); err == nil {
			nodes = append(nodes, Node{ID: n.ID, Name: name, Text: callwright.Redact(string(written))})
		}
	}
	return nodes
}
