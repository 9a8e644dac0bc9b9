package pathways

import (
	"bytes"
	"encoding/json"
	"html/template"

	"github.com/callwright/callwright/agents/pathway/graph"
	"github.com/callwright/callwright/transport/dashboard/chart"
	"github.com/callwright/callwright/transport/dashboard/page"
)

// drawing is the picture of a document.
type drawing struct {
	SVG   template.HTML // empty: the document has no nodes
	Views []view
	Node  string // the name of the node that is chosen; empty: none is
	Text  string // its part of the document
}

// view is a link to another part of the picture.
type view struct{ Name, Query string }

// node is what the picture needs of a node, and edge of an edge.
type (
	node struct {
		ID   string `json:"id"`
		Type string `json:"type"`
		Data struct {
			Name  string `json:"name"`
			Start bool   `json:"isStart"`
		} `json:"data"`
	}
	edge struct {
		Source string `json:"source"`
		Target string `json:"target"`
		Data   struct {
			Label string `json:"label"`
		} `json:"data"`
	}
)

// draw draws a document, whose page is at a path. Nodes and edges that cannot be read are left out: the compiler names them.
func draw(r *page.Request, d graph.Document, at string) (drawing, error) {
	picture := chart.Graph{ID: "pathway", Title: "Pathway"}
	picture.View, _ = chart.ParseViewBox(r.Query("view")) // a wrong one shows the whole
	chosen := r.Query("node")
	var done drawing
	for _, raw := range d.Nodes {
		var n node
		if json.Unmarshal(raw, &n) != nil || n.ID == "" {
			continue
		}
		shown := chart.Node{ID: n.ID, Label: n.Data.Name, Kind: n.Type, Selected: n.ID == chosen, Href: at + r.With("node", n.ID) + "#node"}
		if shown.Label == "" {
			shown.Label = n.ID
		}
		if shown.Selected {
			var text bytes.Buffer
			if err := json.Indent(&text, raw, "", "  "); err != nil {
				return drawing{}, err
			}
			done.Node, done.Text = shown.Label, text.String()
		}
		if n.Data.Start { // it stands in the first layer
			picture.Nodes = append([]chart.Node{shown}, picture.Nodes...)
		} else {
			picture.Nodes = append(picture.Nodes, shown)
		}
	}
	if len(picture.Nodes) == 0 {
		return drawing{}, nil
	}
	for _, raw := range d.Edges {
		var e edge
		if json.Unmarshal(raw, &e) == nil {
			picture.Edges = append(picture.Edges, chart.Edge{From: e.Source, To: e.Target, Label: e.Data.Label})
		}
	}
	done.SVG = picture.SVG()
	parts := picture.Views()
	for _, v := range []struct {
		name string
		box  chart.ViewBox
	}{
		{"Whole", chart.ViewBox{}}, {"Zoom in", parts.In}, {"Zoom out", parts.Out}, {"Left", parts.Left}, {"Right", parts.Right}, {"Up", parts.Up}, {"Down", parts.Down},
	} {
		text := ""
		if v.box != (chart.ViewBox{}) {
			text = v.box.String()
		}
		done.Views = append(done.Views, view{v.name, at + r.With("view", text)})
	}
	return done, nil
}
