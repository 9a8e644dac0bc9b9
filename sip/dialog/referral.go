package dialog

import "time"

// subscription is the Expires value of our NOTIFYs about a transfer. The final NOTIFY ends the subscription earlier.
const subscription = 3 * time.Minute

// referredByPeer handles the peer's REFER (RFC 3515), which asks us to call another target. It refuses the REFER while another transfer
// runs, in either direction.
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

// referred applies the owner's decision on the peer's REFER, or reports the progress of the call to the target. After a success the peer
// has a short time to end the call. A failure leaves the call unchanged.
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

// abandonReferral refuses a waiting REFER of the peer, or reports an accepted one as failed, because the call ends.
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

// notify sends a NOTIFY with the status of the call to the target.
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

// notifyResult handles the response to a NOTIFY: it answers challenges, and ignores other failures.
func (c *Call) notifyResult(ev Event) {
	r := ev.(Response)
	if r.Challenge && c.telTries < maxTries && r.CSeq == c.tellSeq {
		c.telTries++
		c.sendNotify()
	}
}
