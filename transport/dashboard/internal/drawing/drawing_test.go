package drawing_test

import (
	"encoding/json"
	"fmt"
	"net/http/httptest"
	"strings"
	"testing"

	"github.com/callwright/callwright/agents/pathway/graph"
	"github.com/callwright/callwright/transport/dashboard/internal/chart"
	"github.com/callwright/callwright/transport/dashboard/internal/drawing"
	"github.com/callwright/callwright/transport/dashboard/internal/page"
)

func raws(texts ...string) (all []json.RawMessage) {
	for _, text := range texts {
		all = append(all, json.RawMessage(text))
	}
	return all
}

func TestGraph(t *testing.T) {
	t.Parallel()
	g := drawing.Graph(graph.Document{
		Nodes: raws(`{"id": "bye", "type": "End Call"}`, `7`, `{"id": "ask", "type": "Default", "data": {"name": "Ask", "isStart": true}}`, `{"type": "x"}`),
		Edges: raws(`{"source": "ask", "target": "bye", "data": {"label": "a day"}}`, `[]`),
	})
	want := []chart.Node{{ID: "ask", Label: "Ask", Kind: "Default"}, {ID: "bye", Kind: "End Call"}}
	if len(g.Nodes) != 2 || g.Nodes[0] != want[0] || g.Nodes[1] != want[1] || len(g.Edges) != 1 || g.Edges[0] != (chart.Edge{From: "ask", To: "bye", Label: "a day"}) {
		t.Errorf("got %+v", g)
	}
}

func TestDraw(t *testing.T) {
	t.Parallel()
	r := &page.Request{Request: httptest.NewRequestWithContext(t.Context(), "GET", "/x?days=7&view=0+0+300+200", nil)}
	if p := drawing.Draw(r, chart.Graph{}, "/x"); p.SVG != "" || p.Views != nil {
		t.Errorf("nothing is drawn as %+v", p)
	}
	g := chart.Graph{ID: "g"}
	for i := range 400 {
		g.Nodes = append(g.Nodes, chart.Node{ID: fmt.Sprint(i)})
	}
	p := drawing.Draw(r, g, "/x")
	if !strings.Contains(string(p.SVG), `viewBox="0 0 300 200"`) || len(p.Views) != 7 {
		t.Errorf("got %.300s, %v", p.SVG, p.Views)
	}
	for _, v := range p.Views {
		if !strings.HasPrefix(v.Query, "/x?days=7&view=") || !strings.HasSuffix(v.Query, "#drawing") {
			t.Errorf("%s leads to %s", v.Name, v.Query)
		}
	}
}
