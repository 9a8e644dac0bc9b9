package pathway

import "encoding/json"

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
