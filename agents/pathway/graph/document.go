package graph

import (
	"encoding/json"
	"strings"

	"github.com/callwright/callwright/agents/pathway/internal/tree"
)

// Document is a pathway in the JSON format of the /v1 contract, as clients send it. Members of nodes and edges that this package does not
// know are stored and returned unchanged. The zero Document is the empty pathway.
type Document struct {
	Nodes []json.RawMessage // each with id, type and data; one entry may contain only globalConfig instead
	Edges []json.RawMessage // each with id, source, target and data
}

// The limits of a document.
const (
	MaxNodes = 500
	MaxEdges = 2000
	MaxBytes = 1 << 20 // bytes of the whole document as JSON
)

// Empty reports whether the document has neither nodes nor edges.
func (d Document) Empty() bool { return len(d.Nodes) == 0 && len(d.Edges) == 0 }

// Size returns the total number of bytes of the nodes and edges.
func (d Document) Size() (bytes int) {
	for _, raw := range d.Nodes {
		bytes += len(raw)
	}
	for _, raw := range d.Edges {
		bytes += len(raw)
	}
	return bytes
}

// Normalize returns the document in the form in which it is stored: an edge's label and description are members of its data. If a client
// wrote them beside data, they replace the values in data. Everything else stays unchanged, including errors.
func (d Document) Normalize() Document {
	edges := make([]json.RawMessage, len(d.Edges))
	for i, raw := range d.Edges {
		edges[i] = raw
		if v, err := tree.Parse(string(raw)); err == nil && normalizeEdge(&v) {
			edges[i] = v.Append(nil)
		}
	}
	if d.Edges == nil {
		edges = nil
	}
	return Document{Nodes: d.Nodes, Edges: edges}
}

// normalizeEdge moves the label and the description of an edge into its data, and reports whether it changed the edge. It deletes a label
// or description that is null. It does not change an edge whose data is invalid.
func normalizeEdge(edge *tree.Value) (moved bool) {
	data := edge.Get("data")
	if data.Kind != tree.Object && data.Kind > tree.Null {
		return false // an error that Compile reports
	}
	for _, name := range []string{"label", "description"} {
		text := edge.Get(name)
		if text.Kind == tree.Absent {
			continue
		}
		if text.Kind != tree.Null {
			data.Kind = tree.Object
			data.Set(name, text)
		}
		moved = true
	}
	if moved {
		edge.DeleteFunc(func(name string) bool { return name == "label" || name == "description" })
		if data.Kind != tree.Absent {
			edge.Set("data", data)
		}
	}
	return moved
}

// parse parses the entries of a list. It reports an entry that is not JSON, and returns the zero Value for it.
func parse(errs *errorList, list string, raws []json.RawMessage) []tree.Value {
	values := make([]tree.Value, len(raws))
	var p tree.Parser
	all := joined(raws)
	for i, raw := range raws {
		text := all[:len(raw)]
		all = all[len(raw):]
		v, err := p.Parse(text)
		if err != nil {
			errs.addf(Entry(list, i), "%s", err)
			continue
		}
		values[i] = v
	}
	return values
}

// joined returns the entries of a list in one string, so that parsing makes only one copy for all of them.
func joined(raws []json.RawMessage) string {
	var all strings.Builder
	size := 0
	for _, raw := range raws {
		size += len(raw)
	}
	all.Grow(size)
	for _, raw := range raws {
		all.Write(raw)
	}
	return all.String()
}
