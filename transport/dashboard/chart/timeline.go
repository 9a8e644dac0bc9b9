package chart

import (
	"fmt"
	"html/template"
	"slices"
	"time"
)

const (
	maxEvents = 200
	maxLanes  = 6
)

// Event is something that happened at a time.
type Event struct {
	At    time.Time
	Lane  string // where it happened or who did it, such as "carrier"
	Label string
	State State
	Href  string // empty: none
}

// Timeline shows events from above to below by their time, a column of markers for each lane. It shows the first 200 events
// of the first 6 lanes. Good events are circles, events that warn triangles, bad ones crosses, and others squares.
type Timeline struct {
	ID, Title string
	Events    []Event // in any order
}

// SVG draws the events, each in a row.
func (t Timeline) SVG() template.HTML {
	const column, x0, line = 24.0, 118.0, 16.0
	p := newPen(t.ID)
	events, lanes := t.shown()
	if len(events) == 0 {
		return p.none("timeline", t.Title, "No events yet.", 80)
	}
	layout := "15:04:05"
	if events[len(events)-1].At.Sub(events[0].At) >= 12*time.Hour {
		layout = "2 Jan 15:04"
	}
	left := x0 + column*float64(len(lanes))
	room, y := width-left-4, 8.0
	var rows pen // above the lines of the lanes, whose length they tell
	rows.id = p.id
	var items []string
	for _, e := range events {
		at, lane := x0+column*(float64(slices.Index(lanes, e.Lane))+0.5), clean(e.Lane)
		one, two := halves(clean(e.Label), room)
		h := line + 18
		if two != "" {
			h += lineUnits
		}
		if lane != "" {
			h += line
		}
		title := e.title()
		items = append(items, title+".")
		tag := rows.begin(e.Href, "row", title)
		rows.shape("rect", "hit", "x", 0.0, "y", y, "width", width, "height", h)
		rows.text(4, y+20, "axis small", e.At.UTC().Format(layout), x0)
		e.mark(&rows, at, y+16)
		below := y + 21
		if lane != "" {
			rows.text(left, below-2, "axis small", cut(lane, room), room)
			below += line
		}
		rows.text(left, below, "label", one, room)
		if two != "" {
			rows.text(left, below+lineUnits, "label", two, room)
		}
		rows.end(tag)
		y += h
	}
	for i := range lanes {
		x := x0 + column*(float64(i)+0.5)
		p.shape("line", "life", "x1", x, "y1", 8.0, "x2", x, "y2", y)
	}
	p.links = rows.links
	p.b.WriteString(rows.b.String())
	said := append([]string{fmt.Sprintf("%d events.", len(events))}, list(items)...)
	return p.svg("timeline", t.Title, ViewBox{W: width, H: y + 8}, leftOut(said, "events", len(t.Events), len(events)))
}

// shown returns the events that are drawn, by their times, and their lanes.
func (t Timeline) shown() (events []Event, lanes []string) {
	for _, e := range t.Events {
		known := slices.Contains(lanes, e.Lane)
		if len(events) == maxEvents || !known && len(lanes) == maxLanes {
			continue
		}
		if !known {
			lanes = append(lanes, e.Lane)
		}
		events = append(events, e)
	}
	slices.SortStableFunc(events, func(a, b Event) int { return a.At.Compare(b.At) })
	return events, lanes
}

// title says the whole event.
func (e Event) title() string {
	text := stamp(seconds(e.At))
	if lane := clean(e.Lane); lane != "" {
		text += ", " + lane
	}
	text += ": " + clean(e.Label)
	if e.State.rank() > 0 {
		text += " (" + string(e.State) + ")"
	}
	return clean(text)
}

// mark draws the marker of the state of an event.
func (e Event) mark(p *pen, x, y float64) {
	shapes := []int{2, 0, 1, 5}
	p.mark(shapes[e.State.rank()], "mark "+string(states[e.State.rank()]), x, y, 6)
}
