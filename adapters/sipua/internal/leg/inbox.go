package leg

import (
	"slices"
	"time"

	"github.com/emiago/sipgo/sip"

	"github.com/callwright/callwright/adapters/sipua/internal/transport"
	"github.com/callwright/callwright/sip/dialog"
)

// reorderWait is the maximum time that a request waits for an earlier one. Over TLS the earlier request has usually arrived, in another
// goroutine of sipgo. But a peer may also skip a CSeq or omit the ACK.
const reorderWait = 50 * time.Millisecond

// arrival is a request with its transaction.
type arrival struct {
	req *sip.Request
	tx  *transport.ServerTx
	ev  dialog.Request
}

// inbox restores the order in which the peer has sent the requests of a dialog. It delivers them by CSeq, and none before an expected ACK.
type inbox struct {
	last    uint32 // highest delivered CSeq; 0 before the first one
	ackDue  bool   // an ACK of our 2xx is expected
	waiting []arrival
}

// add adds a request, and returns the requests that may now be handled, in order.
func (b *inbox) add(a arrival) []arrival {
	if a.ev.Method == dialog.ACK {
		b.ackDue = false
		return append([]arrival{a}, b.due()...)
	}
	b.waiting = append(b.waiting, a)
	slices.SortStableFunc(b.waiting, func(x, y arrival) int { return int(int64(x.ev.CSeq) - int64(y.ev.CSeq)) })
	return b.due()
}

// skip counts a request that was answered without the inbox. It returns the requests that may now be handled, in order.
func (b *inbox) skip(cseq uint32) []arrival {
	if b.last != 0 && cseq == b.last+1 {
		b.last = cseq
	}
	return b.due()
}

// due removes and returns the waiting requests whose predecessors were delivered. It returns none while an ACK is expected.
func (b *inbox) due() []arrival {
	var now []arrival
	for len(b.waiting) > 0 {
		next := b.waiting[0]
		if b.ackDue || b.last != 0 && next.ev.CSeq > b.last+1 {
			break
		}
		now = append(now, b.next())
	}
	return now
}

// overdue removes and returns all waiting requests. If there are any, it no longer expects an ACK.
func (b *inbox) overdue() []arrival {
	var now []arrival
	b.ackDue = b.ackDue && len(b.waiting) == 0
	for len(b.waiting) > 0 {
		now = append(now, b.next())
	}
	return now
}

func (b *inbox) next() arrival {
	next := b.waiting[0]
	b.waiting = b.waiting[1:]
	b.last = max(b.last, next.ev.CSeq)
	return next
}
