package calls

import (
	"fmt"
	"html/template"
	"slices"
	"strconv"
	"time"

	"github.com/callwright/callwright"
	"github.com/callwright/callwright/agents/call"
	"github.com/callwright/callwright/agents/conversation"
	"github.com/callwright/callwright/transport/dashboard/internal/chart"
	"github.com/callwright/callwright/transport/dashboard/internal/page"
)

// lanes is the picture of a page's lines over time, with links to other durations of its rows.
type lanes struct {
	Picture template.HTML // empty without lines
	Rows    []rowLink
}

// rowLink is a link to the picture with rows of another duration.
type rowLink struct {
	Name, Query string
	Shown       bool
}

// rowLengths lists the possible durations of a row.
var rowLengths = []struct {
	name   string
	length time.Duration
}{
	{"10 seconds", 10 * time.Second}, {"30 seconds", 30 * time.Second}, {"1 minute", time.Minute}, {"5 minutes", 5 * time.Minute},
}

// lanesOf draws lines. The query parameter "row" selects the duration of a row in seconds. Without it a row is 30 seconds long, or a minute
// if the lines span more than 4 minutes.
func lanesOf(r *page.Request, lines []call.Entry) lanes {
	if len(lines) == 0 {
		return lanes{}
	}
	row := 30 * time.Second
	if lines[len(lines)-1].End-lines[0].Start > 4*time.Minute {
		row = time.Minute
	}
	for _, l := range rowLengths {
		if r.Query("row") == strconv.Itoa(int(l.length.Seconds())) {
			row = l.length
		}
	}
	picture := chart.Lanes{ID: "lanes", Title: "Conversation over time", Names: [2]string{"Other side", "Agent"}, Row: row}
	numbered := slices.ContainsFunc(lines, func(e call.Entry) bool { return e.Turn > 0 })
	for _, e := range lines {
		u := utterance(e)
		if numbered && e.Turn == 0 && e.Speaker == call.SpeakerUser {
			u.Shape = chart.LaneAside
		}
		picture.Utterances = append(picture.Utterances, u)
	}
	drawn := lanes{Picture: picture.SVG()}
	for _, l := range rowLengths {
		drawn.Rows = append(drawn.Rows, rowLink{
			Name: l.name, Query: r.With("row", strconv.Itoa(int(l.length.Seconds()))) + "#lanes-rows", Shown: l.length == row,
		})
	}
	return drawn
}

// utterance returns the picture of a line.
func utterance(e call.Entry) chart.Utterance {
	u := chart.Utterance{Shape: chart.LaneWords, Start: e.Start, End: max(e.Start, e.End), Text: callwright.Clip(e.Words(), 200), Href: lineAnchor(e.Seq)}
	if e.Speaker != call.SpeakerUser {
		u.Lane = 1
	}
	if e.Speaker == call.SpeakerAction {
		u.Shape = chart.LaneAction
	}
	if e.Unrecognized != "" {
		u.Marks = append(u.Marks, chart.Mark{Kind: chart.MarkFailure, Start: u.Start, Note: unrecognizedText(e.Unrecognized)})
	}
	if e.Waited > 0 {
		u.Marks = append(u.Marks, chart.Mark{
			Kind: chart.MarkWait, Start: e.End, End: e.End + e.Waited, Note: "the turn was over after " + waitText(e),
		})
	}
	if l := e.Latency; l.Playing > l.EndOfTurn && l.EndOfTurn > 0 {
		last := e.Start - l.Playing // the other side's last voiced sample
		u.Marks = append(u.Marks, chart.Mark{
			Kind: chart.MarkThought, Start: last + l.EndOfTurn, End: e.Start, Note: "answered " + page.Duration(l.Playing) + " after the last word",
		})
	}
	for _, b := range e.Begun {
		m := chart.Mark{Kind: chart.MarkBegun, Start: b.At, Note: "begun early at " + clock(b.At)}
		if !b.Used {
			m.Kind, m.Note = chart.MarkWithdrawn, fmt.Sprintf("begun early at %s and withdrawn: %s", clock(b.At), begunText(b.Why))
		}
		u.Marks = append(u.Marks, m)
	}
	for _, h := range e.Holds {
		u.Marks = append(u.Marks, chart.Mark{Kind: chart.MarkHold, Start: h.Start, End: h.Start + h.Length, Note: holdText(h)})
	}
	if e.Interrupted {
		u.Marks = append(u.Marks, chart.Mark{Kind: chart.MarkCut, Start: u.End, Note: "interrupted at " + clock(u.End)})
	}
	return u
}

// waitText describes how long the silence after a line was, and why.
func waitText(e call.Entry) string {
	text := page.Duration(e.Waited)
	if e.WaitedFor != "" {
		text += ": " + reasonText(e.WaitedFor)
	}
	return text
}

// holdText describes a pause of the agent.
func holdText(h conversation.Hold) string {
	return fmt.Sprintf("held at %s for %s: %s", clock(h.Start), page.Duration(h.Length), heldText(h.Why))
}

// begunText describes why an early answer was withdrawn.
func begunText(why conversation.BegunReason) string {
	switch why {
	case conversation.BegunContinued:
		return "the other side continued to speak"
	case conversation.BegunRevised:
		return "the words were recognized differently"
	}
	return string(why)
}
