package chart

import (
	"fmt"
	"html/template"
	"maps"
	"slices"
	"strings"
	"time"

	"github.com/callwright/callwright"
)

// The limits and measures of Lanes.
const (
	maxUtterances = 500
	maxLaneMarks  = 100 // marks of an utterance
	maxLaneRows   = 400
	maxSpans      = 8000 // parts of utterances and marks
	lanesWidth    = 960.0
	laneGutter    = 74.0
	laneFont      = 0.7 // size of the text relative to that of other pictures, because the picture is never scaled down
	laneHeight    = 26.0
	laneStep      = 32.0 // from the top of the upper lane to the top of the lower one
	laneRow       = 92.0 // height of a row with both lanes and its axis
	laneGap       = 24.0 // height of the text that replaces rows without utterances
)

// LaneShape is the shape in which an utterance is drawn.
type LaneShape string

// The values of LaneShape.
const (
	LaneWords  LaneShape = "words"  // a filled box with the text
	LaneAside  LaneShape = "aside"  // a hollow, dashed box with the text
	LaneAction LaneShape = "action" // a diamond
)

// LaneMark is the kind of a Mark. Each kind has a different shape.
type LaneMark string

// The values of LaneMark.
const (
	MarkWait      LaneMark = "wait"      // a line with an end, in the lane of the utterance
	MarkThought   LaneMark = "thought"   // a dotted line in the lane of the utterance
	MarkHold      LaneMark = "hold"      // a hatched gap in the utterance
	MarkCut       LaneMark = "cut"       // a thick vertical line
	MarkBegun     LaneMark = "begun"     // a filled triangle
	MarkWithdrawn LaneMark = "withdrawn" // a hollow triangle with a cross
	MarkFailure   LaneMark = "failure"   // a cross at the beginning of the utterance
)

// laneMarks lists the kinds of marks, in the order of the legend, with their names.
var laneMarks = []struct {
	kind LaneMark
	name string
}{
	{MarkWait, "waited for more words"}, {MarkThought, "answer prepared"}, {MarkHold, "agent paused"}, {MarkCut, "interrupted"},
	{MarkBegun, "answer begun early"}, {MarkWithdrawn, "early answer withdrawn"}, {MarkFailure, "not recognized"},
}

// Mark is an event or a part of an utterance.
type Mark struct {
	Kind       LaneMark
	Start, End time.Duration // End is ignored for MarkCut, MarkBegun, MarkWithdrawn and MarkFailure
	Note       string        // description of the mark
}

// Utterance is something that was said or done.
type Utterance struct {
	Lane       int // 0 is the upper lane, and 1 the lower one; utterances in other lanes are omitted
	Shape      LaneShape
	Start, End time.Duration
	Text       string
	Href       string // link of the utterance and its marks, such as "#line-3"
	Marks      []Mark
}

// Lanes shows a conversation over time. The picture has rows of equal duration. Each row shows the upper lane and the lower lane. A text
// replaces rows without utterances. It shows the first 500 utterances, the first 100 marks of each, and at most 400 rows.
type Lanes struct {
	ID, Title  string
	Names      [2]string // of the lanes
	Row        time.Duration
	Utterances []Utterance // in the order in which a keyboard reaches them
}

// SVG returns the picture with a legend of the marks that it contains.
func (l Lanes) SVG() template.HTML {
	p := newPen(l.ID)
	if l.Row <= 0 {
		l.Row = 30 * time.Second
	}
	shown := slices.DeleteFunc(slices.Clone(head(l.Utterances, maxUtterances)), func(u Utterance) bool {
		return u.Lane != 0 && u.Lane != 1 || u.Start < 0 || u.End < u.Start
	})
	if len(shown) == 0 {
		return p.none("lanes", l.Title, "Nothing was said yet.", 60)
	}
	rows := l.rows(shown)
	kinds := map[LaneMark]int{}
	for _, u := range shown {
		for _, m := range head(u.Marks, maxLaneMarks) {
			kinds[m.Kind]++
		}
	}
	said := l.describe(shown)
	y := rows.place(p, l, p.legend(kinds))
	for _, u := range shown {
		p.utterance(u, rows, seriesName(l.Names[u.Lane], u.Lane))
	}
	for _, k := range laneMarks {
		if n := kinds[k.kind]; n > 0 {
			said = append(said, fmt.Sprintf("%s: %d.", k.name, n))
		}
	}
	return p.svg("lanes", l.Title, ViewBox{W: lanesWidth, H: y}, leftOut(said, "utterance", len(l.Utterances), len(shown)))
}

