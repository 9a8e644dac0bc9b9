package leg

import (
	"slices"
	"time"

	"github.com/emiago/sipgo/sip"

	"github.com/callwright/callwright/adapters/sipua/internal/transport"
	"github.com/callwright/callwright/sip/dialog"
)

// reorderWait is the longest time that a request waits for one that the peer sent before it. Over TLS both have arrived, in two
// goroutines of sipgo; but a peer may also skip a CSeq, or leave out the ACK.
const reorderWait = 50 * time.Millisecond

// arrival is a request with its transaction.
type arrival struct {
	req *sip.Request
	tx  *transport.ServerTx
	ev  dialog.Request
}

// inbox restores the order in which the peer has sent a dialog's requests: by CSeq, and none before an expected ACK.
type inbox struct {
	last    uint32 // highest CSeq delivered; 0: none yet
	ackDue  bool   // our 2xx waits for its ACK
	waiting []arrival
}

// add takes a request, and returns the requests that may be handled now.
func (b *inbox) add(a arrival) []arrival {
	if a.ev.Method == dialog.ACK {
		b.ackDue = false
		return append([]arrival{a}, b.due()...)
	}
	b.waiting = append(b.waiting, a)
	slices.SortStableFunc(b.waiting, func(x, y arrival) int { return int(int64(x.ev.CSeq) - int64(y.ev.CSeq)) })
	return b.due()
}

// skip counts a request that was answered without the leg.
func (b *inbox) skip(cseq uint32) []arrival {
	if b.last != 0 && cseq == b.last+1 {
		b.last = cseq
	}
	return b.due()
}

// due returns the waiting requests that miss no predecessor.
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

// overdue returns all waiting requests, and stops waiting for an ACK when there are none.
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
