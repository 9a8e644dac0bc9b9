package chart

import (
	"cmp"
	"math"
	"slices"
)

const (
	perLayer  = 20   // maximum nodes of a layer, so that a picture is not one long row
	maxJoints = 4000 // maximum bends of all edges together
	sweeps    = 12   // maximum passes over the layers to reorder them
	nodeGap   = 28.0
)

// vertex is a node of a graph, or a joint, which is a bend at which an edge crosses a layer. A joint has no width.
type vertex struct {
	layer, place int
	x, w         float64 // center and width
	up, down     []int
}

// layers is a graph with a layout from top to bottom, by the method of Sugiyama. It breaks cycles, assigns nodes to layers, and adds joints
// where edges cross layers. Then it orders the layers for few crossings, and moves vertices towards their neighbors.
type layers struct {
	vertices []vertex
	rows     [][]int
	chains   [][]int // vertices of each edge from top to bottom; only one for an edge from a node to itself
	back     []bool  // edges that lead upwards
}

// layOut returns the layout of n nodes and of edges between their indexes. All nodes have the same width.
func layOut(n int, edges [][2]int, nodeWidth float64) layers {
	first, last := depthFirst(n, edges)
	l := layers{vertices: make([]vertex, n), back: make([]bool, len(edges))}
	ends := make([][2]int, len(edges)) // upper node first
	below := make([][]int, n)
	for i, e := range edges {
		if l.back[i] = last[e[1]] > last[e[0]]; l.back[i] {
			e[0], e[1] = e[1], e[0]
		}
		if ends[i] = e; e[0] != e[1] {
			below[e[0]] = append(below[e[0]], e[1])
		}
	}
	order := make([]int, n)
	for v := range order {
		order[v], l.vertices[v].w = v, nodeWidth
	}
	slices.SortFunc(order, func(a, b int) int { return cmp.Compare(last[b], last[a]) })
	for _, v := range order {
		at := l.vertices[v].layer
		for at < len(l.rows) && len(l.rows[at]) >= perLayer {
			at++
		}
		for at >= len(l.rows) {
			l.rows = append(l.rows, nil)
		}
		l.vertices[v].layer, l.rows[at] = at, append(l.rows[at], v)
		for _, w := range below[v] {
			l.vertices[w].layer = max(l.vertices[w].layer, at+1)
		}
	}
	for _, row := range l.rows {
		slices.SortFunc(row, func(a, b int) int { return cmp.Compare(first[a], first[b]) })
	}
	l.join(ends)
	l.order()
	l.place()
	return l
}

// depthFirst traverses the nodes in depth-first order, starting with the first node, and returns when each node was entered and left. An
// edge closes a cycle if its target is left later than its source.
func depthFirst(n int, edges [][2]int) (first, last []int) {
	next := make([][]int, n)
	for _, e := range edges {
		next[e[0]] = append(next[e[0]], e[1])
	}
	first, last = make([]int, n), make([]int, n)
	turn := 0
	var visit func(v int)
	visit = func(v int) {
		turn++
		first[v] = turn
		for _, w := range next[v] {
			if first[w] == 0 {
				visit(w)
			}
		}
		turn++
		last[v] = turn
	}
	for v := range n {
		if first[v] == 0 {
			visit(v)
		}
	}
	return first, last
}

// join makes the chains of the edges. Beyond maxJoints, edges get no further joints and are straight.
func (l *layers) join(ends [][2]int) {
	nodes := len(l.vertices)
	joints := l.joints(ends)
	l.vertices = slices.Grow(l.vertices, joints)
	ways := make([]int, 2*joints) // room for one neighbor above and one below each joint
	l.chains = make([][]int, len(ends))
	for i, e := range ends {
		from, to := l.vertices[e[0]].layer, l.vertices[e[1]].layer
		chain := append(make([]int, 0, max(1, to-from+1)), e[0])
		if e[0] != e[1] {
			for at := from + 1; at < to && len(l.vertices)-nodes+to-at <= maxJoints; at++ {
				chain = append(chain, len(l.vertices))
				l.rows[at] = append(l.rows[at], len(l.vertices))
				l.vertices = append(l.vertices, vertex{layer: at, up: ways[:0:1], down: ways[1:1:2]})
				ways = ways[2:]
			}
			chain = append(chain, e[1])
		}
		for j := 1; j < len(chain); j++ {
			a, b := &l.vertices[chain[j-1]], &l.vertices[chain[j]]
			if a.layer+1 == b.layer {
				a.down, b.up = append(a.down, chain[j]), append(b.up, chain[j-1])
			}
		}
		l.chains[i] = chain
	}
	l.number()
}

// joints returns the number of joints that the edges need, at most maxJoints.
func (l *layers) joints(ends [][2]int) int {
	n := 0
	for _, e := range ends {
		n += max(0, l.vertices[e[1]].layer-l.vertices[e[0]].layer-1)
	}
	return min(n, maxJoints)
}

// number sets the place of each vertex in its row.
func (l *layers) number() {
	for _, row := range l.rows {
		for place, v := range row {
			l.vertices[v].place = place
		}
	}
}

