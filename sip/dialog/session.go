package dialog

import "time"

// Session contains the session timer headers of a message (RFC 4028).
type Session struct {
	Expires   time.Duration // Session-Expires; 0 if absent
	MinSE     time.Duration // Min-SE; 0 if absent
	Refresher Refresher
	Supported bool // the sender lists "timer" in Supported or Require
}

// Refresher names the side of the transaction that refreshes the session.
type Refresher string

// The refreshers. An empty Refresher lets the answering side choose.
const (
	UAC Refresher = "uac"
	UAS Refresher = "uas"
)

// MinSE is the shortest session interval that we accept (RFC 4028, section 4).
const MinSE = 90 * time.Second

// expiryMargin returns how long before its expiry an unrefreshed session is ended (RFC 4028, section 10).
func expiryMargin(expires time.Duration) time.Duration { return min(32*time.Second, expires/3) }

// tooBrief reports whether an INVITE requests a session interval below MinSE.
func tooBrief(s Session) bool { return s.Expires > 0 && s.Expires < MinSE }

// grant returns the session timer of our 2xx to a peer's INVITE. We refresh the session if the peer does not support session timers.
// Otherwise the refresher that the peer names refreshes it, or the peer if it names none.
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

// agree starts the timers of the session that a 2xx grants, or stops them if it grants none. The parameter we is our side of the
// transaction.
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

// refresh sends a re-INVITE with unchanged media. If another INVITE is in progress, refresh waits for TimerGlare.
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

// refreshed handles the 2xx to our re-INVITE.
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

// refreshRefused handles a refusal of our re-INVITE. It retries after a challenge, after a 422 that requires a longer interval, and after a
// 491. It ends the call after a 481 or a 408. After any other refusal the session continues unchanged (RFC 3261, section 14.1). If no later
// refresh succeeds, TimerExpire ends the call.
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

// glare returns the wait after a 491 (RFC 3261, section 14.1): 2.1 to 4 s for the owner of the Call-ID, otherwise 0 to 2 s, in steps of 10
// ms. It is derived from the seed, so that Next remains a pure function.
func (c *Call) glare() time.Duration {
	const step = 10 * time.Millisecond
	if c.outbound {
		return time.Duration(210+c.random(190)) * step
	}
	return time.Duration(c.random(200)) * step
}

// random returns a pseudo-random number in [0, n).
func (c *Call) random(n uint64) uint64 {
	c.seed = c.seed*6364136223846793005 + 1442695040888963407
	return c.seed >> 33 % n
}
