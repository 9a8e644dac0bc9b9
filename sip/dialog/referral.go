package dialog

import "time"

// subscription is the duration that we announce for the reports on a transfer. It always ends with the final NOTIFY.
const subscription = 3 * time.Minute

// referredByPeer handles the peer's REFER (RFC 3515): it transfers our side to another target. Only one transfer runs at a
// time, in either direction.
func (c *Call) referredByPeer(ev Event) {
	r := ev.(Request)
	c.inOrder(r, func() {
		if c.transfer != noTransfer || c.referral != noReferral {
			c.respond(r, 491)
			return
		}
		c.referral, c.referSeq = judging, r.CSeq
		c.emit(Referred{CSeq: r.CSeq})
	})
}

// referred carries out the owner's decision on the peer's REFER, or reports the progress of the call to the target. After
// a success the call stays for a moment, in which the peer may end it. A failure leaves the call as it was.
func (c *Call) referred(ev Event) {
	d := ev.(Referral)
	switch {
	case c.referral == judging && d.Status < 300:
		c.emit(Respond{Method: REFER, CSeq: c.referSeq, Status: 202})
		c.referral = reporting
		c.referrals++
		c.notify(100)
	case c.referral == judging:
		c.emit(Respond{Method: REFER, CSeq: c.referSeq, Status: d.Status, Warning: d.Warning})
		c.referral = noReferral
	case c.referral != reporting:
	case d.Status < 200:
		c.notify(d.Status)
	case d.Status < 300:
		c.notify(d.Status)
		c.referral = handedOver
		c.arm(TimerGrace, transferGrace)
	default:
		c.notify(d.Status)
		c.referral = noReferral
	}
}

// abandonReferral ends a transfer by the peer because the call ends.
func (c *Call) abandonReferral() {
	switch c.referral {
	case judging:
		c.emit(Respond{Method: REFER, CSeq: c.referSeq, Status: 487})
	case reporting:
		c.notify(487)
	default:
		return
	}
	c.referral = noReferral
}

// notify reports the progress of the call to the target.
func (c *Call) notify(status int) {
	c.told, c.telTries = Progress{Status: status, Final: status >= 200, Expires: subscription}, 0
	if c.referrals > 1 {
		c.told.ID = c.referSeq
	}
	c.sendNotify()
}

func (c *Call) sendNotify() {
	c.seq++
	c.tellSeq = c.seq
	c.emit(Send{
		Method: NOTIFY, CSeq: c.seq, RemoteTag: c.remoteTag, Via: path(c.target, c.routes), Notify: c.told,
		Authorize: c.telTries > 0,
	})
}

// notifyResult answers challenges. After any other failure of a NOTIFY no more are sent.
func (c *Call) notifyResult(ev Event) {
	r := ev.(Response)
	if r.Challenge && c.telTries < maxTries && r.CSeq == c.tellSeq {
		c.telTries++
		c.sendNotify()
	}
}
