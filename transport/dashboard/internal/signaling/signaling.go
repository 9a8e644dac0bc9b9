// Package signaling shows the SIP messages of call attempts.
package signaling

import (
	"fmt"
	"html/template"
	"strings"

	"github.com/callwright/callwright/sip/calllog"
	"github.com/callwright/callwright/sip/ladder"
	"github.com/callwright/callwright/transport/dashboard/internal/chart"
)

// Text returns a short description of a step: its note, or else its status and method, or only its method. Except for a note, it marks
// retransmissions.
func Text(e ladder.Event) string {
	text := e.Method
	switch {
	case e.Note != "":
		return e.Note
	case e.Status != 0:
		text = strings.TrimSpace(fmt.Sprint(e.Status, " ", e.Reason)) + " (" + e.Method + ")"
	}
	if e.Retransmit {
		text += " (retransmission)"
	}
	return text
}

// Failed reports whether a step is a refusal or a failure. A challenge for credentials (401, 407) is neither.
func Failed(e ladder.Event) bool {
	switch e.Note {
	case ladder.NoteUnresolved, ladder.NoteUnconnected:
		return true
	}
	return e.Status >= 400 && e.Status != 401 && e.Status != 407
}

// Ladder draws the ladder diagram of an attempt as SVG. id is the picture's id. Message i links to the element with the id step(i).
func Ladder(id, title string, a calllog.Attempt, step func(i int) string) template.HTML {
	picture := chart.Ladder{ID: id, Title: title, Participants: []string{"Callwright", peer(a.Record)}}
	for i, e := range a.Ladder {
		m := chart.Message{To: 1, At: e.At.Sub(a.Ladder[0].At), Label: Text(e), Failed: Failed(e), Href: "#" + step(i)}
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

// peer returns the name of an attempt's other side: the server, the source, or "Peer".
func peer(r calllog.Record) string {
	switch {
	case r.Server != "":
		return r.Server
	case r.Source != "":
		return r.Source
	}
	return "Peer"
}