// order sorts the rows by the mean places of neighbors, alternately downwards and upwards, and keeps the order with the fewest crossings.
func (l *layers) order() {
	best, least := make([][]int, len(l.rows)), math.MaxInt
	sums := make([]int, l.widest()+1)
	keep := func() {
		if n := l.crossings(sums); n < least {
			least = n
			for i, row := range l.rows {
				best[i] = append(best[i][:0], row...)
			}
		}
	}
	keep()
	sorted := make([]placed, 0, l.widest())
	for sweep := 0; sweep < sweeps && least > 0; sweep++ {
		for i := range l.rows {
			row := l.rows[i]
			if sweep%2 == 1 {
				row = l.rows[len(l.rows)-1-i]
			}
			sorted = sorted[:0]
			for place, v := range row {
				near := l.vertices[v].up
				if sweep%2 == 1 {
					near = l.vertices[v].down
				}
				sorted = append(sorted, placed{l.meanPlace(near, place), place, v})
			}
			slices.SortFunc(sorted, placed.compare)
			for place, at := range sorted {
				row[place], l.vertices[at.vertex].place = at.vertex, place
			}
		}
		keep()
	}
	l.rows = best
	l.number()
}

// placed is a vertex of a row with its place and the mean place of its neighbors.
type placed struct {
	mean          float64
	place, vertex int
}

// compare orders vertices by the mean places of their neighbors. Vertices with equal means keep their order.
func (p placed) compare(q placed) int {
	switch {
	case p.mean < q.mean:
		return -1
	case p.mean > q.mean:
		return 1
	}
	return p.place - q.place
}

// meanPlace returns the mean place of the vertices in near. If near is empty, it returns place.
func (l *layers) meanPlace(near []int, place int) float64 {
	if len(near) == 0 {
		return float64(place)
	}
	sum := 0
	for _, v := range near {
		sum += l.vertices[v].place
	}
	return float64(sum) / float64(len(near))
}

// widest returns the number of vertices in the longest row.
func (l *layers) widest() int {
	most := 0
	for _, row := range l.rows {
		most = max(most, len(row))
	}
	return most
}

// crossings returns the number of pairs of edges that cross between adjacent rows. room must be one longer than the longest row.
func (l *layers) crossings(room []int) int {
	n := 0
	for i := 1; i < len(l.rows); i++ {
		sums := room[:len(l.rows[i])+1] // a Fenwick tree over the places in the lower row
		clear(sums)
		seen := 0
		for _, v := range l.rows[i-1] {
			for _, w := range l.vertices[v].down {
				n += seen
				for at := l.vertices[w].place + 1; at > 0; at &= at - 1 {
					n -= sums[at]
				}
			}
			for _, w := range l.vertices[v].down {
				seen++
				for at := l.vertices[w].place + 1; at < len(sums); at += at & -at {
					sums[at]++
				}
			}
		}
	}
	return n
}

// place moves the vertices of each row towards their neighbors, without changing the order of the row.
func (l *layers) place() {
	const passes = 10
	most := l.widest()
	wants, weights := make([]float64, most), make([]float64, most)
	s := spreader{make([]float64, most), make([]run, 0, most)}
	for pass := range passes {
		for i := range l.rows {
			row := l.rows[i]
			if pass%2 == 1 {
				row = l.rows[len(l.rows)-1-i]
			}
			for j, v := range row {
				up, down := l.vertices[v].up, l.vertices[v].down
				switch {
				case pass == passes-1:
				case pass%2 == 1:
					up = nil
				default:
					down = nil
				}
				wants[j], weights[j] = l.mean(v, up, down)
			}
			l.spread(row, wants, weights, s)
		}
	}
	least := math.Inf(1)
	for _, v := range l.vertices {
		least = min(least, v.x-v.w/2)
	}
	for i := range l.vertices {
		l.vertices[i].x -= least
	}
}

// mean returns the position to which neighbors pull a vertex, and the strength of the pull. Adjacent joints pull each other most, so that
// edges are straight. A vertex without neighbors is pulled weakly to its own position.
func (l *layers) mean(v int, up, down []int) (want, weight float64) {
	for _, near := range [][]int{up, down} {
		for _, w := range near {
			pull := 1.0
			if l.vertices[v].w == 0 && l.vertices[w].w == 0 {
				pull = 8
			}
			want += pull * l.vertices[w].x
			weight += pull
		}
	}
	if weight == 0 {
		return l.vertices[v].x, 0.1
	}
	return want / weight, weight
}

// run is a sequence of vertices in a row that move together.
type run struct {
	sum, weight float64
	n           int
}

// spreader contains buffers for spread, as long as the longest row.
type spreader struct {
	offsets []float64
	runs    []run
}

// spread moves the vertices of a row towards the positions in wants. It minimizes the weighted squares of the deviations while it keeps the
// minimum distances. Vertices that would overlap move together to their weighted mean.
func (l *layers) spread(row []int, wants, weights []float64, room spreader) {
	runs, offsets := room.runs[:0], room.offsets[:len(row)]
	clear(offsets)
	for i := range row {
		if i > 0 {
			a, b := l.vertices[row[i-1]].w, l.vertices[row[i]].w
			gap := nodeGap
			if a == 0 && b == 0 {
				gap = nodeGap / 2
			}
			offsets[i] = offsets[i-1] + (a+b)/2 + gap
		}
		r := run{(wants[i] - offsets[i]) * weights[i], weights[i], 1}
		for len(runs) > 0 {
			before := runs[len(runs)-1]
			if before.sum/before.weight < r.sum/r.weight {
				break
			}
			r = run{before.sum + r.sum, before.weight + r.weight, before.n + r.n}
			runs = runs[:len(runs)-1]
		}
		runs = append(runs, r)
	}
	i := 0
	for _, r := range runs {
		for range r.n {
			l.vertices[row[i]].x = r.sum/r.weight + offsets[i]
			i++
		}
	}
}
