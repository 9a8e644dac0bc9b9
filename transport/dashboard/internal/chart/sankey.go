package chart

import (
	"cmp"
	"fmt"
	"html/template"
	"slices"
)

const (
	maxStages = 60
	maxFlows  = 120

	stageWidth, stageGap = 10.0, 26.0
)

// Stage is a stage of a Sankey diagram, drawn as a bar whose height is proportional to the flow through it.
type Stage struct {
	ID    string
	Label string
}

// Flow is a flow between two stages, drawn as a band whose width is proportional to its weight.
type Flow struct {
	From, To string // ids of stages; flows with unknown or equal ids are omitted
	Weight   float64
}

// Sankey is a Sankey diagram of the flow between stages, which are in columns from left to right. It shows up to 60 stages and the first
// 120 flows with a positive weight. Flows that close a cycle lead to the left, as their titles say.
type Sankey struct {
	ID, Title string
	Unit      string  // such as "calls"; may be empty
	Stages    []Stage // of several stages with the same id, only the first is shown
	Flows     []Flow
}

// river is a Sankey diagram with its layout. Its layers are columns; the x of vertices is unused.
type river struct {
	layers
	stages        []Stage
	flows         []Flow
	ins, outs     []float64 // weights into and out of each vertex
	tops          []float64
	scale, height float64
}

// SVG returns the diagram.
func (s Sankey) SVG() template.HTML {
	const column = 150.0
	p := newPen(s.ID)
	r := s.layOut()
	if len(r.flows) == 0 {
		return p.none("sankey", s.Title, "No data yet.", 80)
	}
	step := max(column, width/float64(len(r.rows)))
	x := func(v int) float64 { return 6 + step*float64(r.vertices[v].layer) }
	var labels placer
	for v, stage := range r.stages {
		labels.reserve(rect{x(v), r.tops[v], stageWidth + 8 + units(cut(clean(cmp.Or(stage.Label, stage.ID)), step-stageWidth-14)), stageGap})
	}
	items := r.draw(p, s.Unit, x, &labels)
	for v, stage := range r.stages {
		name := clean(cmp.Or(stage.Label, stage.ID))
		tag := p.begin("", "", name+", "+withUnit(max(r.ins[v], r.outs[v]), s.Unit))
		p.shape("rect", "stage", "x", x(v), "y", r.tops[v], "width", stageWidth, "height", r.size(v))
		p.text(x(v)+stageWidth+4, r.tops[v]+13, "label halo", cut(name, step-stageWidth-14), step)
		p.end(tag)
	}
	said := append([]string{fmt.Sprintf("%s and %s.", counted(len(r.stages), "stage"), counted(len(r.flows), "flow"))}, list(items)...)
	said = leftOut(said, "stage", distinct(s.Stages, func(s Stage) string { return s.ID }), len(r.stages))
	return p.svg("sankey", s.Title, ViewBox{W: step * float64(len(r.rows)), H: r.height}, leftOut(said, "flow", len(s.Flows), len(r.flows)))
}

func (s Sankey) layOut() *river {
	const room = 240.0
	r := &river{}
	index := map[string]int{}
	for _, stage := range s.Stages {
		if _, twice := index[stage.ID]; !twice && len(r.stages) < maxStages {
			index[stage.ID] = len(r.stages)
			r.stages = append(r.stages, stage)
		}
	}
	var pairs [][2]int
	for _, f := range s.Flows {
		from, ok := index[f.From]
		to, known := index[f.To]
		if ok && known && from != to && weight(f.Weight) > 0 && len(pairs) < maxFlows {
			pairs, r.flows = append(pairs, [2]int{from, to}), append(r.flows, f)
		}
	}
	r.layers = layOut(len(r.stages), pairs, stageWidth)
	r.ins, r.outs, r.tops = make([]float64, len(r.vertices)), make([]float64, len(r.vertices)), make([]float64, len(r.vertices))
	for i, c := range r.chains {
		for j := 1; j < len(c); j++ {
			r.outs[c[j-1]] += weight(r.flows[i].Weight)
			r.ins[c[j]] += weight(r.flows[i].Weight)
		}
	}
	most := 1e-9
	for _, row := range r.rows {
		sum := 0.0
		for _, v := range row {
			sum += max(r.ins[v], r.outs[v])
		}
		most = max(most, sum)
	}
	r.scale = room / most
	for _, row := range r.rows {
		y := 4.0
		for _, v := range row {
			r.tops[v] = y
			y += r.size(v) + stageGap
		}
		r.height = max(r.height, y)
	}
	return r
}

// size returns the height of a vertex, at least 2.
func (r *river) size(v int) float64 { return max(2, max(r.ins[v], r.outs[v])*r.scale) }

// draw draws the bands, and returns their descriptions. The bands at each vertex are ordered by the vertical positions of their other ends,
// so that few of them cross.
func (r *river) draw(p *pen, unit string, x func(v int) float64, labels *placer) (items []string) {
	type piece struct{ flow, from, to int }
	var pieces []piece
	for i, c := range r.chains {
		for j := 1; j < len(c); j++ {
			pieces = append(pieces, piece{i, c[j-1], c[j]})
		}
	}
	left, right := make([]float64, len(pieces)), make([]float64, len(pieces))
	order := make([]int, len(pieces))
	for i := range order {
		order[i] = i
	}
	used := make([]float64, len(r.vertices))
	slices.SortStableFunc(order, func(a, b int) int { return cmp.Compare(r.tops[pieces[a].to], r.tops[pieces[b].to]) })
	for _, i := range order {
		left[i] = r.tops[pieces[i].from] + used[pieces[i].from]
		used[pieces[i].from] += weight(r.flows[pieces[i].flow].Weight) * r.scale
	}
	clear(used)
	slices.SortStableFunc(order, func(a, b int) int { return cmp.Compare(left[a], left[b]) })
	for _, i := range order {
		right[i] = r.tops[pieces[i].to] + used[pieces[i].to]
		used[pieces[i].to] += weight(r.flows[pieces[i].flow].Weight) * r.scale
	}
	names := map[string]string{}
	for _, s := range r.stages {
		names[s.ID] = clean(cmp.Or(s.Label, s.ID))
	}
	for i, piece := range pieces {
		f := r.flows[piece.flow]
		title := fmt.Sprintf("%s to %s: %s", cut(names[f.From], 300), cut(names[f.To], 300), withUnit(weight(f.Weight), unit))
		if r.back[piece.flow] {
			title += ", back"
		}
		if r.chains[piece.flow][0] == piece.from {
			items = append(items, clean(title)+".")
		}
		x0, x1, h := x(piece.from), x(piece.to), max(1, weight(f.Weight)*r.scale)
		if piece.from < len(r.stages) {
			x0 += stageWidth
		}
		middle := (x0 + x1) / 2
		var d path
		d.add("M", x0, left[i]).add("C", middle, left[i], middle, right[i], x1, right[i]).add("v", h).
			add("C", middle, right[i]+h, middle, left[i]+h, x0, left[i]+h).add("Z")
		tag := p.begin("", "", title)
		p.shape("path", "flow "+colour(piece.flow), "d", d.String())
		text := cut(figure(weight(f.Weight)), (x1-x0)*0.8)
		w, y := units(text), (left[i]+right[i]+h)/2
		if r.chains[piece.flow][0] == piece.from && labels.reserve(rect{middle - w/2, y - 8, w, 16}) {
			p.text(middle, y+4, "label small halo mid", text, width)
		}
		p.end(tag)
	}
	return items
}
