package chart

import (
	"math"
	"strconv"
	"strings"
)

// maxView is the maximum magnitude of a view's coordinates and sizes.
const maxView = 1e6

// ViewBox is the visible part of a picture, in the picture's units.
type ViewBox struct{ X, Y, W, H float64 }

// String returns the box as "x y w h", where each number has at most one decimal.
func (v ViewBox) String() string {
	text := make([]byte, 0, 4*(maxDigits+1))
	for i, at := range []float64{v.X, v.Y, v.W, v.H} {
		if i > 0 {
			text = append(text, ' ')
		}
		text = appendNum(text, at)
	}
	return string(text)
}

// ParseViewBox parses four numbers that are separated by spaces, such as the result of String, for example in a query parameter. It returns
// false for any other text, for a box less than one unit wide or high, and for numbers beyond ±1e6.
func ParseViewBox(text string) (ViewBox, bool) {
	fields := strings.Fields(text)
	if len(fields) != 4 || len(text) > 100 {
		return ViewBox{}, false
	}
	var at [4]float64
	for i, f := range fields {
		v, err := strconv.ParseFloat(f, 64)
		if err != nil || math.IsNaN(v) || math.Abs(v) > maxView {
			return ViewBox{}, false
		}
		at[i] = v
	}
	v := ViewBox{at[0], at[1], at[2], at[3]}
	return v, v.shows()
}

// shows reports whether a box is at least one unit wide and high, and is within maxView.
func (v ViewBox) shows() bool {
	ok := v.W >= 1 && v.H >= 1 && v.W <= maxView && v.H <= maxView
	return ok && math.Abs(v.X) <= maxView && math.Abs(v.Y) <= maxView
}

// isFar reports whether a box shows so much that texts in it are too small to read.
func (v ViewBox) isFar() bool { return v.W >= far || v.H >= far }

// meets reports whether a box intersects an area.
func (v ViewBox) meets(r rect) bool {
	return r.x <= v.X+v.W && v.X <= r.x+r.w && r.y <= v.Y+v.H && v.Y <= r.y+r.h
}

// Views contains the boxes to which links for zooming and panning lead.
type Views struct {
	Whole, In, Out, Left, Right, Up, Down ViewBox
}

// views returns the boxes that can be reached from the current box. Panning moves by a quarter of the box. Zooming changes the size by a
// factor of 1.5, from a width of 160 units to the whole.
func views(whole, now ViewBox) Views {
	if !now.shows() {
		now = whole
	}
	zoom := func(by float64) ViewBox {
		least, most := 160/now.W, max(whole.W/now.W, whole.H/now.H)
		if by < 1 {
			by = min(1, max(by, least))
		} else {
			by = max(1, min(by, most))
		}
		w, h := now.W*by, now.H*by
		return ViewBox{now.X + (now.W-w)/2, now.Y + (now.H-h)/2, w, h}
	}
	pan := func(x, y float64) ViewBox {
		to := now
		to.X = max(whole.X-now.W/2, min(whole.X+whole.W-now.W/2, now.X+x*now.W/4))
		to.Y = max(whole.Y-now.H/2, min(whole.Y+whole.H-now.H/2, now.Y+y*now.H/4))
		return to
	}
	v := Views{Whole: whole, In: zoom(1 / 1.5), Out: zoom(1.5), Left: pan(-1, 0), Right: pan(1, 0), Up: pan(0, -1), Down: pan(0, 1)}
	if v.Out.W >= whole.W && v.Out.H >= whole.H {
		v.Out = whole
	}
	return v
}
