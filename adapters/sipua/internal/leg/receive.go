package leg

import (
	"errors"
	"net/netip"
	"time"

	"github.com/emiago/sipgo/sip"

	"github.com/callwright/callwright/adapters/sipua/internal/message"
	"github.com/callwright/callwright/adapters/sipua/internal/transport"
	"github.com/callwright/callwright/sip/dialog"
)

// Request passes an in-dialog request of the peer to the state machine, in the order of the CSeqs.
func (l *Leg) Request(req *sip.Request, tx *transport.ServerTx) {
	a := arrival{req: req, tx: tx, ev: message.ReadRequest(req)}
	l.mailbox.Post(func() {
		now := l.inbox.add(a)
		if len(l.inbox.waiting) > 0 {
			time.AfterFunc(reorderWait, func() { l.mailbox.Post(func() { l.deliver(l.inbox.overdue()) }) })
		}
		l.deliver(now)
	})
}

// Skip records an in-dialog request that was already answered, with the given status, before it reached the leg. Later requests then do not
// wait for it.
func (l *Leg) Skip(req *sip.Request, status int) {
	l.mailbox.Post(func() {
		l.replied(req, status)
		l.deliver(l.inbox.skip(req.CSeq().SeqNo))
	})
}

func (l *Leg) deliver(arrivals []arrival) {
	for _, a := range arrivals {
		if tag := l.machine.RemoteTag(); tag != "" && a.ev.RemoteTag != tag {
			if a.ev.Method != dialog.ACK {
				unknown := message.Refusal{Status: sip.StatusCallTransactionDoesNotExists}
				_ = a.tx.Respond(unknown.Response(a.req, l.id.Agent))
			}
			continue
		}
		if from, err := netip.ParseAddrPort(a.req.Source()); err == nil {
			l.flow.Follow(a.tx.Stack(), from)
		}
		l.received(a.req, false)
		switch a.ev.Method {
		case dialog.ACK:
			if l.success != nil && l.success.CSeq().SeqNo == a.ev.CSeq {
				l.success = nil
			}
			delete(l.open, requestKey{dialog.INVITE, a.ev.CSeq})
		default:
			l.open[requestKey{a.ev.Method, a.ev.CSeq}] = a
		}
		if a.ev.Body && (a.ev.Method == dialog.INVITE || a.ev.Method == dialog.ACK) {
			l.media.remoteSDP = message.Description(a.req)
		}
		l.apply(a.ev)
	}
}

// cancelledBy handles the caller's CANCEL. The transaction has already answered it (RFC 3261, 9.2).
func (l *Leg) cancelledBy(cancel *sip.Request) {
	l.mailbox.Post(func() {
		l.cancelled(cancel)
		l.apply(dialog.Undelivered{Cancelled: true, Release: message.Release(cancel)})
	})
}

// respond answers a request of the peer as the state machine demands.
func (l *Leg) respond(r dialog.Respond) {
	key := requestKey{r.Method, r.CSeq}
	a, ok := l.open[key]
	if !ok {
		return // the transaction has answered the request: it is a CANCEL or the canceled INVITE
	}
	if r.Again {
		if l.success != nil && a.tx.Respond(l.success) == nil {
			l.sent(l.success, true)
		}
		return
	}
	res := l.id.Response(a.req, r)
	if r.Body != dialog.NoBody {
		body, err := l.media.responded(r.Body)
		if err != nil {
			l.logger.Error("no session description", "error", err)
			res = message.Refusal{Status: sip.StatusInternalServerError}.Response(a.req, l.id.Agent)
		} else {
			message.AddSDP(res, body)
		}
	}
	success := r.Method == dialog.INVITE && res.IsSuccess()
	if success {
		l.success, l.inbox.ackDue = res, true
	}
	switch err := a.tx.Respond(res); {
	case err == nil:
		l.sent(res, false)
	case success:
		l.logger.Info("2xx not delivered", "error", err)
		l.success, l.inbox.ackDue = nil, false
		l.post(dialog.Undelivered{Cancelled: errors.Is(err, transport.ErrCanceled)})
	}
	if r.Status >= 200 && !success {
		delete(l.open, key)
	}
}
