package chart

import (
	"fmt"
	"html/template"
	"math"
	"slices"
	"strings"
	"time"
)

const (
	maxInput  = 100_000 // maximum points of a series that are read
	maxPoints = 240     // maximum points of a series that are drawn
	maxMarks  = 48      // maximum points of a series with a marker on each
)

// Point is a value at a time. If the value is NaN, the line has a gap.
type Point struct {
	At    time.Time
	Value float64
}

// Series is a named line of points.
type Series struct {
	Name   string
	Points []Point // in any order
}

// Lines is a line chart over time. It shows up to 6 series of 100,000 points each. If a series has more than 240 points, only the minimum
// and the maximum of each group of adjacent points are drawn.
type Lines struct {
	ID, Title string
	Unit      string // such as "ms"; may be empty
	Series    []Series
}

// dot is a point with its time in seconds since 1970. Its value is finite or NaN.
type dot struct{ at, value float64 }

// dots returns the points of a series, sorted by time and thinned to maxPoints.
func dots(points []Point) []dot {
	all := make([]dot, 0, min(len(points), maxInput))
	for _, p := range head(points, maxInput) {
		all = append(all, dot{seconds(p.At), finite(p.Value)})
	}
	slices.SortStableFunc(all, func(a, b dot) int {
		switch {
		case a.at < b.at:
			return -1
		case a.at > b.at:
			return 1
		}
		return 0
	})
	return thin(all, maxPoints)
}

// thin limits the number of dots. If there are too many, it reduces each group of adjacent dots to its minimum and its maximum, in their
// order. A group without values becomes a gap.
func thin(all []dot, most int) []dot {
	if len(all) <= most {
		return all
	}
	var kept []dot
	groups := most / 2
	for g := range groups {
		group := all[g*len(all)/groups : (g+1)*len(all)/groups]
		least, greatest := -1, -1
		for i, d := range group {
			if math.IsNaN(d.value) {
				continue
			}
			if least < 0 || d.value < group[least].value {
				least = i
			}
			if greatest < 0 || d.value > group[greatest].value {
				greatest = i
			}
		}
		switch {
		case least < 0:
			kept = append(kept, group[0])
		case least == greatest:
			kept = append(kept, group[least])
		default:
			kept = append(kept, group[min(least, greatest)], group[max(least, greatest)])
		}
	}
	return kept
}

// SVG returns the chart.
func (l Lines) SVG() template.HTML {
	p := newPen(l.ID)
	a := plot{x0: 48, x1: width - 14, top: 26, bottom: 186, from: math.Inf(1), to: math.Inf(-1)}
	var all [][]dot
	lo, hi, whole := 0.0, 0.0, true
	for _, s := range head(l.Series, colours) {
		series := dots(s.Points)
		all = append(all, series)
		for _, d := range series {
			if !math.IsNaN(d.value) {
				a.from, a.to = min(a.from, d.at), max(a.to, d.at)
				lo, hi = min(lo, d.value), max(hi, d.value)
				whole = whole && d.value == math.Trunc(d.value)
			}
		}
	}
	if a.from > a.to {
		return p.none("lines", l.Title, "No data yet.", 120)
	}
	a.values = ticks(lo, hi, whole)
	a.axes(p, l.Unit)
	var said, names []string
	for i, series := range all {
		name := seriesName(l.Series[i].Name, i)
		names = append(names, name)
		said = append(said, describe(name, l.Unit, series))
		drawLine(p, a, i, name, l.Unit, series)
	}
	bottom := a.bottom + 26
	if len(names) > 1 || l.Series[0].Name != "" {
		bottom = legend(p, bottom, names, func(i int, x, y float64) {
			p.shape("line", "line "+colour(i), "x1", x, "y1", y, "x2", x+24, "y2", y)
			p.mark(i, "mark "+colour(i), x+12, y, 3.5)
		})
	}
	said = leftOut(said, "line", len(l.Series), colours)
	return p.svg("lines", l.Title, ViewBox{W: width, H: bottom}, said)
}

func seriesName(name string, i int) string {
	if name = clean(name); name == "" {
		name = fmt.Sprintf("Series %d", i+1)
	}
	return name
}

// drawLine draws a series. A point with gaps on both sides has a marker, and so does every point of a series of up to maxMarks points.
func drawLine(p *pen, a plot, i int, name, unit string, series []dot) {
	var d path
	var marks []dot
	gap := func(j int) bool { return j < 0 || j >= len(series) || math.IsNaN(series[j].value) }
	for j, s := range series {
		if gap(j) {
			continue
		}
		if gap(j - 1) {
			d.add("M", a.x(s.at), a.y(s.value))
		} else {
			d.add("L", a.x(s.at), a.y(s.value))
		}
		if len(series) <= maxMarks || gap(j-1) && gap(j+1) {
			marks = append(marks, s)
		}
	}
	if d.n == 0 {
		return
	}
	p.shape("path", "line "+colour(i), "d", d.String())
	for _, s := range marks {
		tag := p.begin("", "", fmt.Sprintf("%s: %s, %s", name, withUnit(s.value, unit), stamp(s.at)))
		p.mark(i, "mark "+colour(i), a.x(s.at), a.y(s.value), 3)
		p.end(tag)
	}
}

func withUnit(v float64, unit string) string {
	switch unit = clean(unit); {
	case unit == "" || unit == percent:
		return figure(v) + unit
	case v == 1 && len(unit) > len("ms"):
		unit = strings.TrimSuffix(unit, "s") // such as "1 call"
	}
	return figure(v) + " " + unit
}

// describe returns a sentence with the range and the last value of a series.
func describe(name, unit string, series []dot) string {
	n, lo, hi, last := 0, math.Inf(1), math.Inf(-1), dot{}
	for _, d := range series {
		if !math.IsNaN(d.value) {
			n++
			lo, hi, last = min(lo, d.value), max(hi, d.value), d
		}
	}
	if n == 0 {
		return name + ": no data."
	}
	return fmt.Sprintf("%s: from %s to %s, last %s at %s.", name, figure(lo), withUnit(hi, unit), withUnit(last.value, unit), stamp(last.at))
}

// legend draws the names of the series below y, two per line, each with a sample. It returns the y below the legend.
func legend(p *pen, y float64, names []string, sample func(i int, x, y float64)) float64 {
	for i, name := range names {
		x, row := 10+float64(i%2)*width/2, y+float64(i/2)*(lineUnits+4)
		sample(i, x, row+8)
		p.text(x+32, row+13, "label small", name, width/2-44)
	}
	return y + float64((len(names)+1)/2)*(lineUnits+4) + 2
}
