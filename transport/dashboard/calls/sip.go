package calls

import (
	"context"
	"fmt"
	"html/template"
	"strings"

	"github.com/callwright/callwright/agents/call"
	"github.com/callwright/callwright/sip"
	"github.com/callwright/callwright/sip/calllog"
	"github.com/callwright/callwright/sip/ladder"
	"github.com/callwright/callwright/transport/dashboard/chart"
	"github.com/callwright/callwright/transport/dashboard/page"
)

// attempt is an attempt at a call, as the page of the call shows it.
type attempt struct {
	calllog.Attempt
	Number int // on the page, from 1
}

// attempts returns the attempts at a call.
func (p pages) attempts(ctx context.Context, r *page.Request, c call.Call) ([]attempt, error) {
	if p.cfg.Log == nil {
		return nil, nil
	}
	found, err := p.cfg.Log.Attempts(ctx, r.Org(), c.ID)
	all := make([]attempt, len(found))
	for i, a := range found {
		all[i] = attempt{a, i + 1}
	}
	return all, err
}

// Inbound reports whether the peer calls.
func (a attempt) Inbound() bool { return a.Direction == sip.Inbound }

// Step returns the id of the element that shows a step of the ladder.
func (a attempt) Step(i int) string { return fmt.Sprintf("sip-%d-%d", a.Number, i+1) }

// StepText returns a step in a few words.
func (attempt) StepText(e ladder.Event) string {
	text := e.Method
	switch {
	case e.Note != "":
		return e.Note
	case e.Status != 0:
		text = strings.TrimSpace(fmt.Sprint(e.Status, " ", e.Reason)) + " (" + e.Method + ")"
	}
	if e.Retransmit {
		text += ", again"
	}
	return text
}

// Picture draws the ladder. Its messages lead to their steps.
func (a attempt) Picture() template.HTML {
	picture := chart.Ladder{
		ID: fmt.Sprintf("ladder-%d", a.Number), Title: fmt.Sprintf("SIP messages of attempt %d", a.Number), Participants: []string{"Callwright", a.peer()},
	}
	for i, e := range a.Ladder {
		m := chart.Message{To: 1, At: e.At.Sub(a.Ladder[0].At), Label: a.StepText(e), Failed: failed(e), Href: "#" + a.Step(i)}
		switch {
		case e.Note != "":
			m.To = 0
		case !e.Sent:
			m.From, m.To = 1, 0
		}
		picture.Messages = append(picture.Messages, m)
	}
	return picture.SVG()
}

// peer returns the name of the other side.
func (a attempt) peer() string {
	if a.Server != "" {
		return a.Server
	}
	if a.Source != "" {
		return a.Source
	}
	return "Peer"
}

// failed reports whether a step is a refusal or a failure. A challenge for credentials is none.
func failed(e ladder.Event) bool {
	switch e.Note {
	case ladder.NoteUnresolved, ladder.NoteUnconnected:
		return true
	}
	return e.Status >= 400 && e.Status != 401 && e.Status != 407
}
