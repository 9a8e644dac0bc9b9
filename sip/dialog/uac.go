package dialog

// dial sends the initial INVITE.
func (c *Call) dial(ev Event) {
	d := ev.(Dial)
	c.outbound, c.phase, c.target, c.expires = true, Calling, d.Target, c.config.Session
	c.seq, c.invite = 1, 1
	c.sendInvite()
	if d.Ring > 0 {
		c.arm(TimerRing, d.Ring)
	}
}

func (c *Call) sendInvite() {
	c.emit(Send{
		Method: INVITE, CSeq: c.invite, Via: path(c.target, nil), Body: Offer, Authorize: c.tries > 0,
		Session: Session{Expires: c.expires, MinSE: c.minSE, Supported: true},
	})
}

// provisional handles a 1xx. The first 180 or 183 is reported: as ringing, or as early media if it is a 183 with a body.
func (c *Call) provisional(ev Event) {
	r := ev.(Response)
	if r.CSeq != c.invite {
		return
	}
	c.phase, c.canCancel, c.last = Proceeding, true, r.Status
	switch {
	case c.rang:
	case r.Status == 183 && r.Body:
		c.emit(EarlyMedia{})
	case r.Status == 180 || r.Status == 183:
		c.emit(Ringing{})
	}
	c.rang = c.rang || r.Status == 180 || r.Status == 183
}

// answered handles the 2xx that establishes the dialog. It uses the Record-Route and the Contact of the 2xx, and ignores the headers of a
// 1xx (RFC 3261, section 13.2.2.4). If the 2xx contains no session description, answered ends the call.
func (c *Call) answered(ev Event) {
	r := ev.(Response)
	c.open(r)
	if !r.Body {
		c.bye(Ending{Cause: NotAcceptable, Status: r.Status, Reason: "the answer has no session description"})
		return
	}
	c.phase = Active
	c.emit(Established{})
	c.agree(r.Session, UAC)
}

func (c *Call) open(r Response) {
	c.first, c.invite, c.last = r.CSeq, 0, r.Status
	c.remoteTag, c.routes = r.RemoteTag, reversed(r.Routes)
	if r.Contact != "" {
		c.target = r.Contact
	}
	c.disarm(TimerRing, TimerCancel)
	c.ack(r.CSeq)
}

// maxTries is the maximum number of retries of a request after challenges or a 422, because a peer could send them endlessly.
const maxTries = 5

// refused handles a final response to the initial INVITE other than a 2xx. After a challenge or a 422 it retries, up to maxTries times; any
// other response ends the call.
func (c *Call) refused(ev Event) {
	r := ev.(Response)
	if r.CSeq != c.invite {
		return
	}
	if !r.Local {
		c.last = r.Status
	}
	if c.tries < maxTries {
		switch {
		case r.Challenge:
			c.retryRequest()
			return
		case r.Status == 422 && r.Session.MinSE > c.expires && c.expires > 0:
			c.expires, c.minSE = r.Session.MinSE, r.Session.MinSE
			c.retryRequest()
			return
		}
	}
	c.end(Ending{Cause: causeOf(r), Status: r.Status, Reason: r.Reason, ByPeer: !r.Local, Release: r.Release})
}

func (c *Call) retryRequest() {
	c.seq++
	c.tries++
	c.invite, c.phase, c.canCancel = c.seq, Calling, false
	c.sendInvite()
}

// causeOf returns the hang-up cause for a refusal. 401 and 407 mean wrong credentials. 403 does not, because credentials do not help then
// (RFC 3261, section 21.4.4): gateways send it if the callee declines (Q.850 cause 21).
func causeOf(r Response) Cause {
	switch {
	case r.Local:
		return Unreachable
	case r.Status == 401 || r.Status == 407:
		return AuthFailed
	case r.Status < 400:
		return Redirected
	}
	switch r.Status {
	case 486, 600:
		return Busy
	case 408, 480:
		return NoAnswer
	case 487:
		return Cancelled
	case 415, 488, 606:
		return NotAcceptable
	case 502, 504:
		return Unreachable
	case 503:
		return Overload
	default:
		return Rejected
	}
}

// giveUp cancels an outbound call. The CANCEL is sent only after the first 1xx (RFC 3261, section 9.1).
func (c *Call) giveUp(ev Event) {
	h := ev.(Hangup)
	c.cancel(Ending{Cause: h.Cause, Reason: h.Reason})
}

func (c *Call) ringTimeout(ev Event) {
	if ev.(Fired).Timer == TimerRing {
		c.cancel(Ending{Cause: NoAnswer, Reason: "nobody answered in time"})
	}
}

func (c *Call) cancel(why Ending) {
	c.ending, c.phase = why, Canceling
	c.disarm(TimerRing)
	c.arm(TimerCancel, 64*c.config.T1)
	c.stopMedia()
	if c.canCancel {
		c.sendCancel()
	}
}

func (c *Call) sendCancel() {
	c.cancelled = true
	c.emit(Send{Method: CANCEL, CSeq: c.invite, Via: path(c.target, nil), Why: c.ending.Cause})
}

func (c *Call) cancelNow(ev Event) {
	r := ev.(Response)
	if r.CSeq != c.invite {
		return
	}
	c.last = r.Status
	if !c.cancelled {
		c.sendCancel()
	}
}

// answeredTooLate handles a 2xx to an INVITE that we have given up: it acknowledges the 2xx and ends the call with BYE.
func (c *Call) answeredTooLate(ev Event) {
	r := ev.(Response)
	why := c.ending
	c.open(r)
	c.bye(why)
}

func (c *Call) cancelDone(ev Event) {
	r := ev.(Response)
	if r.CSeq != c.invite {
		return
	}
	why := c.ending
	why.Status = r.Status
	c.end(why)
}

func (c *Call) cancelTimeout(ev Event) {
	if ev.(Fired).Timer == TimerCancel {
		c.ending.Status = c.last
		c.end(c.ending)
	}
}

// laterSuccess handles a 2xx after the call was answered: a response to our re-INVITE, a retransmission, or a 2xx from another branch of a
// fork.
func (c *Call) laterSuccess(ev Event) {
	r := ev.(Response)
	switch {
	case c.remoteTag == "" || r.RemoteTag != c.remoteTag:
		c.strayResponse(r)
	case c.phase == Active && r.CSeq == c.invite:
		c.refreshed(r)
	default:
		c.ack(r.CSeq)
	}
}

func (c *Call) laterRefusal(ev Event) {
	if r := ev.(Response); r.CSeq == c.invite {
		c.refreshRefused(r)
	}
}