// describe returns sentences that count the utterances of each lane.
func (l Lanes) describe(shown []Utterance) (said []string) {
	counts, end := [2]int{}, time.Duration(0)
	for _, u := range shown {
		counts[u.Lane]++
		end = max(end, u.End)
	}
	said = append(said, fmt.Sprintf("From %s to %s.", minutes(shown[0].Start), minutes(end)))
	for i, n := range counts {
		said = append(said, fmt.Sprintf("%s: %s.", seriesName(l.Names[i], i), counted(n, "utterance")))
	}
	return said
}

// laneRows maps times to places in the rows of a picture.
type laneRows struct {
	length time.Duration
	left   int               // number of parts that may still be drawn
	used   []int64           // numbers of the rows with utterances, in ascending order
	tops   map[int64]float64 // y of the upper lane of each row
}

// rows returns the rows that contain a part of an utterance or of a mark. Their places are not set yet.
func (l Lanes) rows(shown []Utterance) *laneRows {
	r := &laneRows{length: l.Row, left: maxSpans, tops: map[int64]float64{}}
	mark := func(start, end time.Duration) {
		for n := max(0, start) / l.Row; n <= max(0, end)/l.Row && len(r.tops) < maxLaneRows; n++ {
			r.tops[int64(n)] = 0
		}
	}
	for _, u := range shown {
		mark(u.Start, u.End)
		for _, m := range head(u.Marks, maxLaneMarks) {
			mark(m.Start, m.until())
		}
	}
	r.used = slices.Sorted(maps.Keys(r.tops))
	return r
}

// until returns the end of a mark, which is its start if it has no length.
func (m Mark) until() time.Duration {
	switch m.Kind {
	case MarkCut, MarkBegun, MarkWithdrawn, MarkFailure:
		return m.Start
	case MarkWait, MarkThought, MarkHold:
	}
	return max(m.Start, m.End)
}

// place sets the places of the rows below y and draws their axes. It returns the lower end of the last row.
func (r *laneRows) place(p *pen, l Lanes, y float64) float64 {
	for i, n := range r.used {
		if i > 0 && n > r.used[i-1]+1 {
			p.text(laneGutter, y+14, "note small", "Nothing was said for "+inWords(time.Duration(n-r.used[i-1]-1)*l.Row)+".", lanesWidth-laneGutter)
			y += laneGap
		}
		r.tops[n] = y
		p.text(laneGutter-8, y+17, "axis small end", seriesName(l.Names[0], 0), (laneGutter-8)/laneFont)
		p.text(laneGutter-8, y+laneStep+17, "axis small end", seriesName(l.Names[1], 1), (laneGutter-8)/laneFont)
		const parts = 6
		for i := range parts + 1 {
			x := laneGutter + (lanesWidth-laneGutter-4)*float64(i)/parts
			p.shape("line", "grid", "x1", x, "y1", y-2, "x2", x, "y2", y+laneStep+laneHeight+4)
			if at := time.Duration(n)*l.Row + l.Row*time.Duration(i)/parts; i < parts {
				p.text(x+2, y+laneStep+laneHeight+16, "axis small", laneTime(at, l.Row/parts), 90)
			}
		}
		y += laneRow
	}
	return y
}

// laneTime formats a time on the axis of a row whose labels are the given duration apart.
func laneTime(at, apart time.Duration) string {
	if apart%time.Second != 0 {
		return fmt.Sprintf("%s.%d", minutes(at), at%time.Second/(100*time.Millisecond))
	}
	return minutes(at)
}

// span is a part of a row.
type span struct{ x, y, width float64 }

// spans returns the parts of the rows between two times, in a lane. Each part is at least the given number of units wide.
func (r *laneRows) spans(lane int, start, end time.Duration, least float64) (all []span) {
	const room = lanesWidth - laneGutter - 4
	at := func(d time.Duration) float64 { return laneGutter + float64(d)/float64(r.length)*room }
	for n := int64(start / r.length); n <= int64(end/r.length) && r.left > 0; n++ {
		top, ok := r.tops[n]
		begin := time.Duration(n) * r.length
		if !ok || begin == end && begin > start {
			break
		}
		r.left--
		from, to := at(max(start, begin)-begin), at(min(end-begin, r.length))
		all = append(all, span{min(from, lanesWidth-4-least), top + laneStep*float64(lane), max(least, to-from)})
	}
	return all
}

