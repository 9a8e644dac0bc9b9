package chart

import (
	"cmp"
	"fmt"
	"html/template"
	"math"
	"slices"
	"strings"
)

const (
	maxNodes = 400
	maxEdges = 800
	shades   = 5 // number of the classes s1 to s5

	nodeWidth, nodeHeight = 172.0, 62.0
	layerGap              = 84.0 // room between layers for arrows and their labels
	graphMargin           = 34.0 // room for arrows from a node to itself

	far                   = 4000.0 // a view this wide or high has no texts, because they would be too small
	nearWidth, nearHeight = 1800.0, 1300.0
)

// Node is a node of a Graph, drawn as a box.
type Node struct {
	ID       string
	Label    string
	Kind     string  // small text above the label
	Note     string  // replaces Kind above the label, for example with numbers
	Shade    float64 // darkness of the box from 0 to 1; Note should explain it
	Selected bool    // drawn with a thick frame
	Href     string  // link of the box; may be empty
}

// Edge is an edge of a Graph, drawn as an arrow.
type Edge struct {
	From, To string // ids of nodes; edges with unknown ids are omitted
	Label    string
}

// Graph is a directed graph, drawn in layers from top to bottom. It shows up to 400 nodes and 800 edges. Edges that close a cycle lead
// upwards and are dotted. The first node should be the beginning; it is in the first layer.
type Graph struct {
	ID, Title string
	Nodes     []Node // of several nodes with the same id, only the first is shown
	Edges     []Edge
	View      ViewBox // the shown part; if zero, the whole, or the part around the first node if the whole is too large to read
}

// Draw returns the part of the graph in the view, and the views to which links for zooming and panning lead. A view that is 4,000 units
// wide or high, or more, shows boxes without texts and straight lines.
func (g Graph) Draw() (template.HTML, Views) {
	d := g.layOut()
	view := d.view(g.View)
	return g.svg(d, view), views(d.whole(), view)
}

// drawing is a graph with the positions of its nodes and edges.
type drawing struct {
	layers
	nodes []Node
	edges []Edge
	pairs [][2]int     // node indexes of each edge
	names []string     // names of the nodes, cut to 300 units
	far   bool         // without texts: see Graph.Draw
	ports [][2]float64 // x of each edge at its upper and at its lower node
}

func (g Graph) layOut() *drawing {
	d := &drawing{}
	index := map[string]int{}
	for _, n := range g.Nodes {
		if _, twice := index[n.ID]; !twice && len(d.nodes) < maxNodes {
			index[n.ID] = len(d.nodes)
			d.nodes = append(d.nodes, n)
		}
	}
	for _, e := range g.Edges {
		from, ok := index[e.From]
		to, known := index[e.To]
		if ok && known && len(d.pairs) < maxEdges {
			d.pairs = append(d.pairs, [2]int{from, to})
			d.edges = append(d.edges, e)
		}
	}
	d.names = make([]string, len(d.nodes))
	for v, n := range d.nodes {
		const room = 300
		d.names[v] = cut(clean(cmp.Or(n.Label, n.ID)), room)
	}
	d.layers = layOut(len(d.nodes), d.pairs, nodeWidth)
	d.connect()
	return d
}

// weight returns a weight that can be drawn. It returns 0 for negative and invalid weights.
func weight(v float64) float64 {
	if v = finite(v); !math.IsNaN(v) {
		return max(0, v)
	}
	return 0
}

// connect distributes the ends of edges over the sides of their nodes, ordered by the positions of the edges' other ends.
func (d *drawing) connect() {
	const apart = 18.0
	type end struct {
		edge, lower int
		to          float64
	}
	d.ports = make([][2]float64, len(d.edges))
	sides := make([][2][]end, len(d.nodes)) // edges below and above each node
	for i, c := range d.chains {
		if len(c) > 1 {
			upper, lower := c[0], c[len(c)-1]
			sides[upper][0] = append(sides[upper][0], end{i, 0, d.vertices[c[1]].x})
			sides[lower][1] = append(sides[lower][1], end{i, 1, d.vertices[c[len(c)-2]].x})
		}
	}
	for v, both := range sides {
		for _, ends := range both {
			slices.SortStableFunc(ends, func(a, b end) int { return cmp.Compare(a.to, b.to) })
			step := min(apart, nodeWidth*0.85/float64(max(1, len(ends)-1)))
			for i, e := range ends {
				d.ports[e.edge][e.lower] = d.vertices[v].x + step*(float64(i)-float64(len(ends)-1)/2)
			}
		}
	}
}

func (d *drawing) top(v int) float64 { return float64(d.vertices[v].layer) * (nodeHeight + layerGap) }

func (d *drawing) box(v int) rect {
	return rect{d.vertices[v].x - nodeWidth/2, d.top(v), nodeWidth, nodeHeight}
}

