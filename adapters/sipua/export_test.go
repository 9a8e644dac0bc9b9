package sipua

import (
	"time"

	"github.com/emiago/sipgo/sip"

	trunk "github.com/callwright/callwright/sip"
	"github.com/callwright/callwright/sip/dialog"
	"github.com/callwright/callwright/sip/ladder"
)

// Hurry makes a user agent as impatient as tests are: how long a server may stay silent, and when no other one is tried
// any more.
func (u *UA) Hurry(patience, limit time.Duration) { u.patience, u.limit = patience, limit }

// Step is what a call's ladder shows of a message; false for what is none.
func Step(data []byte) (ladder.Event, bool) {
	msg, err := sip.ParseMessage(data)
	if err != nil {
		return ladder.Event{}, false
	}
	var r ladder.Recorder
	r.Add(stepOf(msg))
	return r.Events()[0], true
}

// Understand reads a message as the user agent does when it arrives: whether it is refused at once, and what the machine
// gets to see of it.
func Understand(data []byte) (ev dialog.Event, refused bool) {
	msg, err := sip.ParseMessage(data)
	if err != nil {
		return nil, true
	}
	_ = stepOf(msg)
	switch msg := msg.(type) {
	case *sip.Request:
		if check(msg) != nil {
			return nil, true
		}
		if msg.Method == sip.INVITE && checkInvite(msg) == nil {
			_, _ = calledNumber(msg)
			_, _ = callerOf(msg), customHeaders(msg)
		}
		return readRequest(msg), false
	case *sip.Response:
		if ch := strongest(msg); ch != nil {
			_ = ch.authorize(sip.NewRequest(sip.INVITE, sip.Uri{Host: "x"}), trunk.Credentials{Username: "u", Password: "p"})
		}
		return readResponse(dialog.INVITE, 1, msg), false
	default:
		return nil, true
	}
}

// InOrder gives the requests of a dialog to an inbox, in the order of cseqs; 0 stands for the ACK of the INVITE with CSeq
// 1. It returns them in the order in which they were handed on: at once, and after waiting for what never came.
func InOrder(cseqs []uint32) (atOnce, late []uint32) {
	b := inbox{last: 1, ackDue: true}
	hand := func(to []uint32, arrivals []arrival) []uint32 {
		for _, a := range arrivals {
			if a.ev.Method != dialog.ACK {
				to = append(to, a.ev.CSeq)
			}
		}
		return to
	}
	for _, n := range cseqs {
		ev := dialog.Request{Method: dialog.OPTIONS, CSeq: n}
		if n == 0 {
			ev.Method = dialog.ACK
		}
		atOnce = hand(atOnce, b.add(arrival{ev: ev}))
	}
	return atOnce, hand(nil, b.overdue())
}
