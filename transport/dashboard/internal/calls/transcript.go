package calls

import (
	"context"
	"slices"
	"strconv"
	"time"

	"github.com/callwright/callwright/agents/call"
	"github.com/callwright/callwright/agents/conversation"
	"github.com/callwright/callwright/agents/pathway"
	"github.com/callwright/callwright/transport/dashboard/internal/page"
)

// The elements of a page of a call's lists.
const (
	linesPage = 100
	turnsPage = 50
)

// lines is a page of a transcript, with the durations of its answers.
type lines struct {
	Part    part
	Lines   []call.Entry
	Answers []answer
}

// answer is a line of the agent and the time that its stages took.
type answer struct {
	Line   int
	At     time.Duration
	Stages []time.Duration // as stageNames; 0: was not reached
	Total  time.Duration   // until it was heard
}

// stageNames are the stages of an answer, each counted from the one before.
var stageNames = []string{"End of turn", "Recognition", "First sentence", "First audio", "Playing"}

// StageNames returns the headings of answers.
func (lines) StageNames() []string { return stageNames }

// lines reads a page of a transcript whose last line is known.
func (p pages) lines(ctx context.Context, r *page.Request, last int, ended bool) (l lines, err error) {
	if last == 0 {
		return l, nil
	}
	if l.Part, err = partOf(r, "lines", last, linesPage, ended); err != nil {
		return l, err
	}
	end := l.Part.Number * linesPage
	l.Lines, err = p.cfg.Calls.TranscriptBefore(ctx, r.Org(), r.PathValue("id"), end+1, linesPage)
	l.Lines = slices.DeleteFunc(l.Lines, func(e call.Entry) bool { return e.Seq <= end-linesPage }) // some may be missing on this page
	for _, e := range l.Lines {
		if e.Latency != (conversation.Latency{}) {
			l.Answers = append(l.Answers, answerOf(e))
		}
	}
	return l, err
}

// LinePath returns the path of a line of a call. seq is the number of the line, from 1.
func LinePath(id string, seq int) string {
	return page.Path("/calls", id) + "?lines=" + strconv.Itoa((seq-1)/linesPage+1) + lineAnchor(seq)
}

// answerOf returns the stages of an answer.
func answerOf(e call.Entry) answer {
	a := answer{Line: e.Seq, At: e.Start}
	for _, reached := range []time.Duration{
		e.Latency.EndOfTurn, e.Latency.Recognized, e.Latency.FirstStep, e.Latency.FirstAudio, e.Latency.Playing,
	} {
		a.Stages = append(a.Stages, max(0, reached-a.Total))
		a.Total = max(a.Total, reached)
	}
	return a
}

// Slowest returns the longest time of an answer on the page.
func (l lines) Slowest() (most time.Duration) {
	for _, a := range l.Answers {
		most = max(most, a.Total)
	}
	return most
}

// bar is a stage in the picture of an answer.
type bar struct{ X, Width, Colour int }

// barRoom is the width of the longest answer's bars.
const barRoom = 200

// Bars returns the stages as bars beside each other, in the scale of the slowest answer.
func (a answer) Bars(slowest time.Duration) (all []bar) {
	var from time.Duration
	for i, stage := range a.Stages {
		x, next := int(from*barRoom/slowest), int((from+stage)*barRoom/slowest)
		all = append(all, bar{x, next - x, i + 1})
		from += stage
	}
	return all
}

// turns is a page of the logs of a call.
type turns struct {
	Part  part
	Turns []pathway.Log
}

// turns reads a page of the logs, which begin with turn 0 and whose last turn is known.
func (p pages) turns(ctx context.Context, r *page.Request, last int, ended bool) (t turns, err error) {
	if last < 0 {
		return t, nil
	}
	if t.Part, err = partOf(r, "turns", last+1, turnsPage, ended); err != nil {
		return t, err
	}
	end := t.Part.Number * turnsPage
	t.Turns, err = p.cfg.Calls.LogsBefore(ctx, r.Org(), r.PathValue("id"), end, turnsPage)
	t.Turns = slices.DeleteFunc(t.Turns, func(l pathway.Log) bool { return l.Turn < end-turnsPage })
	return t, err
}
