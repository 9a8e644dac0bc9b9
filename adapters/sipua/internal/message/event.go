package message

import (
	"github.com/emiago/sipgo/sip"

	"github.com/callwright/callwright/sip/ladder"
)

// Event returns what a ladder shows of a message: no credentials and no keys, and a summary of the body.
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
	kind := ""
	if types := msg.GetHeaders("Content-Type"); len(types) > 0 {
		kind = types[0].Value()
	}
	e.Body = ladder.Describe(kind, msg.Body())
	return e
}
