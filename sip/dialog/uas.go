package dialog

import (
	"slices"
	"time"
)

// known lists the option tags that we accept in a Require header.
var known = []string{"timer"}

// Unsupported returns the option tags of a Require header that we do not support. require must be in lower case.
func Unsupported(require []string) []string {
	var tags []string
	for _, tag := range require {
		if !slices.Contains(known, tag) {
			tags = append(tags, tag)
		}
	}
	return tags
}

// incoming handles the initial INVITE. It refuses an unsupported extension and a session interval below MinSE. Otherwise it sends 100
// immediately, because the owner's decision may take time.
func (c *Call) incoming(ev Event) {
	in := ev.(Incoming)
	r := in.Request
	c.remoteTag, c.target, c.routes, c.remoteSeq = r.RemoteTag, r.Contact, r.Routes, r.CSeq
	c.reinviteSeq, c.offerless, c.granted = r.CSeq, !r.Body, grant(r.Session)
	if c.refuseExtensions(r) {
		c.end(Ending{Cause: NotAcceptable, Status: 420, Reason: "a required extension is not supported"})
		return
	}
	if tooBrief(r.Session) {
		c.emit(Respond{Method: INVITE, CSeq: r.CSeq, Status: 422, Session: Session{MinSE: MinSE}})
		c.end(Ending{Cause: NotAcceptable, Status: 422, Reason: "the session interval is too small"})
		return
	}
	c.phase = Offered
	c.respond(r, 100)
	if in.Ring > 0 {
		c.arm(TimerRing, in.Ring)
	}
}

// refuseExtensions answers a request that requires unsupported extensions with 420, and reports whether it did. It accepts every CANCEL
// (RFC 3261, section 8.2.2.3).
func (c *Call) refuseExtensions(r Request) bool {
	tags := Unsupported(r.Require)
	if len(tags) == 0 || r.Method == CANCEL {
		return false
	}
	c.emit(Respond{Method: r.Method, CSeq: r.CSeq, Status: 420, Unsupported: tags})
	return true
}

func (c *Call) ring(Event) {
	if !c.rang {
		c.rang = true
		c.emit(Respond{Method: INVITE, CSeq: c.reinviteSeq, Status: 180})
	}
}

func (c *Call) answer(Event) {
	c.phase, c.last = Answered, 200
	c.disarm(TimerRing)
	c.accept(c.reinviteSeq)
}

// accept sends our 2xx to an INVITE. The 2xx is retransmitted until the ACK arrives (RFC 3261, section 13.3.1.4).
func (c *Call) accept(cseq uint32) {
	c.unacked, c.interval = cseq, c.config.T1
	c.emit(c.success(false))
	c.arm(TimerRetransmit, c.interval)
	c.arm(TimerACK, 64*c.config.T1)
}

func (c *Call) success(again bool) Respond {
	body := Reply
	if c.offerless {
		body = Offer
	}
	return Respond{Method: INVITE, CSeq: c.unacked, Status: 200, Body: body, Session: c.granted, Again: again}
}

func (c *Call) reject(ev Event) {
	r := ev.(Reject)
	c.emit(Respond{
		Method: INVITE, CSeq: c.reinviteSeq, Status: r.Status, Warning: r.Warning, RetryAfter: r.RetryAfter,
	})
	c.end(Ending{Cause: r.Cause, Status: r.Status, Reason: r.Reason})
}

func (c *Call) declineOffer(ev Event) {
	h := ev.(Hangup)
	c.unavailable(Ending{Cause: h.Cause, Status: 480, Reason: h.Reason})
}

func (c *Call) offerTimeout(ev Event) {
	if ev.(Fired).Timer == TimerRing {
		c.unavailable(Ending{Cause: NoAnswer, Status: 480, Reason: "nobody answered in time"})
	}
}

func (c *Call) unavailable(why Ending) {
	c.emit(Respond{Method: INVITE, CSeq: c.reinviteSeq, Status: 480})
	c.end(why)
}

// cancelledByPeer handles CANCEL, or BYE before the answer: it answers this request first, and then the INVITE (RFC 3261, section 9.2).
func (c *Call) cancelledByPeer(ev Event) {
	r := ev.(Request)
	c.respond(r, 200)
	c.emit(Respond{Method: INVITE, CSeq: c.reinviteSeq, Status: 487})
	c.end(Ending{Cause: Cancelled, Status: 487, Reason: "the caller gave up", ByPeer: true, Release: r.Release})
}

func (c *Call) byeBeforeAnswer(ev Event) { c.cancelledByPeer(ev) }

// pending refuses a second INVITE that arrives before the final response to the first one.
func (c *Call) pending(ev Event) {
	r := ev.(Request)
	c.inOrder(r, func() { c.retryLater(r) })
}

// retryLater answers an INVITE with 500, because an earlier one of the peer has no final response yet (RFC 3261, section 14.2). Status 491
// would mean that an INVITE of ours is in progress.
func (c *Call) retryLater(r Request) {
	const longest = 10 // seconds
	c.emit(Respond{Method: INVITE, CSeq: r.CSeq, Status: 500, RetryAfter: time.Duration(1+c.random(longest)) * time.Second})
}

// undelivered ends the call, because its INVITE was canceled or its connection is lost.
func (c *Call) undelivered(ev Event) {
	if u := ev.(Undelivered); u.Cancelled {
		c.end(Ending{Cause: Cancelled, Status: 487, Reason: "the caller gave up", ByPeer: true, Release: u.Release})
		return
	}
	c.end(Ending{Cause: Unreachable, Reason: "the caller's connection was lost", ByPeer: true})
}

// confirmed handles the ACK to the 2xx that answers the call.
func (c *Call) confirmed(ev Event) {
	r := ev.(Request)
	if r.CSeq != c.unacked {
		return
	}
	c.establish(r.Body)
}

func (c *Call) establish(answer bool) {
	c.disarm(TimerRetransmit, TimerACK)
	c.unacked, c.phase = 0, Active
	switch {
	case c.wantBye:
		c.bye(c.ending)
	case c.offerless && !answer:
		c.bye(Ending{Cause: NotAcceptable, Reason: "the ACK has no answer to our offer"})
	default:
		c.emit(Established{})
		c.agree(c.granted, UAS)
	}
}

// overtaking handles a request that arrives before the ACK. The peer sent the ACK first, so the request normally implies it. If the ACK
// must contain the answer, the peer is told to retry, unless the request is a BYE.
func (c *Call) overtaking(ev Event) {
	r := ev.(Request)
	if c.offerless && r.Method != BYE {
		c.respond(r, 491)
		return
	}
	c.offerless = false
	c.establish(true)
	c.replay = true
}

// byeWhenConfirmed delays BYE until the ACK arrives, because the callee must not send it earlier (RFC 3261, section 15).
func (c *Call) byeWhenConfirmed(ev Event) {
	h := ev.(Hangup)
	c.wantBye, c.ending = true, Ending{Cause: h.Cause, Reason: h.Reason}
	c.stopMedia()
}

func (c *Call) answeredTimer(ev Event) { c.ackTimer(ev.(Fired).Timer) }

// ackTimer retransmits our 2xx, or ends the call if the ACK is overdue.
func (c *Call) ackTimer(t Timer) {
	switch {
	case c.unacked == 0:
	case t == TimerRetransmit:
		c.interval = min(2*c.interval, c.config.T2)
		c.emit(c.success(true))
		c.arm(TimerRetransmit, c.interval)
	case t == TimerACK:
		c.bye(Ending{Cause: NoACK, Reason: "no ACK of our answer arrived"})
	}
}
