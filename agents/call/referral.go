package call

import (
	"sync"
	"time"
)

// peerTransfer is the last successful transfer by the other side.
type peerTransfer struct {
	to string
	at time.Time
}

// followTransfers writes the transfers by the other side into the record until stop is called. Meanwhile the conversation continues with
// the leg's new far end.
func followTransfers(leg Leg, book *recordWriter) (stop func()) {
	t, ok := leg.(Transferable)
	if !ok {
		return func() {}
	}
	over, done := make(chan struct{}), make(chan struct{})
	go func() {
		defer close(done)
		for {
			select {
			case e := <-t.Transfers():
				book.transferredByPeer(e)
			case <-over:
				for len(t.Transfers()) > 0 { // no other goroutine receives from the channel
					book.transferredByPeer(<-t.Transfers())
				}
				return
			}
		}
	}()
	return sync.OnceFunc(func() {
		close(over)
		<-done
	})
}

// transferredByPeer writes a transfer that the other side attempted into the transcript and the notices and, if the transfer succeeded,
// into the record.
func (b *recordWriter) transferredByPeer(e PeerTransfer) {
	at, to := b.clock.Now(), e.To.String()
	text := "was transferred to " + to + " by the other side"
	if e.Failure != nil {
		text = "the other side tried to transfer the call to " + to + ", which failed: " + e.Failure.Error()
	}
	b.mu.Lock()
	if e.Failure == nil {
		b.moved = peerTransfer{to, at}
	}
	b.now = b.moved.record(b.now)
	now := b.now
	b.mu.Unlock()
	b.notice(EventsCall, EventInfo, text)
	b.observed.add(Observation{What: ObservedTransfer, At: at, Call: now, To: to})
	start := time.Duration(0)
	if now.StartedAt != nil {
		start = at.Sub(*now.StartedAt)
	}
	b.line(Entry{Speaker: SpeakerAction, Text: text, Start: start, End: start})
}

// record returns the record of a call with the transfer. A transfer by the agent takes precedence, because it happened later and ended the
// call.
func (h peerTransfer) record(c Call) Call {
	if h.to != "" && c.TransferredBy != TransferredByAgent {
		c.TransferredTo, c.TransferredAt, c.TransferredBy = h.to, &h.at, TransferredByPeer
	}
	return c
}

// transferred returns the record of a call with the last successful transfer by the other side.
func (b *recordWriter) transferred(c Call) Call {
	b.mu.Lock()
	defer b.mu.Unlock()
	return b.moved.record(c)
}
