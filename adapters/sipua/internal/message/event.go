package message

import (
	"strings"

	"github.com/emiago/sipgo/sip"

	"github.com/callwright/callwright/sip/ladder"
)

// Event returns the ladder entry of a message. The entry contains neither credentials nor keys, and only a summary of the body.
func Event(msg sip.Message) ladder.Event {
	var e ladder.Event
	switch m := msg.(type) {
	case *sip.Request:
		e.Method = string(m.Method)
	case *sip.Response:
		e.Status, e.Reason = m.StatusCode, m.Reason
	}
	if cseq := msg.CSeq(); cseq != nil {
		e.Method, e.CSeq = string(cseq.MethodName), cseq.SeqNo
	}
	if via := msg.Via(); via != nil {
		e.Branch = via.Params.GetOr("branch", "")
	}
	e.Body = summary(msg)
	if reason := Release(msg); reason != "" {
		e.Detail = "Reason: " + reason
	}
	return e
}

// summary returns a summary of a message's body for a ladder. It describes the session description and the other parts.
func summary(msg sip.Message) string {
	body, _ := ReadBody(msg)
	if body.SDP == nil {
		return ladder.Describe(valueOf(msg, "Content-Type", "c"), msg.Body())
	}
	all := []string{ladder.Describe(SDP, body.SDP)}
	for _, part := range body.Parts {
		all = append(all, "with "+ladder.Describe(part.Type, part.Data))
	}
	return strings.Join(all, "; ")
}
