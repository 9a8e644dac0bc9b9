package pathways

import (
	"bytes"
	"cmp"
	"encoding/json"

	"github.com/callwright/callwright/agents/pathway/graph"
	"github.com/callwright/callwright/transport/dashboard/internal/drawing"
	"github.com/callwright/callwright/transport/dashboard/internal/page"
)

// drawn is the picture of a document, with the selected node.
type drawn struct {
	drawing.Picture

	Node string // label of the selected node, or its id; empty if none is selected
	Text string // JSON of the selected node
}

// draw returns the picture of a document. The nodes link to the page with the given path. The query parameter "node" selects a node.
func draw(r *page.Request, d graph.Document, at string) (drawn, error) {
	picture, chosen := drawing.Graph(d), r.Query("node")
	var done drawn
	for i := range picture.Nodes {
		n := &picture.Nodes[i]
		n.Selected, n.Href = n.ID == chosen, at+r.With("node", n.ID)+"#node"
		if !n.Selected {
			continue
		}
		done.Node = cmp.Or(n.Label, n.ID)
		var err error
		if done.Text, err = nodeText(d, n.ID); err != nil {
			return drawn{}, err
		}
	}
	done.Picture = drawing.Draw(r, picture, at)
	return done, nil
}

// nodeText returns the indented JSON of a node, or an empty text if no node of the document has the given id.
func nodeText(d graph.Document, id string) (string, error) {
	for _, raw := range d.Nodes {
		var n struct {
			ID string `json:"id"`
		}
		if json.Unmarshal(raw, &n) == nil && n.ID == id {
			var text bytes.Buffer
			err := json.Indent(&text, raw, "", "  ")
			return text.String(), err
		}
	}
	return "", nil
}