// whole returns the view of the whole graph. It is at least as wide as other pictures.
func (d *drawing) whole() ViewBox {
	w, h := 0.0, 0.0
	for i, v := range d.vertices {
		w, h = max(w, v.x+v.w/2), max(h, d.top(i)+nodeHeight)
	}
	x := -graphMargin
	if w += 2 * graphMargin; w < width {
		x, w = x-(width-w)/2, width
	}
	return ViewBox{x, -graphMargin / 2, w, h + graphMargin}
}

// view returns the requested view, or the default view if the requested view is empty or invalid.
func (d *drawing) view(asked ViewBox) ViewBox {
	if asked.shows() {
		return asked
	}
	whole := d.whole()
	if !whole.isFar() || len(d.nodes) == 0 {
		return whole
	}
	w, h := min(whole.W, nearWidth), min(whole.H, nearHeight)
	first := d.box(0)
	x := max(whole.X, min(whole.X+whole.W-w, first.x+(first.w-w)/2))
	return ViewBox{x, whole.Y, w, h}
}

func (g Graph) svg(d *drawing, view ViewBox) template.HTML {
	p := newPen(g.ID)
	if len(g.Nodes) == 0 {
		return p.none("graph", g.Title, "No nodes yet.", 80)
	}
	d.far = view.isFar()
	p.b.Grow(200 * (len(d.nodes) + len(d.edges)))
	back := 0
	labels := make([]placer, len(d.rows))
	for i := range d.edges {
		if d.back[i] {
			back++
		}
		d.edge(p, i, view, labels)
	}
	for v := range d.nodes {
		if view.meets(d.box(v)) {
			d.node(p, v)
		}
	}
	said := append([]string{fmt.Sprintf("%s in %s and %s, %d backwards.",
		counted(len(d.nodes), "node"), counted(len(d.rows), "layer"), counted(len(d.edges), "edge"), back)},
		list(d.sentences())...)
	said = leftOut(said, "node", distinct(g.Nodes, func(n Node) string { return n.ID }), len(d.nodes))
	return p.svg("graph", g.Title, view, leftOut(said, "edge", len(g.Edges), len(d.edges)))
}

// sentences returns a sentence for each node. The sentence names the targets of the node's edges.
func (d *drawing) sentences() []string {
	next := make([][]string, len(d.nodes))
	for _, pair := range d.pairs {
		next[pair[0]] = append(next[pair[0]], d.names[pair[1]])
	}
	all := make([]string, 0, len(d.nodes))
	for v, to := range next {
		text := d.title(v)
		if len(to) > 0 {
			text += ", to " + strings.Join(list(to), ", ")
		}
		all = append(all, clean(text)+".")
	}
	return all
}

func (d *drawing) title(v int) string {
	n := d.nodes[v]
	text := clean(cmp.Or(n.Label, n.ID))
	if kind := clean(n.Kind); kind != "" {
		text += " (" + kind + ")"
	}
	if note := clean(n.Note); note != "" {
		text += ", " + note
	}
	if n.Selected {
		text += ", selected"
	}
	return text
}

// node draws the box of node v with its kind or note, up to two lines of its label, and its shade. If d.far is set, it draws only the box
// and the shade.
func (d *drawing) node(p *pen, v int) {
	const room = nodeWidth - 20
	n, b := d.nodes[v], d.box(v)
	class := "box"
	if n.Selected {
		class += " selected"
	}
	x := b.x + b.w/2
	tag := p.begin(n.Href, "", d.title(v))
	p.shape("rect", class, "x", b.x, "y", b.y, "width", b.w, "height", b.h, "rx", 6.0)
	if s := min(1, weight(n.Shade)); s > 0 {
		p.shape("rect", fmt.Sprintf("shade s%.0f", math.Ceil(shades*s)), "x", b.x, "y", b.y, "width", b.w, "height", b.h, "rx", 6.0)
	}
	if d.far {
		p.end(tag)
		return
	}
	one, two := halves(clean(cmp.Or(n.Label, n.ID)), room)
	y := b.y + 42
	if two != "" {
		y = b.y + 33
		p.text(x, y+lineUnits, "label mid", two, room)
	}
	if note := clean(n.Note); note != "" {
		p.text(x, b.y+16, "label small head mid", cut(note, room), room)
	} else {
		p.text(x, b.y+16, "axis small mid", cut(clean(n.Kind), room), room)
	}
	p.text(x, y, "label mid", one, room)
	p.end(tag)
}

// halves splits a text that is wider than room into two lines at a space, and cuts the second line to fit. If the text has no suitable
// space, halves cuts the first line, and the second line is empty.
func halves(text string, room float64) (one, two string) {
	if units(text) <= room {
		return text, ""
	}
	at := 0
	for i, c := range text {
		if c == ' ' {
			if units(text[:i]) > room {
				break
			}
			at = i
		}
	}
	if at == 0 {
		return cut(text, room), ""
	}
	return text[:at], cut(text[at+1:], room)
}
