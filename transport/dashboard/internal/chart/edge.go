package chart

import "math"

const tipUnits = 9.0 // length of an arrowhead

// point is a position in a picture.
type point struct{ x, y float64 }

// edge draws the arrow of edge i with its label, unless the arrow is outside the view. It reserves room for the label even then, so that
// labels have the same positions in every view. A label that does not fit is only in the arrow's title. If d.far is set, edge draws only
// the line.
func (d *drawing) edge(p *pen, i int, view ViewBox, labels []placer) {
	e, c := d.edges[i], d.chains[i]
	line, label := d.route(i), ""
	var at point
	if len(c) > 1 && !d.far {
		label = cut(clean(e.Label), nodeWidth*0.8)
		at, label = placeLabel(line, label, labels[d.vertices[c[0]].layer:])
	}
	if !view.meets(around(line)) {
		return
	}
	state := ""
	if d.back[i] {
		state += " back"
	}
	if d.far {
		p.shape("path", "edge"+state, "d", straight(line))
		return
	}
	p.open("g", "")
	p.title(d.edgeTitle(i))
	d.stroke(p, i, line, state)
	if label != "" {
		p.text(at.x, at.y+4, "label small halo mid", label, width)
	}
	p.end("g")
}

// straight returns the path data of a polyline with integer coordinates.
func straight(line []point) string {
	var d path
	command := "M"
	for _, at := range line {
		d.add(command, math.Round(at.x), math.Round(at.y))
		command = "L"
	}
	return d.String()
}

// placeLabel returns the position of a label on a line. placed is the label, or "" if it does not fit into any gap.
func placeLabel(line []point, label string, gaps []placer) (at point, placed string) {
	w := units(label)
	for j := 0; label != "" && j+1 < len(line); j += 2 {
		for _, t := range []float64{0.5, 0.25, 0.75} {
			at = between(line[j], line[j+1], t)
			if gaps[j/2].reserve(rect{at.x - w/2, at.y - 8, w, 16}) {
				return at, label
			}
		}
	}
	return at, ""
}

func (d *drawing) edgeTitle(i int) string {
	e := d.edges[i]
	text := d.names[d.pairs[i][0]] + " to " + d.names[d.pairs[i][1]]
	if label := clean(e.Label); label != "" {
		text += ": " + label
	}
	return text
}

// route returns the points of an edge from top to bottom. The edge bends within each pair of points, and is straight through each layer
// that it crosses.
func (d *drawing) route(i int) []point {
	c := d.chains[i]
	if len(c) == 1 {
		b := d.box(c[0])
		return []point{{b.x + b.w, b.y + b.h*0.3}, {b.x + b.w, b.y + b.h*0.7}}
	}
	lower := c[len(c)-1]
	line := append(make([]point, 0, 2*len(c)), point{d.ports[i][0], d.top(c[0]) + nodeHeight})
	for _, v := range c[1 : len(c)-1] {
		line = append(line, point{d.vertices[v].x, d.top(v)}, point{d.vertices[v].x, d.top(v) + nodeHeight})
	}
	return append(line, point{d.ports[i][1], d.top(lower)})
}

// between returns the point at t, from 0 to 1, of the curve from a to b.
func between(a, b point, t float64) point {
	s := t * t * (3 - 2*t)
	u := 1 - t
	return point{a.x + (b.x-a.x)*s, a.y + (b.y-a.y)*(1.5*u*t+t*t*t)}
}

// around returns the area that contains an edge and its label.
func around(line []point) rect {
	x0, x1, y0, y1 := math.Inf(1), math.Inf(-1), math.Inf(1), math.Inf(-1)
	for _, q := range line {
		x0, x1, y0, y1 = min(x0, q.x), max(x1, q.x), min(y0, q.y), max(y1, q.y)
	}
	return rect{x0 - nodeWidth/2, y0, x1 - x0 + nodeWidth, y1 - y0}
}

// stroke draws the line of an edge and its arrowhead. The arrowhead of a backward edge is at the top.
func (d *drawing) stroke(p *pen, i int, line []point, state string) {
	var curve, tip path
	start, end := line[0], line[len(line)-1]
	if len(d.chains[i]) == 1 {
		curve.add("M", start.x, start.y).add("C", start.x+30, start.y-12, end.x+30, end.y+12, end.x+tipUnits, end.y)
		tip.add("M", end.x, end.y).add("l", tipUnits, -5).add("l", 2, 9)
	} else {
		from, to := 0.0, tipUnits
		tip.add("M", end.x, end.y).add("l", -5, -tipUnits).add("h", 10)
		if d.back[i] {
			from, to = tipUnits, 0
			tip = path{}
			tip.add("M", start.x, start.y).add("l", -5, tipUnits).add("h", 10)
		}
		line[0].y += from
		line[len(line)-1].y -= to
		curve.add("M", line[0].x, line[0].y)
		for j := 0; j+1 < len(line); j += 2 {
			a, b := line[j], line[j+1]
			if j > 0 {
				curve.add("V", a.y)
			}
			curve.add("C", a.x, (a.y+b.y)/2, b.x, (a.y+b.y)/2, b.x, b.y)
		}
	}
	p.shape("path", "edge"+state, "d", curve.String())
	p.shape("path", "tip edge-tip"+state, "d", tip.add("Z").String())
}
