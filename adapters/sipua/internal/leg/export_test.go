package leg

import (
	trunk "github.com/callwright/callwright/sip"
	"github.com/callwright/callwright/sip/dialog"
)

// InOrder adds the requests of a dialog to an inbox, in the order of cseqs. A CSeq of 0 means the ACK of the INVITE with CSeq 1. InOrder
// returns the CSeqs of the requests that are delivered immediately, and of those that are delivered after the wait for missing ones. It
// omits ACKs.
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

// Digits exports digits for tests.
type Digits = digits

// NewDigits returns the digits of a leg whose trunk has the given mode.
func NewDigits(mode trunk.DTMFMode) *Digits { return &digits{mode: mode} }

// Press exports press for tests.
func (d *digits) Press(digit byte) { d.press(digit) }

// Frame exports frame for tests.
func (d *digits) Frame(event byte, pcm []int16, rate int) byte { return d.frame(event, pcm, rate) }
