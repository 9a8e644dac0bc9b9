package dialog

import "time"

// Session is what a message says about the session timer (RFC 4028).
type Session struct {
	Expires   time.Duration // Session-Expires; 0: the header is absent
	MinSE     time.Duration // Min-SE; 0: absent
	Refresher Refresher
	Supported bool // the sender lists "timer" in Supported or Require
}

// Refresher is the side of the transaction that has to refresh the session.
type Refresher string

// The refreshers; empty leaves the choice to the side that answers.
const (
	UAC Refresher = "uac"
	UAS Refresher = "uas"
)

// MinSE is the shortest session that we take part in (RFC 4028, section 4).
const MinSE = 90 * time.Second

// expiryMargin is how long before the end of a session that nobody refreshed it is given up (RFC 4028, section 10).
func expiryMargin(expires time.Duration) time.Duration { return min(32*time.Second, expires/3) }

// tooBrief says whether an INVITE asks for a session that is too short for us.
func tooBrief(s Session) bool { return s.Expires > 0 && s.Expires < MinSE }

// grant is what our 2xx says to an INVITE's wish. The caller refreshes if it can, which saves us the work.
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

// agree starts the timers of a session as a 2xx has settled it; we is our side of that transaction.
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

// refresh sends a re-INVITE that changes nothing. One at a time: while another INVITE is under way it waits.
func (c *Call) refresh() {
	if c.invite != 0 || c.deciding {
		c.arm(TimerGlare, c.glare())
		return
	}
	c.seq++
	c.invite, c.authorized = c.seq, false
	c.reinvite(false)
}

func (c *Call) reinvite(authorize bool) {
	c.emit(Send{
		Method: INVITE, CSeq: c.invite, RemoteTag: c.remoteTag, Via: path(c.target, c.routes), Body: Offer,
		Authorize: authorize,
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

// refreshRefused handles the refusal of our re-INVITE. The session goes on as it was (RFC 3261, 14.1) unless the peer no
// longer knows it; what is not refreshed in time ends by TimerExpire.
func (c *Call) refreshRefused(r Response) {
	c.invite = 0
	switch {
	case r.Challenge && (!c.authorized || r.Stale):
		c.authorized = true
		c.seq++
		c.invite = c.seq
		c.reinvite(true)
	case r.Status == 481 || r.Status == 408:
		c.bye(Ending{Cause: Unreachable, Status: r.Status, Reason: "the peer no longer knows the call", ByPeer: true})
	case r.Status == 422 && r.Session.MinSE > c.expires:
		c.expires, c.minSE = r.Session.MinSE, r.Session.MinSE
		c.refresh()
	case r.Status == 491:
		c.arm(TimerGlare, c.glare())
	}
}

// glare is how long to wait after a 491 (RFC 3261, 14.1): 2.1 to 4 s for the owner of the Call-ID, else 0 to 2 s, in
// steps of 10 ms. The numbers follow one another from the seed, so the machine stays a function of its input.
func (c *Call) glare() time.Duration {
	c.seed = c.seed*6364136223846793005 + 1442695040888963407
	const step = 10 * time.Millisecond
	n := c.seed >> 33
	if c.outbound {
		return time.Duration(210+n%190) * step
	}
	return time.Duration(n%200) * step
}
