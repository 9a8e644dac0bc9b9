package chart

import (
	"math"
	"strconv"
	"time"
)

// maxValue limits the magnitude of values, so that sums and steps remain exact enough.
const maxValue = 1e12

// steps lists the intervals between labels on a time axis, in seconds. For longer ranges, timeTicks repeatedly doubles the last interval.
var steps = []int64{
	1, 2, 5, 10, 15, 30, 60, 120, 300, 600, 900, 1800, 3600, 2 * 3600, 3 * 3600, 6 * 3600, 12 * 3600,
	day, 2 * day, 7 * day, 14 * day, 28 * day, 91 * day, 182 * day, 365 * day,
}

const day = 24 * 3600

// finite limits a value to the range that can be drawn. It returns NaN for NaN and infinities.
func finite(v float64) float64 {
	if math.IsNaN(v) || math.IsInf(v, 0) {
		return math.NaN()
	}
	return max(-maxValue, min(maxValue, v))
}

// seconds returns a time in seconds since 1970, limited to about 3,000 years before and after.
func seconds(t time.Time) float64 {
	return max(-1e11, min(1e11, float64(t.Unix()))) + float64(t.Nanosecond())/1e9
}

// stamp formats a time, in seconds since 1970, to the minute in UTC.
func stamp(s float64) string {
	return time.Unix(int64(math.Floor(s)), 0).UTC().Format("2006-01-02 15:04 UTC")
}

// figure formats a value with at most two decimals, or two significant digits if it is below 0.01.
func figure(v float64) string {
	switch a := math.Abs(v); {
	case a >= 1000 || v == math.Trunc(v):
		return strconv.FormatFloat(v, 'f', 0, 64)
	case a >= 0.01:
		return strconv.FormatFloat(math.Round(v*100)/100, 'f', -1, 64)
	default:
		return strconv.FormatFloat(v, 'g', 2, 64)
	}
}

// short formats the value of an axis label with a suffix such as k or M.
func short(v float64) string {
	for _, unit := range []struct {
		size float64
		name string
	}{{1e12, "T"}, {1e9, "G"}, {1e6, "M"}, {1e3, "k"}} {
		if math.Abs(v) >= unit.size {
			return strconv.FormatFloat(v/unit.size, 'g', 4, 64) + unit.name
		}
	}
	return strconv.FormatFloat(v, 'g', 4, 64)
}

// ticks returns about three to six round values. The first is at most lo, and the last is at least hi. If whole is set, the values are
// integers.
func ticks(lo, hi float64, whole bool) []float64 {
	if hi-lo < 1e-9 {
		hi = lo + 1
	}
	raw := (hi - lo) / 4
	base := math.Pow(10, math.Floor(math.Log10(raw)))
	step := base * 10
	for _, m := range []float64{1, 2, 5} {
		if raw <= base*m*1.0001 {
			step = base * m
			break
		}
	}
	if whole {
		step = max(1, step)
	}
	first, last := math.Floor(lo/step+1e-9), math.Ceil(hi/step-1e-9)
	var all []float64
	for i := first; i <= last; i++ {
		all = append(all, i*step)
	}
	return all
}

// plot is the area of a chart between its axes.
type plot struct {
	x0, x1, top, bottom float64
	from, to            float64 // range of the time axis, in seconds since 1970
	values              []float64
}

func (a plot) x(s float64) float64 {
	if a.to <= a.from {
		return (a.x0 + a.x1) / 2
	}
	return a.x0 + (s-a.from)/(a.to-a.from)*(a.x1-a.x0)
}

func (a plot) y(v float64) float64 {
	lo, hi := a.values[0], a.values[len(a.values)-1]
	return a.bottom - (v-lo)/(hi-lo)*(a.bottom-a.top)
}

// axes draws the grid, with the values on the left and the times below.
func (a plot) axes(p *pen, unit string) {
	if unit != "" {
		p.text(a.x0, a.top-10, "axis small", unit, a.x1-a.x0)
	}
	for _, v := range a.values {
		class := "grid"
		if v == 0 {
			class = "base"
		}
		p.shape("line", class, "x1", a.x0, "y1", a.y(v), "x2", a.x1, "y2", a.y(v))
		p.text(a.x0-5, a.y(v)+5, "axis small end", short(v), a.x0)
	}
	a.times(p, a.bottom, true)
}

// times draws the labels of the time axis below y and, if lines is set, lines up to the top.
func (a plot) times(p *pen, y float64, lines bool) {
	labels := timeTicks(a.from, a.to)
	for _, s := range labels {
		x := a.x(s.at)
		if lines {
			p.shape("line", "grid", "x1", x, "y1", a.top, "x2", x, "y2", y)
		}
		half := units(s.text) / 2
		p.moment(max(half, min(width-half, x)), y+16, "axis small mid", s.text, width, time.Unix(int64(s.at), 0), s.form)
	}
}

// timeTick is a label on a time axis.
type timeTick struct {
	at   float64
	text string
	form string // form of a moment; empty if the tick is a day in UTC, because the chart counts days
}

// timeTicks returns round times in UTC, at most six. If no round time is in the range, it returns the beginning of the range.
func timeTicks(from, to float64) []timeTick {
	step := steps[0]
	for _, step = range steps {
		if (to-from)/float64(step) <= 5 {
			break
		}
	}
	for (to-from)/float64(step) > 5 {
		step *= 2
	}
	layout, form := "2 Jan", ""
	switch {
	case step < 60:
		layout, form = "15:04:05", formSecond
	case step < day:
		layout, form = "15:04", formHour
	case step >= 91*day:
		layout = "Jan 2006"
	}
	const monday = 4 * day // the first Monday after the beginning of 1970
	var all []timeTick
	for at := int64(math.Ceil((from-monday)/float64(step)))*step + monday; float64(at) <= to; at += step {
		t := time.Unix(at, 0).UTC()
		text := t.Format(layout)
		if step >= 60 && step < day && at%day == 0 {
			text = t.Format("2 Jan")
		}
		all = append(all, timeTick{float64(at), text, form})
	}
	if len(all) == 0 {
		all = append(all, timeTick{from, time.Unix(int64(from), 0).UTC().Format("15:04:05"), formSecond})
	}
	return all
}
