package dialog

import "time"

// Session holds the session timer headers of a message (RFC 4028).
type Session struct {
	Expires   time.Duration // Session-Expires; 0: the header is absent
	MinSE     time.Duration // Min-SE; 0: absent
	Refresher Refresher
	Supported bool // the sender lists "timer" in Supported or Require
}

// Refresher is the side of the transaction that refreshes the session.
type Refresher string

// The refreshers. Empty leaves the choice to the answering side.
const (
	UAC Refresher = "uac"
	UAS Refresher = "uas"
)

// MinSE is the shortest session that we accept (RFC 4028, section 4).
const MinSE = 90 * time.Second

// expiryMargin is the time before a session's expiry at which an unrefreshed call is ended (RFC 4028, section 10).
func expiryMargin(expires time.Duration) time.Duration { return min(32*time.Second, expires/3) }

// tooBrief reports whether an INVITE asks for a session below MinSE.
func tooBrief(s Session) bool { return s.Expires > 0 && s.Expires < MinSE }

// grant returns the session of our 2xx. The caller refreshes it, if it supports that.
func grant(wish Session) Session {
	if wish.Expires == 0 {
		return Session{}
	}
	g := Session{Expires: wish.Expires, Refresher: wish.Refresher, Supported: wish.Supported}
	switch {
	case !wish.Supported:
		g.Refresher = UAS
	case g.Refresher == "":
		g.Refresher = UAC
	}
	return g
}

// agree starts the timers of the session in a 2xx; we is our side of the transaction.
func (c *Call) agree(s Session, we Refresher) {
	c.disarm(TimerRefresh, TimerExpire)
	c.expires = s.Expires
	if s.Expires == 0 {
		return
	}
	c.refresher = s.Refresher == we || s.Refresher == "" && we == UAC
	if c.refresher {
		c.arm(TimerRefresh, s.Expires/2)
	}
	c.arm(TimerExpire, s.Expires-expiryMargin(s.Expires))
}

// refresh sends a re-INVITE that changes nothing. While another INVITE is under way, it waits.
func (c *Call) refresh() {
	if c.invite != 0 || c.deciding {
		c.arm(TimerGlare, c.glare())
		return
	}
	c.seq++
	c.invite, c.tries = c.seq, 0
	c.reinvite()
}

func (c *Call) reinvite() {
	c.emit(Send{
		Method: INVITE, CSeq: c.invite, RemoteTag: c.remoteTag, Via: path(c.target, c.routes), Body: Offer,
		Authorize: c.tries > 0,
		Session:   Session{Expires: c.expires, MinSE: c.minSE, Refresher: UAC, Supported: true},
	})
}

// refreshed handles the 2xx of our re-INVITE.
func (c *Call) refreshed(r Response) {
	c.invite = 0
	if r.Contact != "" {
		c.target = r.Contact
	}
	c.ack(r.CSeq)
	if r.Body {
		c.emit(Renegotiated{})
	}
	c.agree(r.Session, UAC)
}

// refreshRefused handles the refusal of our re-INVITE. The session continues unchanged (RFC 3261, 14.1), unless the peer no longer
// knows it. Without a refresh in time TimerExpire ends the call.
func (c *Call) refreshRefused(r Response) {
	c.invite = 0
	switch {
	case r.Challenge && c.tries < maxTries:
		c.tries++
		c.seq++
		c.invite = c.seq
		c.reinvite()
	case r.Status == 481 || r.Status == 408:
		c.bye(Ending{Cause: Unreachable, Status: r.Status, Reason: "the peer no longer knows the call", ByPeer: true})
	case r.Status == 422 && r.Session.MinSE > c.expires:
		c.expires, c.minSE = r.Session.MinSE, r.Session.MinSE
		c.refresh()
	case r.Status == 491:
		c.arm(TimerGlare, c.glare())
	}
}

// glare returns the wait after a 491 (RFC 3261, 14.1): 2.1 to 4 s for the owner of the Call-ID, otherwise 0 to 2 s, in
// steps of 10 ms. They follow from the seed, so that the machine stays a pure function.
func (c *Call) glare() time.Duration {
	const step = 10 * time.Millisecond
	if c.outbound {
		return time.Duration(210+c.random(190)) * step
	}
	return time.Duration(c.random(200)) * step
}

// random returns a number from 0 to below n.
func (c *Call) random(n uint64) uint64 {
	c.seed = c.seed*6364136223846793005 + 1442695040888963407
	return c.seed >> 33 % n
}
