package chart

import (
	"html/template"
	"slices"
	"time"
)

const maxEvents = 200

// Event is something that happened at a time.
type Event struct {
	At    time.Time
	Label string
	State State
}

// Timeline shows events with markers, sorted by time from top to bottom. It shows only the first 200 elements of Events. Good events are
// circles, Warn events triangles, Bad events crosses, and other events squares.
type Timeline struct {
	ID, Title string
	Events    []Event // in any order
}

// SVG returns the timeline, with one row per event.
func (t Timeline) SVG() template.HTML {
	const x0, left, line = 130.0, 142.0, 16.0
	p := newPen(t.ID)
	events := slices.Clone(head(t.Events, maxEvents))
	if len(events) == 0 {
		return p.none("timeline", t.Title, "No events yet.", 80)
	}
	slices.SortStableFunc(events, func(a, b Event) int { return a.At.Compare(b.At) })
	layout, form := "15:04:05", formSecond
	if events[len(events)-1].At.Sub(events[0].At) >= 12*time.Hour {
		layout, form = "2 Jan 15:04", formDayMinute
	}
	room, y := width-left-4, 8.0
	var rows pen // written after the vertical line, whose length depends on them
	rows.id = p.id
	var items []string
	for _, e := range events {
		one, two := halves(clean(e.Label), room)
		h := line + 18
		if two != "" {
			h += lineUnits
		}
		title := e.title()
		items = append(items, title+".")
		tag := rows.begin("", "row", title)
		rows.moment(4, y+20, "axis small", e.At.UTC().Format(layout), x0, e.At, form)
		e.mark(&rows, x0, y+16)
		rows.text(left, y+21, "label", one, room)
		if two != "" {
			rows.text(left, y+21+lineUnits, "label", two, room)
		}
		rows.end(tag)
		y += h
	}
	p.shape("line", "life", "x1", x0, "y1", 8.0, "x2", x0, "y2", y)
	p.b.WriteString(rows.b.String())
	said := append([]string{counted(len(events), "event") + "."}, list(items)...)
	return p.svg("timeline", t.Title, ViewBox{W: width, H: y + 8}, leftOut(said, "event", len(t.Events), len(events)))
}

// title describes the event in one line, with its time in UTC and its state.
func (e Event) title() string {
	text := e.At.UTC().Format("2006-01-02 15:04:05 UTC") + ": " + clean(e.Label)
	if e.State.rank() > 0 {
		text += " (" + string(e.State) + ")"
	}
	return clean(text)
}

// mark draws the marker of the event's state.
func (e Event) mark(p *pen, x, y float64) {
	shapes := []int{2, 0, 1, 5}
	p.mark(shapes[e.State.rank()], "mark "+string(states[e.State.rank()]), x, y, 6)
}
