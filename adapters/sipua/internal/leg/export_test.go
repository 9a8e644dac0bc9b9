package leg

import "github.com/callwright/callwright/sip/dialog"

// InOrder gives the requests of a dialog to an inbox, in the order of cseqs; 0 stands for the ACK of the INVITE with CSeq
// 1. It returns them in the order in which they are delivered: at once, and after waiting for what never came.
func InOrder(cseqs []uint32) (atOnce, late []uint32) {
	b := inbox{last: 1, ackDue: true}
	deliver := func(to []uint32, arrivals []arrival) []uint32 {
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
		atOnce = deliver(atOnce, b.add(arrival{ev: ev}))
	}
	return atOnce, deliver(nil, b.overdue())
}
