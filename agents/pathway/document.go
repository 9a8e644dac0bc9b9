package pathway

import (
	"encoding/json"
	"strconv"
	"strings"

	"github.com/callwright/callwright"
	"github.com/callwright/callwright/agents/pathway/internal/tree"
)

// Document is a graph as clients write it, in the shapes of the /v1 contract. What a node or an edge holds beyond what is
// known here is kept and given back as it is. The zero Document is the empty graph.
type Document struct {
	Nodes []json.RawMessage // each with id, type and data; one further may hold globalConfig and nothing else
	Edges []json.RawMessage // each with id, source, target and data
}

// Empty says whether there is nothing in the document.
func (d Document) Empty() bool { return len(d.Nodes) == 0 && len(d.Edges) == 0 }

// The limits of a document.
const (
	MaxNodes = 500
	MaxEdges = 2000
	MaxBytes = 1 << 20 // of all of it as JSON
)

// Normalize is the document as it is stored and given back: the label and the description of an edge stand in its data,
// also where they were written beside it, and then replace what data had of them. Everything else is as it was, faults
// included.
func (d Document) Normalize() Document {
	edges := make([]json.RawMessage, len(d.Edges))
	for i, raw := range d.Edges {
		edges[i] = raw
		if v, err := tree.Parse(string(raw)); err == nil && settleEdge(&v) {
			edges[i] = v.Append(nil)
		}
	}
	if d.Edges == nil {
		edges = nil
	}
	return Document{Nodes: d.Nodes, Edges: edges}
}

// settleEdge moves the label and the description of an edge into its data and says whether there was any to move.
func settleEdge(edge *tree.Value) (moved bool) {
	data := edge.Get("data")
	if data.Kind != tree.Object && data.Kind > tree.Null {
		return false // a fault, which Compile names
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
		edge.Remove(func(name string) bool { return name == "label" || name == "description" })
		if data.Kind != tree.Absent {
			edge.Set("data", data)
		}
	}
	return moved
}

// Canonical is the document as JSON, so that documents of which conversations go alike look alike. It is the object of
// nodes and edges in their order, which counts, without what only editors look at: of a node it has id, type, data and
// globalConfig, of an edge id, source, target and data without isHighlighted. Members are sorted by name and stand once
// (the last counts), blanks and needless escapes are left out, and numbers have their shortest form. Members of data that
// are not known here stand in it too: a later version may know them. The error is FieldErrors where it is not JSON.
func (d Document) Canonical() ([]byte, error) {
	var c compiler
	nodes, edges := c.parse("nodes", d.Nodes), c.parse("edges", d.Edges)
	if err := c.errs.OrNil(); err != nil {
		return nil, err
	}
	var out []byte
	canonical(nodes, edges, func(piece []byte) { out = append(out, piece...) })
	return out, nil
}

// canonical writes what was parsed in the form of Canonical, piece by piece. A piece is good until the next.
func canonical(nodes, edges []tree.Value, write func(piece []byte)) {
	var piece []byte
	list := func(opening string, values []tree.Value, behaviour func(tree.Value) tree.Value) {
		piece = append(piece[:0], opening...)
		for i := range values {
			if i > 0 {
				piece = append(piece, ',')
			}
			v := behaviour(values[i])
			piece = v.AppendCanonical(piece)
			write(piece)
			piece = piece[:0]
		}
		write(piece)
	}
	list(`{"edges":[`, edges, edgeBehaviour)
	list(`],"nodes":[`, nodes, nodeBehaviour)
	write([]byte("]}"))
}

// nodeBehaviour is a node without what only editors look at.
func nodeBehaviour(node tree.Value) tree.Value {
	node.Remove(func(name string) bool {
		return name != "id" && name != "type" && name != "data" && name != "globalConfig"
	})
	return node
}

// edgeBehaviour is an edge, settled, without what only editors look at.
func edgeBehaviour(edge tree.Value) tree.Value {
	settleEdge(&edge)
	edge.Remove(func(name string) bool {
		return name != "id" && name != "source" && name != "target" && name != "data"
	})
	if data := edge.Get("data"); data.Get("isHighlighted").Kind != tree.Absent {
		data.Remove(func(name string) bool { return name == "isHighlighted" })
		edge.Set("data", data)
	}
	return edge
}

// parse reads the entries of a list. One that is not JSON is a fault, and the zero Value.
func (c *compiler) parse(list string, raws []json.RawMessage) []tree.Value {
	values := make([]tree.Value, len(raws))
	var p tree.Parser
	all := joined(raws)
	for i, raw := range raws {
		text := all[:len(raw)]
		all = all[len(raw):]
		v, err := p.Parse(text)
		if err != nil {
			c.faultf(entry(list, i), "%s", err)
			continue
		}
		values[i] = v
	}
	return values
}

// joined is the entries of a list, one behind the other: one copy is made of all, not one of each.
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

// entry is the path of an entry of a list.
func entry(list string, i int) string {
	var room [64]byte
	path := append(append(room[:0], list...), '[')
	return string(append(strconv.AppendInt(path, int64(i), 10), ']'))
}

// maxFaults bounds how many faults one document is told of.
const maxFaults = 100

// faultf notes what is wrong; the first for each path counts.
func (c *compiler) faultf(path, format string, args ...any) {
	for _, known := range c.errs {
		if known.Field == path {
			return
		}
	}
	switch len(c.errs) {
	case maxFaults:
		c.errs = append(c.errs, callwright.Invalid("", "there are more faults than these"))
	case maxFaults + 1:
	default:
		c.errs = append(c.errs, callwright.Invalid(path, format, args...))
	}
}
