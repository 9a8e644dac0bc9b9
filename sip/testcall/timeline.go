package testcall

import (
	"fmt"
	"strings"
	"time"
	"unicode"

	"github.com/callwright/callwright/sip/ladder"
)

// The limits of a timeline. The end of the call is added even to a full timeline.
const (
	maxSteps  = 100
	maxDetail = 300 // characters
)

// results maps the final statuses to results.
var results = map[Status]Result{
	Completed: Connected, Failed: ResultFailed, Busy: ResultBusy, NoAnswer: ResultNoAnswer,
}

// stepOf converts an event of the call's ladder to a step. ok is false if the event has no step.
func stepOf(e ladder.Event) (step Event, ok bool) {
	step = Event{At: e.At.UTC().Truncate(time.Microsecond), Detail: fmt.Sprintf("SIP %d", e.Status)}
	switch {
	case e.Retransmit, e.Note == ladder.NoteEnded: // finish adds the step for NoteEnded
		return Event{}, false
	case e.Note != "":
		step.Name, step.Detail = e.Note, e.Detail
		if e.Transport != "" && !strings.Contains(e.Detail, e.Transport) {
			step.Detail = strings.TrimSuffix(e.Transport+", "+e.Detail, ", ")
		}
	case e.Sent || e.Method != "INVITE" || e.Status == 0:
		return Event{}, false
	case e.Status == 100:
		step.Name = "trying"
	case e.Status == 180:
		step.Name = "ringing"
	case e.Status < 200:
		step.Name = "progress"
	case e.Status < 300: // answered adds the step for a 2xx
		return Event{}, false
	case e.Status == 401, e.Status == 407:
		step.Name = "challenged"
	default:
		step.Name = "refused"
	}
	return step, true
}

// add appends a step and reports whether it did. It skips a step that equals the last one, and every step if the timeline is full. The step
// "ringing" also changes the status Initiated to Ringing.
func (c *Call) add(step Event) bool {
	step.Name, step.Detail = printable(step.Name), printable(step.Detail)
	last := len(c.Timeline) - 1
	if last >= 0 && c.Timeline[last].Name == step.Name && c.Timeline[last].Detail == step.Detail || last+1 >= maxSteps {
		return false
	}
	if step.Name == "ringing" && c.Status == Initiated {
		c.Status = Ringing
	}
	c.Timeline = append(c.Timeline, step)
	return true
}

// finish sets the final status and result, and appends the last step: "completed" or "failed".
func (c *Call) finish(status Status, detail string, at time.Time) {
	c.Status, c.Result, c.EndedAt = status, results[status], &at
	name := "failed"
	if status == Completed {
		name = "completed"
	}
	c.Timeline = append(c.Timeline, Event{Name: name, At: at, Detail: printable(detail)})
}

// printable replaces invalid and unprintable characters with spaces, and truncates the text to maxDetail characters.
func printable(text string) string {
	text = strings.Map(func(r rune) rune {
		if !unicode.IsPrint(r) {
			return ' '
		}
		return r
	}, strings.ToValidUTF8(text, " "))
	if runes := []rune(text); len(runes) > maxDetail {
		text = string(runes[:maxDetail])
	}
	return text
}

// Duration returns the time from the answer to the end of the call, or to now if the call has not ended. It returns 0 if the call was not
// answered.
func (c *Call) Duration(now time.Time) time.Duration {
	if c.AnsweredAt == nil {
		return 0
	}
	if c.EndedAt != nil {
		now = *c.EndedAt
	}
	return max(0, now.Sub(*c.AnsweredAt))
}
