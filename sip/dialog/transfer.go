package dialog

// refer sends REFER (RFC 3515). While another transfer runs, it reports a failure with status 491.
func (c *Call) refer(ev Event) {
	t := ev.(Transfer)
	if c.transfer != noTransfer || c.referral != noReferral {
		c.emit(Transferred{Status: 491})
		return
	}
	c.transfer, c.referTo, c.wait, c.refTries = referring, t.To, t.Wait, 0
	c.sendRefer()
	c.arm(TimerTransfer, t.Wait)
}

func (c *Call) sendRefer() {
	c.seq++
	c.emit(Send{
		Method: REFER, CSeq: c.seq, RemoteTag: c.remoteTag, Via: path(c.target, c.routes), ReferTo: c.referTo,
		Authorize: c.refTries > 0,
	})
}

// referResult handles the response to our REFER. After an acceptance, NOTIFYs report the progress.
func (c *Call) referResult(ev Event) {
	r := ev.(Response)
	if c.transfer != referring {
		return // a NOTIFY arrived before the response
	}
	switch {
	case r.Challenge && c.refTries < maxTries:
		c.refTries++
		c.sendRefer()
	case r.Status < 300:
		c.transfer = following
	default:
		c.finishTransfer(false, r.Status)
	}
}

// notified handles a NOTIFY (RFC 3515, section 2.4.4), whose sipfrag contains the new call's status.
func (c *Call) notified(ev Event) {
	r := ev.(Request)
	c.inOrder(r, func() {
		if c.transfer == noTransfer {
			c.respond(r, 481)
			return
		}
		c.respond(r, 200)
		switch {
		case c.transfer == transferred:
		case r.Progress >= 200:
			c.finishTransfer(r.Progress < 300, r.Progress)
		case r.Final:
			c.finishTransfer(false, r.Progress)
		default:
			c.transfer = following
		}
	})
}

// finishTransfer reports the result of a transfer, once. After a success the peer has a short time to end the call.
func (c *Call) finishTransfer(ok bool, status int) {
	if c.transfer == noTransfer || c.transfer == transferred {
		return
	}
	c.disarm(TimerTransfer)
	c.emit(Transferred{OK: ok, Status: status, Accepted: status == 0 && c.transfer == following})
	if !ok {
		c.transfer = noTransfer
		return
	}
	c.transfer = transferred
	c.arm(TimerGrace, transferGrace)
}
