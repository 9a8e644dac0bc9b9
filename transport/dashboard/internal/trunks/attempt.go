package trunks

import (
	"context"
	"html/template"
	"strconv"
	"time"

	"github.com/callwright/callwright"
	"github.com/callwright/callwright/sip/calllog"
	"github.com/callwright/callwright/transport/dashboard/internal/page"
	"github.com/callwright/callwright/transport/dashboard/internal/signaling"
)

// attempt holds the data of the page of a call attempt.
type attempt struct {
	calllog.Attempt
	Now time.Time
}

// attempt shows a call attempt with its SIP messages. An attempt of another number causes CodeNotFound.
func (p pages) attempt(ctx context.Context, r *page.Request) (page.Answer, error) {
	n, err := number(r)
	if err != nil {
		return nil, err
	}
	record, events, err := p.cfg.CallLog.Get(ctx, r.Org(), r.PathValue("id"))
	if err != nil {
		return nil, err
	}
	if record.Number != n {
		return nil, callwright.NotFound("call")
	}
	data := attempt{Attempt: calllog.Attempt{Record: record, Ladder: events}, Now: p.now()}
	v := &page.View{Page: "attempt", Title: "Call over " + n.String(), Data: data}
	if record.EndedAt == nil {
		v.Live = []string{"attempt"}
	}
	return v, nil
}

// Step returns the id of the element that shows step i of the ladder.
func (attempt) Step(i int) string { return "step-" + strconv.Itoa(i) }

// Picture draws the ladder. Its messages link to their steps.
func (a attempt) Picture() template.HTML {
	return signaling.Ladder("ladder", "Messages of the call", a.Attempt, a.Step)
}
