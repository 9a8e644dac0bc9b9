package chart

import (
	"fmt"
	"html/template"
	"math"
	"strings"
	"time"
)

const maxSlots = 60

// BarSeries is one component of the stacked bars.
type BarSeries struct {
	Name   string
	Values []float64 // a count for each slot; NaN is a gap; negative values count as 0
}

// percent is the unit of shares. The description states no total for shares.
const percent = "%"

// Bars is a bar chart of counts or shares over time, with one bar per slot of time and the series stacked. It shows up to 6 series of
// 100,000 slots. If there are more than 60 slots, it sums the values of adjacent slots, even if they are shares.
type Bars struct {
	ID, Title string
	Unit      string        // such as "calls" or "%"; may be empty
	Start     time.Time     // beginning of the first slot
	Step      time.Duration // duration of a slot; if not positive, an hour
	Series    []BarSeries
}

// SVG returns the chart.
func (b Bars) SVG() template.HTML {
	p := newPen(b.ID)
	series := head(b.Series, colours)
	slots := 0
	for _, s := range series {
		slots = max(slots, min(len(s.Values), maxInput))
	}
	if b.Step <= 0 {
		b.Step = time.Hour
	}
	group := max(1, (slots+maxSlots-1)/maxSlots)
	sums, n := addUp(series, slots, group)
	if n == 0 {
		return p.none("bars", b.Title, "No data yet.", 120)
	}
	bars := len(sums)
	hi, whole, totals := 0.0, true, make([]float64, len(series))
	for _, slot := range sums {
		sum := 0.0
		for i, v := range slot {
			sum += v
			totals[i] += v
			whole = whole && v == math.Trunc(v)
		}
		hi = max(hi, sum)
	}
	step := b.Step.Seconds() * float64(group)
	from := seconds(b.Start)
	a := plot{x0: 48, x1: width - 14, top: 26, bottom: 186, from: from, to: from + step*float64(bars), values: ticks(0, hi, whole)}
	hatches(p, len(series))
	a.axes(p, b.Unit)
	b.draw(p, a, sums, step)

	said := []string{fmt.Sprintf("%s of %s, from %s.", counted(bars, "bar"), inWords(time.Duration(step*float64(time.Second))), stamp(from))}
	var names []string
	for i, s := range series {
		names = append(names, seriesName(s.Name, i))
		if b.Unit != percent {
			said = append(said, fmt.Sprintf("%s: %s in all.", names[i], withUnit(totals[i], b.Unit)))
		}
	}
	bottom := a.bottom + 26
	if len(names) > 1 || b.Series[0].Name != "" {
		bottom = legend(p, bottom, names, func(i int, x, y float64) { p.bar(i, x, y-8, 24, 14) })
	}
	return p.svg("bars", b.Title, ViewBox{W: width, H: bottom}, leftOut(said, "part", len(b.Series), colours))
}

// addUp returns, for each group of slots, the sum of each series. n is the number of values that can be drawn.
func addUp(series []BarSeries, slots, group int) (sums [][]float64, n int) {
	sums = make([][]float64, (slots+group-1)/group)
	for g := range sums {
		sums[g] = make([]float64, len(series))
	}
	for i, s := range series {
		for j, v := range head(s.Values, slots) {
			if v = finite(v); !math.IsNaN(v) {
				n++
				sums[j/group][i] += max(0, v)
			}
		}
	}
	return sums, n
}

func (b Bars) draw(p *pen, a plot, sums [][]float64, step float64) {
	for j, slot := range sums {
		at := a.from + step*float64(j)
		x, w := a.x(at), (a.x1-a.x0)/float64(len(sums))
		title, sum := []string{stamp(at)}, 0.0
		for i, v := range slot {
			title = append(title, seriesName(b.Series[i].Name, i)+": "+withUnit(v, b.Unit))
			sum += v
		}
		if sum == 0 {
			continue
		}
		tag := p.begin("", "", strings.Join(title, " · "))
		below := 0.0
		for i, v := range slot {
			if v > 0 {
				p.bar(i, x+w*0.1, a.y(below+v), w*0.8, a.y(below)-a.y(below+v))
				below += v
			}
		}
		p.end(tag)
	}
}

// bar draws a rectangle in the color and with the hatching of series i.
func (p *pen) bar(i int, x, y, w, h float64) {
	p.shape("rect", "bar "+colour(i), "x", x, "y", y, "width", w, "height", h)
	if i > 0 {
		p.shape("rect", "", "x", x, "y", y, "width", w, "height", h, "fill", fmt.Sprintf("url(#%s-h%d)", p.id, i))
	}
}

// hatches defines the hatching patterns of the first n series. The first series is plain.
func hatches(p *pen, n int) {
	lines := []string{"", "M-2 2L2 -2M0 8L8 0M6 10L10 6", "M0 4H8", "M2 2h2v2h-2ZM6 6h2v2h-2Z", "M0 0L8 8M0 8L8 0", "M4 0V8"}
	p.open("defs", "")
	for i := 1; i < n; i++ {
		p.open("pattern", "", "id", fmt.Sprintf("%s-h%d", p.id, i), "width", "8", "height", "8", "patternUnits", "userSpaceOnUse")
		p.shape("path", "hatch", "d", lines[i])
		p.end("pattern")
	}
	p.end("defs")
}