// utterance draws an utterance and its marks as one link.
func (p *pen) utterance(u Utterance, rows *laneRows, name string) {
	title := fmt.Sprintf("%s %s: %s", offset(u.Start), name, clean(u.Text))
	notes := make([]string, 0, len(u.Marks))
	for _, m := range head(u.Marks, maxLaneMarks) {
		notes = append(notes, m.Note)
	}
	tag := p.begin(u.Href, colour(u.Lane), strings.Join(append([]string{title}, notes...), " · "))
	if u.Shape == LaneAction {
		for _, s := range rows.spans(u.Lane, u.Start, u.Start, 8) {
			p.mark(3, "mark", s.x+4, s.y+laneHeight/2, 6)
		}
	} else {
		p.words(u, rows)
	}
	for _, m := range head(u.Marks, maxLaneMarks) {
		p.open("g", "")
		p.title(callwright.Clip(m.Note, 100))
		p.laneMark(m, u.Lane, rows)
		p.end("g")
	}
	p.end(tag)
}

// words draws the boxes of an utterance, and its text in the widest one.
func (p *pen) words(u Utterance, rows *laneRows) {
	class := string(LaneWords)
	if u.Shape == LaneAside {
		class = string(LaneAside)
	}
	spans, widest := rows.spans(u.Lane, u.Start, u.End, 3), 0
	for i, s := range spans {
		p.shape("rect", class, "x", s.x, "y", s.y, "width", s.width, "height", laneHeight, "rx", 3.0)
		if s.width > spans[widest].width {
			widest = i
		}
	}
	if len(spans) > 0 && spans[widest].width >= 40 {
		p.text(spans[widest].x+5, spans[widest].y+17, "label small", cut(clean(u.Text), (spans[widest].width-8)/laneFont), lanesWidth)
	}
}

// laneMark draws a mark in its lane.
func (p *pen) laneMark(m Mark, lane int, rows *laneRows) {
	for _, s := range rows.spans(lane, max(0, m.Start), max(0, m.until()), 3) {
		p.laneSample(m.Kind, s)
	}
}

// laneSample draws a part of a mark.
func (p *pen) laneSample(kind LaneMark, s span) {
	middle := s.y + laneHeight/2
	switch kind {
	case MarkWait:
		p.shape("line", "wait", "x1", s.x, "y1", middle, "x2", s.x+s.width, "y2", middle)
		p.shape("line", "wait", "x1", s.x+s.width, "y1", s.y+5, "x2", s.x+s.width, "y2", s.y+laneHeight-5)
	case MarkThought:
		p.shape("line", "thought", "x1", s.x, "y1", middle, "x2", s.x+s.width, "y2", middle)
	case MarkHold:
		p.shape("rect", "gap", "x", s.x, "y", s.y, "width", s.width, "height", laneHeight)
		p.shape("line", "stripes", "x1", s.x, "y1", middle, "x2", s.x+s.width, "y2", middle)
	case MarkCut:
		p.shape("line", "stop", "x1", s.x, "y1", s.y-3, "x2", s.x, "y2", s.y+laneHeight+3)
	case MarkBegun:
		p.mark(1, "mark", s.x, s.y+laneHeight-4, 5)
	case MarkWithdrawn:
		p.mark(1, "withdrawn", s.x, s.y+laneHeight-4, 5)
		var d path
		d.add("M", s.x-6, s.y+laneHeight-11).add("l", 12, 12).add("m", 0, -12).add("l", -12, 12)
		p.shape("path", "withdrawn", "d", d.String())
	case MarkFailure:
		var d path
		d.add("M", s.x, middle-6).add("l", 12, 12).add("m", 0, -12).add("l", -12, 12)
		p.shape("path", "stop", "d", d.String())
	}
}

// legend draws a sample and the name of each kind of mark that the picture contains. It returns its lower end.
func (p *pen) legend(kinds map[LaneMark]int) (y float64) {
	x, y := 6.0, 4.0
	p.open("g", "legend c2")
	defer p.end("g")
	for _, k := range laneMarks {
		if kinds[k.kind] == 0 {
			continue
		}
		wide := 44 + units(k.name)*laneFont
		if x+wide > lanesWidth {
			x, y = 6, y+laneHeight
		}
		p.laneSample(k.kind, span{x + 6, y, 16})
		p.text(x+28, y+17, "label small", k.name, lanesWidth)
		x += wide
	}
	if x == 6 {
		return y
	}
	return y + laneHeight + 12
}
