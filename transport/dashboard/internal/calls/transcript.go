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

// The maximum numbers of lines and of turns on a page.
const (
	linesPage = 100
	turnsPage = 50
)

// lines is a page of a transcript, with the latencies of the agent's answers.
type lines struct {
	Part    part
	Lines   []call.Entry
	Answers []answer
	Summary call.Summary // of the whole transcript; zero for a running call whose transcript has several pages
}

// answer contains the latencies of a line of the agent.
type answer struct {
	Line   int
	At     time.Duration
	Stages []time.Duration // in the order of stageNames; 0 if a stage was not reached
	Total  time.Duration   // latency until the answer was played
}

// stageNames lists the stages of an answer. Each stage is measured from the end of the previous one.
var stageNames = []string{"End of turn", "Recognition", "First sentence", "First audio", "Playing"}

// StageNames returns the headings of the table of answers.
func (lines) StageNames() []string { return stageNames }

// lines returns a page of a transcript. last is the number of the transcript's last line, or 0 if it is empty.
func (p pages) lines(ctx context.Context, r *page.Request, last int, ended bool) (l lines, err error) {
	if last == 0 {
		return l, nil
	}
	if l.Part, err = partOf(r, "lines", last, linesPage, ended); err != nil {
		return l, err
	}
	end := l.Part.Number * linesPage
	l.Lines, err = p.cfg.Calls.TranscriptBefore(ctx, r.Org(), r.PathValue("id"), end+1, linesPage)
	l.Lines = slices.DeleteFunc(l.Lines, func(e call.Entry) bool { return e.Seq <= end-linesPage }) // lines of the page before
	for _, e := range l.Lines {
		if e.Latency != (conversation.Latency{}) {
			l.Answers = append(l.Answers, answerOf(e))
		}
	}
	whole := l.Lines
	if err == nil && last > linesPage {
		whole = nil
		if ended { // a live page would read all lines at every change
			_, whole, err = p.cfg.Calls.Get(ctx, r.Org(), r.PathValue("id"))
		}
	}
	l.Summary = call.Summarize(whole)
	return l, err
}

// quantile is a row of the table of quantiles.
type quantile struct {
	Name   string
	Stages []time.Duration // in the order of stageNames; 0 if no answer has reached a stage
}

// Quantiles returns the rows of the table of quantiles, or nil if the call has no answers to speech.
func (l lines) Quantiles() []quantile {
	if l.Summary.Latency.Answers == 0 {
		return nil
	}
	return []quantile{{"Median", stagesOf(l.Summary.Latency.P50)}, {"95th percentile", stagesOf(l.Summary.Latency.P95)}}
}

// stagesOf returns the times at which the stages were reached, in the order of stageNames.
func stagesOf(l conversation.Latency) []time.Duration {
	return []time.Duration{l.EndOfTurn, l.Recognized, l.FirstStep, l.FirstAudio, l.Playing}
}

// LinePath returns the path of a line in the page of a call. seq is the number of the line, starting at 1.
func LinePath(id string, seq int) string {
	return page.Path("/calls", id) + "?lines=" + strconv.Itoa((seq-1)/linesPage+1) + lineAnchor(seq)
}

// answerOf returns the latencies of a line by stage.
func answerOf(e call.Entry) answer {
	a := answer{Line: e.Seq, At: e.Start}
	for _, reached := range stagesOf(e.Latency) {
		a.Stages = append(a.Stages, max(0, reached-a.Total))
		a.Total = max(a.Total, reached)
	}
	return a
}

// Slowest returns the maximum Total of the answers on the page.
func (l lines) Slowest() (most time.Duration) {
	for _, a := range l.Answers {
		most = max(most, a.Total)
	}
	return most
}

// bar is the bar of one stage in the diagram of an answer.
type bar struct{ X, Width, Colour int }

// barRoom is the width of the slowest answer's bars, in pixels.
const barRoom = 200

// Bars returns the stages as adjacent bars, scaled so that the slowest answer has the width barRoom.
func (a answer) Bars(slowest time.Duration) (all []bar) {
	var from time.Duration
	for i, stage := range a.Stages {
		x, next := int(from*barRoom/slowest), int((from+stage)*barRoom/slowest)
		all = append(all, bar{x, next - x, i + 1})
		from += stage
	}
	return all
}

// turns is a page of a call's turn logs.
type turns struct {
	Part  part
	Turns []pathway.Log
}

// turns returns a page of the turn logs, which start at turn 0. last is the number of the last turn, or negative if there is none.
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
