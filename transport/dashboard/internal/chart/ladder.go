package chart

import (
	"fmt"
	"html/template"
	"time"
)

const (
	maxParticipants = 8
	maxMessages     = 200
)

// Message is a message of a Ladder, drawn as an arrow, or a step of one participant.
type Message struct {
	From, To int           // indexes of participants; if equal, a step of one participant
	At       time.Duration // since the first message
	Label    string        // method or status, such as "180 Ringing"
	Failed   bool
	Href     string // link of the message; may be empty
}

// Ladder is a SIP sequence diagram. It shows up to 8 participants and the first 200 messages between them, in the given order. Failed
// messages are dashed and have a cross.
type Ladder struct {
	ID, Title    string
	Participants []string
	Messages     []Message
}

// SVG returns the diagram.
func (l Ladder) SVG() template.HTML {
	const left, top, row = 74.0, 40.0, 40.0
	p := newPen(l.ID)
	names := head(l.Participants, maxParticipants)
	var rows []Message
	for _, m := range l.Messages {
		if len(rows) < maxMessages && min(m.From, m.To) >= 0 && max(m.From, m.To) < len(names) {
			rows = append(rows, m)
		}
	}
	if len(rows) == 0 {
		return p.none("ladder", l.Title, "No messages yet.", 80)
	}
	gap := max(200, (width-left)/float64(len(names)))
	w, h := left+gap*float64(len(names)), top+row*float64(len(rows))+14
	x := func(i int) float64 { return left + gap*(float64(i)+0.5) }
	for i, name := range names {
		p.text(x(i), 22, "head mid", name, gap-12)
		p.shape("line", "life", "x1", x(i), "y1", 32.0, "x2", x(i), "y2", h)
	}
	var items []string
	for i, m := range rows {
		y := top + row*float64(i)
		who := clean(names[m.From])
		if m.To != m.From {
			who += " to " + clean(names[m.To])
		}
		said := fmt.Sprintf("%s, %s: %s", offset(m.At), who, clean(m.Label))
		if m.Failed {
			said += " (failed)"
		}
		items = append(items, said+".")
		tag := p.begin(m.Href, "row", said)
		p.shape("rect", "hit", "x", 0.0, "y", y, "width", w, "height", row)
		p.text(4, y+32, "axis small", offset(m.At), left-4)
		p.arrow(m, x(m.From), x(m.To), y+27, gap, w)
		p.end(tag)
	}
	said := append([]string{fmt.Sprintf("%s between %s.", counted(len(rows), "message"), counted(len(names), "participant"))}, list(items)...)
	said = leftOut(said, "message", len(l.Messages), len(rows))
	return p.svg("ladder", l.Title, ViewBox{W: w, H: h}, leftOut(said, "participant", len(l.Participants), len(names)))
}

// arrow draws a message with its label above the arrow. A step of one participant is a square with the label beside it.
func (p *pen) arrow(m Message, from, to, y, gap, w float64) {
	state := ""
	if m.Failed {
		state = " bad"
	}
	middle, room := (from+to)/2, max(from-to, to-from)-14
	d, sign := new(path), 1.0
	if from == to {
		p.shape("rect", "tip"+state, "x", from-4, "y", y-4, "width", 8.0, "height", 8.0)
		p.text(from+10, y+5, "label halo", m.Label, min(gap, w-from)-16)
	} else {
		if to < from {
			sign = -1
		}
		p.shape("line", "arrow"+state, "x1", from, "y1", y, "x2", to-sign*8, "y2", y)
		d.add("M", to, y).add("L", to-sign*10, y-5).add("V", y+5).add("Z")
		p.shape("path", "tip"+state, "d", d.String())
		p.text(middle, y-7, "label halo mid", m.Label, room)
	}
	if m.Failed {
		var cross path
		cross.add("M", middle-5, y-5).add("l", 10, 10).add("m", 0, -10).add("l", -10, 10)
		p.shape("path", "cross", "d", cross.String())
	}
}

// offset formats a duration of less than a minute in seconds with milliseconds, and a longer one in minutes and seconds.
func offset(d time.Duration) string {
	if d < time.Minute && d > -time.Minute {
		return fmt.Sprintf("%.3f s", d.Seconds())
	}
	return minutes(d)
}

// minutes formats a duration in minutes and seconds.
func minutes(d time.Duration) string {
	s := int64(d / time.Second)
	return fmt.Sprintf("%d:%02d", s/60, max(s%60, -(s%60)))
}
