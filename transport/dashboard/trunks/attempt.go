package trunks

import (
	"context"
	"html/template"
	"strconv"
	"time"

	"github.com/callwright/callwright"
	"github.com/callwright/callwright/sip/calllog"
	"github.com/callwright/callwright/sip/ladder"
	"github.com/callwright/callwright/transport/dashboard/chart"
	"github.com/callwright/callwright/transport/dashboard/page"
)

// attempt is the page of one attempt at a call.
type attempt struct {
	Record calllog.Record
	Ladder template.HTML
	Steps  []step
	Now    time.Time
}

// step is a message of the ladder, or a note between messages.
type step struct {
	ID, Label string
	Failed    bool
	ladder.Event
}

// attempt shows an attempt with its messages. The attempts of another number are not found.
func (p pages) attempt(ctx context.Context, r *page.Request) (page.Answer, error) {
	n, err := number(r)
	if err != nil {
		return nil, err
	}
	record, events, err := p.cfg.Calls.Get(ctx, r.Org(), r.PathValue("id"))
	if err != nil {
		return nil, err
	}
	if record.Number != n {
		return nil, callwright.NotFound("call")
	}
	data := attempt{Record: record, Now: p.now()}
	for i, e := range events {
		data.Steps = append(data.Steps, stepOf(i, e))
	}
	data.Ladder = draw(data.Steps, peer(record))
	v := &page.View{Page: "attempt", Title: "Call over " + n.String(), Data: data}
	if record.EndedAt == nil {
		v.Live = []string{"attempt"}
	}
	return v, nil
}

// peer returns the name of the other side of an attempt.
func peer(r calllog.Record) string {
	switch {
	case r.Server != "":
		return r.Server
	case r.Source != "":
		return r.Source
	}
	return "peer"
}

// stepOf returns a step with the label of its arrow.
func stepOf(i int, e ladder.Event) step {
	s := step{ID: "step-" + strconv.Itoa(i), Event: e}
	switch {
	case e.Note != "":
		s.Label, s.Failed = e.Note, e.Note == ladder.NoteUnresolved || e.Note == ladder.NoteUnconnected
	case e.Status == 0:
		s.Label = e.Method
	default:
		s.Label, s.Failed = strconv.Itoa(e.Status)+" "+e.Reason, e.Status >= 400
	}
	if e.Retransmit {
		s.Label += " (again)"
	}
	return s
}

// draw draws the steps between this server and a peer.
func draw(steps []step, peer string) template.HTML {
	if len(steps) == 0 {
		return ""
	}
	l := chart.Ladder{ID: "ladder", Title: "Messages of the call", Participants: []string{"this server", peer}}
	for _, s := range steps {
		m := chart.Message{At: s.At.Sub(steps[0].At), Label: s.Label, Failed: s.Failed, Href: "#" + s.ID}
		switch {
		case s.Note != "":
		case s.Sent:
			m.To = 1
		default:
			m.From = 1
		}
		l.Messages = append(l.Messages, m)
	}
	return l.SVG()
}
