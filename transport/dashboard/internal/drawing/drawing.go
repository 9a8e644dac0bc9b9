// Package drawing draws pathways, and tables of their changes, for all pages that show them.
package drawing

import (
	"embed"
	"encoding/json"
	"html/template"
	"io/fs"
	"slices"

	"github.com/callwright/callwright/agents/pathway/graph"
	"github.com/callwright/callwright/transport/dashboard/internal/chart"
	"github.com/callwright/callwright/transport/dashboard/internal/page"
)

//go:embed templates/_drawing.html
var files embed.FS

// In returns an area with two additional templates: "drawing", which expects a Picture, and "changes", which expects Changes.
func In(a page.Area) page.Area {
	templates, err := fs.Sub(files, "templates")
	if err != nil {
		panic(err) // impossible, because the folder is embedded
	}
	return a.With(templates, nil)
}

// node and edge contain the members of a document's nodes and edges that a picture shows.
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

// Graph returns the graph of a document. The start node is first. It omits nodes without an id, and nodes and edges that cannot be parsed,
// because the compiler reports them.
func Graph(d graph.Document) chart.Graph {
	g := chart.Graph{ID: "pathway", Title: "Pathway"}
	for _, raw := range d.Nodes {
		var n node
		if json.Unmarshal(raw, &n) != nil || n.ID == "" {
			continue
		}
		shown := chart.Node{ID: n.ID, Label: n.Data.Name, Kind: n.Type}
		if n.Data.Start { // so that it is in the first layer
			g.Nodes = slices.Insert(g.Nodes, 0, shown)
		} else {
			g.Nodes = append(g.Nodes, shown)
		}
	}
	for _, raw := range d.Edges {
		var e edge
		if json.Unmarshal(raw, &e) == nil {
			g.Edges = append(g.Edges, chart.Edge{From: e.Source, To: e.Target, Label: e.Data.Label})
		}
	}
	return g
}

// Picture is a drawn graph with its links for zooming and panning, for the template "drawing".
type Picture struct {
	SVG   template.HTML // empty if there are no nodes
	Views []View
}

// View is a link to another view of a picture.
type View struct{ Name, Query string }

// Draw draws the part of a graph that the query parameter "view" selects. at is the path of the page to which the links lead. If at is
// empty, they lead to the current page.
func Draw(r *page.Request, g chart.Graph, at string) Picture {
	if len(g.Nodes) == 0 {
		return Picture{}
	}
	g.View, _ = chart.ParseViewBox(r.Query("view")) // an invalid view selects the default view
	svg, to := g.Draw()
	p := Picture{SVG: svg}
	for _, v := range []struct {
		name string
		box  chart.ViewBox
	}{{"Whole", to.Whole}, {"Zoom in", to.In}, {"Zoom out", to.Out}, {"Left", to.Left}, {"Right", to.Right}, {"Up", to.Up}, {"Down", to.Down}} {
		p.Views = append(p.Views, View{v.name, at + r.With("view", v.box.String()) + "#drawing"})
	}
	return p
}
