package chart

import (
	"fmt"
	"html/template"
	"math"
)

// Sparkline is a line in a line of text, without axes. It shows up to 100,000 values; of more than 120, the least and greatest
// of each group of neighbours are drawn.
type Sparkline struct {
	ID, Title string
	Unit      string    // such as "ms"; empty: none
	Values    []float64 // at equal distances; NaN is a gap
}

// SVG draws the line, and its last value as a dot.
func (s Sparkline) SVG() template.HTML {
	const w, h, most = 120.0, 28.0, 120
	p := newPen(s.ID)
	all := make([]dot, 0, min(len(s.Values), maxInput))
	lo, hi, last := math.Inf(1), math.Inf(-1), -1
	for i, v := range head(s.Values, maxInput) {
		d := dot{float64(i), finite(v)}
		all = append(all, d)
		if !math.IsNaN(d.value) {
			lo, hi, last = min(lo, d.value), max(hi, d.value), i
		}
	}
	if last < 0 {
		p.text(w/2, h/2+5, "note mid small", "no data", w)
		return p.svg("spark", s.Title, ViewBox{W: w, H: h}, []string{"No data yet."})
	}
	x := func(d dot) float64 { return 5 + d.at/float64(max(1, len(all)-1))*(w-10) }
	y := func(d dot) float64 {
		if hi <= lo {
			return h / 2
		}
		return h - 5 - (d.value-lo)/(hi-lo)*(h-10)
	}
	var d path
	gap := true
	for _, v := range thin(all, most) {
		switch {
		case math.IsNaN(v.value):
			gap = true
			continue
		case gap:
			d.add("M", x(v), y(v)).add("h0.1") // a lone value is a point
		default:
			d.add("L", x(v), y(v))
		}
		gap = false
	}
	p.shape("path", "line c1", "d", d.String())
	p.mark(0, "mark c1", x(all[last]), y(all[last]), 3)
	return p.svg("spark", s.Title, ViewBox{W: w, H: h}, []string{
		fmt.Sprintf("From %s to %s, last %s.", figure(lo), withUnit(hi, s.Unit), withUnit(all[last].value, s.Unit)),
	})
}
