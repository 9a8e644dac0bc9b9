package graph

import "github.com/callwright/callwright/agents/pathway/internal/tree"

// Canonical returns the document as canonical JSON: documents that lead conversations the same way have the same bytes.
//
// It is an object of nodes and edges in their order, which is significant. A node keeps id, type, data and globalConfig; an edge
// keeps id, source, target and data without isHighlighted. Members are sorted by name and unique (the last one counts), white space
// and needless escapes are dropped, and numbers have their shortest form. Unknown members of data stay, because a later version may
// know them. The error is FieldErrors if the document is not JSON.
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

// canonical writes a parsed document in the form of Canonical, piece by piece. A piece is valid until the next one.
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

// edgeBehaviour returns a settled edge without the members that only editors use.
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
