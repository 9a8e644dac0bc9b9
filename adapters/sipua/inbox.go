package sipua

import (
	"slices"
	"time"

	"github.com/emiago/sipgo/sip"

	"github.com/callwright/callwright/sip/dialog"
)

// patience is how long a request waits for one that the peer sent before it. Over TLS both are here already, in two
// goroutines of sipgo; but a peer may also skip a CSeq, or leave the ACK out.
const patience = 50 * time.Millisecond

// arrival is a request with its transaction.
type arrival struct {
	req *sip.Request
	tx  *sip.ServerTx
	ev  dialog.Request
}

// inbox puts the requests of a dialog back into the order in which the peer sent them: by CSeq, and none before the ACK
// that is due.
type inbox struct {
	last    uint32 // highest CSeq handed on; 0: none yet
	ackDue  bool   // our 2xx waits for its ACK
	waiting []arrival
}

// add takes a request in and gives those that may be handled now.
func (b *inbox) add(a arrival) []arrival {
	if a.ev.Method == dialog.ACK {
		b.ackDue = false
		return append([]arrival{a}, b.due()...)
	}
	b.waiting = append(b.waiting, a)
	slices.SortStableFunc(b.waiting, func(x, y arrival) int { return int(int64(x.ev.CSeq) - int64(y.ev.CSeq)) })
	return b.due()
}

// skip counts a request that was answered elsewhere.
func (b *inbox) skip(cseq uint32) []arrival {
	if b.last != 0 && cseq == b.last+1 {
		b.last = cseq
	}
	return b.due()
}

// due are the waiting requests that nothing is missing before.
func (b *inbox) due() []arrival {
	var now []arrival
	for len(b.waiting) > 0 {
		next := b.waiting[0]
		if b.ackDue || b.last != 0 && next.ev.CSeq > b.last+1 {
			break
		}
		now = append(now, b.take())
	}
	return now
}

// overdue gives up waiting, for an ACK too.
func (b *inbox) overdue() []arrival {
	var now []arrival
	b.ackDue = b.ackDue && len(b.waiting) == 0
	for len(b.waiting) > 0 {
		now = append(now, b.take())
	}
	return now
}

func (b *inbox) take() arrival {
	next := b.waiting[0]
	b.waiting = b.waiting[1:]
	b.last = max(b.last, next.ev.CSeq)
	return next
}
