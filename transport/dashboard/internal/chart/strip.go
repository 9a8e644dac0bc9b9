package chart

import (
	"fmt"
	"html/template"
	"math"
	"slices"
	"time"
)

const maxCells = 120

// State is the state of a cell or an event.
type State string

// The values of State. Any other value counts as Unknown.
const (
	Unknown State = "unknown"
	Good    State = "good"
	Warn    State = "warn"
	Bad     State = "bad"
)

// states is ordered by precedence. If several cells share a position, the one of their states that is last in this list is shown. Unknown
// is first, so that it never hides a known state.
var states = []State{Unknown, Good, Warn, Bad}

// rank returns the index of a state in states. Any other state has the rank of Unknown.
func (s State) rank() int {
	for i, known := range states {
		if s == known {
			return i
		}
	}
	return 0
}

// Cell is a slot of time with its state.
type Cell struct {
	State State
	Note  string // such as "99.2% of 144 probes"; may be empty
}

// Strip shows a state over time as a row of cells. Good cells are plain, Warn cells have a stroke, Bad cells have a cross, and Unknown
// cells are hollow. It shows up to 100,000 cells. If there are more than 120, adjacent cells are merged: a merged cell shows the worst
// state, and its height is the known share of its cells.
type Strip struct {
	ID, Title string
	Start     time.Time     // beginning of the first cell
	Step      time.Duration // duration of a cell; if not positive, an hour
	Cells     []Cell
}

// SVG returns the strip with a legend of the states.
func (s Strip) SVG() template.HTML {
	p := newPen(s.ID)
	cells := head(s.Cells, maxInput)
	if len(cells) == 0 {
		return p.none("strip", s.Title, "No data yet.", 60)
	}
	if s.Step <= 0 {
		s.Step = time.Hour
	}
	group := (len(cells) + maxCells - 1) / maxCells
	n := (len(cells) + group - 1) / group
	step := s.Step.Seconds() * float64(group)
	a := plot{x0: 4, x1: width - 4, top: 4, bottom: 40, from: seconds(s.Start)}
	a.to = a.from + step*float64(n)
	w := (a.x1 - a.x0) / float64(n)
	counts, partly := make([]int, len(states)), 0
	for i := range n {
		cell, merged, known := cells[i*group], cells[i*group:min(len(cells), (i+1)*group)], 0
		for _, c := range merged {
			known += min(1, c.State.rank())
			if c.State.rank() > cell.State.rank() {
				cell = c
			}
		}
		counts[cell.State.rank()]++
		title := fmt.Sprintf("%s: %s", stamp(a.from+step*float64(i)), states[cell.State.rank()])
		if cell.Note != "" {
			title += ", " + cell.Note
		}
		x, wide, h := a.x0+w*float64(i), w-min(1.5, w*0.25), a.bottom-a.top
		if known > 0 && known < len(merged) {
			partly++
			title += fmt.Sprintf(", %d of %d unknown", len(merged)-known, len(merged))
		}
		tag := p.begin("", "", title)
		if known > 0 && known < len(merged) {
			p.cell(Unknown, x, a.top, wide, h)
			h *= float64(known) / float64(len(merged))
		}
		p.cell(cell.State, x, a.bottom-h, wide, h)
		p.end(tag)
	}
	a.times(p, a.bottom, false)
	said := []string{fmt.Sprintf("%s of %s, from %s.", counted(n, "cell"), inWords(time.Duration(step*float64(time.Second))), stamp(a.from))}
	x := a.x0
	for i, state := range slices.Backward(states) {
		if counts[i] > 0 {
			text := fmt.Sprintf("%s %d", state, counts[i])
			p.cell(state, x, a.bottom+28, 14, 14)
			p.text(x+20, a.bottom+40, "label small", text, width)
			x += 36 + units(text)
			said = append(said, text+".")
		}
	}
	if partly > 0 {
		text := fmt.Sprintf("partly unknown %d", partly)
		p.cell(Unknown, x, a.bottom+28, 14, 14)
		p.text(x+20, a.bottom+40, "label small", text, width)
		said = append(said, text+".")
	}
	return p.svg("strip", s.Title, ViewBox{W: width, H: a.bottom + 50}, said)
}

// cell draws a cell with the mark of its state.
func (p *pen) cell(s State, x, y, w, h float64) {
	known := states[s.rank()]
	p.shape("rect", "cell "+string(known), "x", x, "y", y, "width", w, "height", h)
	var d path
	half := math.Min(w, h) / 2
	cx, cy := x+w/2, y+h/2
	switch known {
	case Warn:
		d.add("M", cx-half, cy+half).add("L", cx+half, cy-half)
	case Bad:
		d.add("M", cx-half, cy-half).add("L", cx+half, cy+half).add("M", cx-half, cy+half).add("L", cx+half, cy-half)
	default:
		return
	}
	p.shape("path", "cut", "d", d.String())
}
