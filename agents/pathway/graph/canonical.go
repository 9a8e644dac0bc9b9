package graph

import "github.com/callwright/callwright/agents/pathway/internal/tree"

// Canonical returns the document as canonical JSON. Documents that differ only in their spelling, or in members that only editors use, have
// the same canonical form.
//
// The result is an object of nodes and edges in the document's order, which is significant. A node keeps id, type, data and globalConfig;
// an edge keeps id, source, target and data without isHighlighted. Members are sorted by name and unique (the last one counts). White space
// and needless escapes are removed, and numbers have their shortest form. Unknown members of data are kept, because a later release may use
// them. The error is FieldErrors if the document is not JSON.
func (d Document) Canonical() ([]byte, error) {
	var errs errorList
	nodes, edges := parse(&errs, "nodes", d.Nodes), parse(&errs, "edges", d.Edges)
	if err := errs.all.OrNil(); err != nil {
		return nil, err
	}
	var out []byte
	canonical(nodes, edges, func(piece []byte) { out = append(out, piece...) })
	return out, nil
}

// canonical writes the canonical form of a parsed document piece by piece. A piece is valid only until the next call of write.
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

// nodeBehaviour returns a node without the members that only editors use.
func nodeBehaviour(node tree.Value) tree.Value {
	node.DeleteFunc(func(name string) bool {
		return name != "id" && name != "type" && name != "data" && name != "globalConfig"
	})
	return node
}

// edgeBehaviour returns a normalized edge without the members that only editors use.
func edgeBehaviour(edge tree.Value) tree.Value {
	normalizeEdge(&edge)
	edge.DeleteFunc(func(name string) bool {
		return name != "id" && name != "source" && name != "target" && name != "data"
	})
	if data := edge.Get("data"); data.Get("isHighlighted").Kind != tree.Absent {
		data.DeleteFunc(func(name string) bool { return name == "isHighlighted" })
		edge.Set("data", data)
	}
	return edge
}
