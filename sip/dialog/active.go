package dialog

import "time"

// transferGrace is the time that the peer has to end a call after a successful transfer. Then we end the call.
const transferGrace = time.Second

func (c *Call) hangup(ev Event) {
	h := ev.(Hangup)
	c.bye(Ending{Cause: h.Cause, Reason: h.Reason})
}

// inOrder calls the function do if an in-dialog request is newer than the last one (RFC 3261, section 12.2.2) and requires no unsupported
// extension. It refuses other requests.
func (c *Call) inOrder(r Request, do func()) {
	if r.CSeq <= c.remoteSeq {
		c.respond(r, 500)
		return
	}
	c.remoteSeq = r.CSeq
	if !c.refuseExtensions(r) {
		do()
	}
}

func (c *Call) inOrderOK(ev Event) {
	r := ev.(Request)
	c.inOrder(r, func() { c.respond(r, 200) })
}

// byeByPeer handles the peer's BYE. If a re-INVITE of the peer is unanswered, it answers the re-INVITE with 487 (RFC 3261, section 15.1.2).
func (c *Call) byeByPeer(ev Event) {
	r := ev.(Request)
	c.inOrder(r, func() {
		c.respond(r, 200)
		if c.deciding {
			c.emit(Respond{Method: INVITE, CSeq: c.reinviteSeq, Status: 487})
			c.deciding = false
		}
		why := Ending{Cause: RemoteHangup, Status: 200, ByPeer: true, Release: r.Release}
		if c.transfer == transferred || c.referral == handedOver {
			why.Cause = TransferDone
		}
		c.end(why)
	})
}

// reinvited handles the peer's re-INVITE, which is a new offer, a session refresh, or both.
func (c *Call) reinvited(ev Event) {
	r := ev.(Request)
	c.inOrder(r, func() {
		switch {
		case c.deciding:
			c.retryLater(r)
			return
		case c.invite != 0:
			c.respond(r, 491)
			return
		case tooBrief(r.Session):
			c.emit(Respond{Method: INVITE, CSeq: r.CSeq, Status: 422, Session: Session{MinSE: MinSE}})
			return
		}
		c.disarm(TimerRetransmit, TimerACK) // timers of our previous 2xx: the new re-INVITE proves that the peer has received it
		c.unacked, c.reinviteSeq, c.offerless, c.granted = 0, r.CSeq, !r.Body, grant(r.Session)
		if r.Contact != "" {
			c.target = r.Contact
		}
		if r.Body {
			c.deciding = true
			c.emit(Negotiate{})
			return
		}
		c.accept(r.CSeq)
	})
}

func (c *Call) decide(ev Event) {
	d := ev.(Decide)
	if !c.deciding {
		return
	}
	c.deciding = false
	if d.Status >= 300 {
		c.emit(Respond{Method: INVITE, CSeq: c.reinviteSeq, Status: d.Status, Warning: d.Warning})
		return
	}
	c.accept(c.reinviteSeq)
}

// reconfirmed handles the ACK to our 2xx to a re-INVITE.
func (c *Call) reconfirmed(ev Event) {
	r := ev.(Request)
	if c.unacked == 0 || r.CSeq != c.unacked {
		return
	}
	c.disarm(TimerRetransmit, TimerACK)
	c.unacked = 0
	if c.offerless && r.Body {
		c.emit(Renegotiated{})
	}
	c.agree(c.granted, UAS)
}

// notReconfirmed handles an Undelivered event: our 2xx to a re-INVITE cannot be sent, so no ACK will arrive.
func (c *Call) notReconfirmed(Event) {
	c.disarm(TimerRetransmit, TimerACK)
	c.unacked = 0
}

func (c *Call) activeTimer(ev Event) {
	switch t := ev.(Fired).Timer; t {
	case TimerRetransmit, TimerACK:
		c.ackTimer(t)
	case TimerRefresh, TimerGlare:
		if c.refresher {
			c.refresh()
		}
	case TimerExpire:
		if c.expires > 0 {
			c.bye(Ending{Cause: Unreachable, Reason: "the session was not refreshed"})
		}
	case TimerTransfer:
		c.finishTransfer(false, 0)
	case TimerGrace:
		if c.transfer == transferred || c.referral == handedOver {
			c.bye(Ending{Cause: TransferDone})
		}
	default: // a timer of another phase
	}
}

// byeResult handles the response to our BYE. It answers up to maxTries challenges; any other response ends the call.
func (c *Call) byeResult(ev Event) {
	r := ev.(Response)
	if r.CSeq != c.seq {
		return
	}
	if r.Challenge && c.byeTries < maxTries {
		c.byeTries++
		c.seq++
		c.emit(Send{Method: BYE, CSeq: c.seq, RemoteTag: c.remoteTag, Via: path(c.target, c.routes), Authorize: true, Why: c.ending.Cause})
		return
	}
	c.ending.Unconfirmed = r.Local
	c.end(c.ending)
}

func (c *Call) byeCrossed(ev Event) {
	c.respond(ev.(Request), 200)
	c.end(c.ending)
}

func (c *Call) leavingTimer(ev Event) {
	if ev.(Fired).Timer == TimerBye {
		c.ending.Unconfirmed = true
		c.end(c.ending)
	}
}
