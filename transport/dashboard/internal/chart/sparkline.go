package chart

import (
	"fmt"
	"html/template"
	"math"
)

// Sparkline is a small line chart within a line of text, without axes. It reads up to 100,000 values. If there are more than 120, only the
// minimum and the maximum of each group of adjacent values are drawn.
type Sparkline struct {
	ID, Title string
	Unit      string    // such as "ms"; may be empty
	Values    []float64 // at equal intervals; NaN is a gap
}

// SVG returns the chart, with a dot at the last value.
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
			d.add("M", x(v), y(v)).add("h0.1") // so that a single value between gaps is visible
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
