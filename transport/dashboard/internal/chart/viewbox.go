package chart

import (
	"math"
	"strconv"
	"strings"
)

// maxView bounds the coordinates and sizes of a view.
const maxView = 1e6

// ViewBox is the part of a picture that is shown, in its units.
type ViewBox struct{ X, Y, W, H float64 }

// String returns the box as "x y w h", each with one decimal at most.
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

// ParseViewBox parses the text of String, for example in a query parameter. It returns false for any other text.
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

// shows reports whether a box has an area.
func (v ViewBox) shows() bool {
	ok := v.W >= 1 && v.H >= 1 && v.W <= maxView && v.H <= maxView
	return ok && math.Abs(v.X) <= maxView && math.Abs(v.Y) <= maxView
}

// isFar reports whether texts are too small to read in a box.
func (v ViewBox) isFar() bool { return v.W >= far || v.H >= far }

// meets reports whether a box has a point in common with an area.
func (v ViewBox) meets(r rect) bool {
	return r.x <= v.X+v.W && v.X <= r.x+r.w && r.y <= v.Y+v.H && v.Y <= r.y+r.h
}

// Views are the boxes that links for zoom and pan lead to.
type Views struct {
	Whole, In, Out, Left, Right, Up, Down ViewBox
}

// views returns the boxes around a box: a step is a quarter of it, and zoom is by 1.5, from 160 units to the whole.
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
