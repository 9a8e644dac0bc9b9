package sipua

import (
	"context"
	"net/netip"
	"time"

	"github.com/emiago/sipgo/sip"

	"github.com/callwright/callwright"
	trunk "github.com/callwright/callwright/sip"
)

const (
	routeTimeout = 5 * time.Second // for the look-up of a route
	maxLookups   = 64              // at a time
	lookupWait   = time.Second     // for one's turn
)

// incoming takes the first INVITE of a call as far as ringing. Who has no right to call gets a bare 403 whatever the
// reason is, and takes no place for a call.
func (u *UA) incoming(s *stack, source netip.AddrPort, req *sip.Request, tx *sip.ServerTx) {
	if r := checkInvite(req); r != nil {
		u.refuse(req, tx, *r)
		return
	}
	if u.leaving() || !u.sources.enter(source.Addr()) {
		u.refuse(req, tx, refusal{status: sip.StatusServiceUnavailable})
		return
	}
	defer u.sources.leave(source.Addr())
	first := inviteKey{req.CallID().Value(), tagOf(req.From().Params), req.CSeq().SeqNo}
	if !u.claim(first) {
		u.refuse(req, tx, refusal{status: sip.StatusLoopDetected})
		return
	}
	begun := false
	defer func() {
		if !begun {
			u.disclaim(first)
		}
	}()
	r := u.begin(s, source, req, tx, first)
	if begun = r == nil; !begun {
		u.refuse(req, tx, *r)
	}
}

// begin makes a call of an INVITE that may come in.
func (u *UA) begin(s *stack, source netip.AddrPort, req *sip.Request, tx *sip.ServerTx, first inviteKey) *refusal {
	to, err := calledNumber(req)
	if err != nil {
		return u.stranger(s, source)
	}
	peer := trunk.Peer{Address: source.Addr(), Registered: u.registered(tx.Connection())}
	f := flow{stack: s, address: source, profile: profile{verify: trunk.VerifyFull}, tls: tlsName(s.state(req.Source()))}
	route, r := u.lookUp(s, source, to, peer)
	if r == nil {
		r = u.authenticate(f, req, to, route)
	}
	if r != nil {
		if r.status == sip.StatusForbidden {
			u.turnedAway(f, req, route, to, r.status)
		}
		return r
	}
	u.sources.admit(source.Addr())
	if !u.takeFor(source.Addr()) {
		return &refusal{status: sip.StatusServiceUnavailable}
	}
	c := u.newCall(u.identityOf(req), route, f, u.inboundEntry(req, route, to, f))
	c.first = first
	if !u.remember(c) {
		u.giveFor(source.Addr())
		return &refusal{status: sip.StatusServiceUnavailable}
	}
	c.accept(req, tx, to)
	return nil
}

// lookUp asks for the route of a call. Not more than maxLookups do so at a time: it may be a database that answers.
func (u *UA) lookUp(
	s *stack, source netip.AddrPort, to callwright.PhoneNumber, peer trunk.Peer,
) (trunk.Route, *refusal) {
	turn := time.NewTimer(lookupWait)
	defer turn.Stop()
	select {
	case u.lookups <- struct{}{}:
		defer func() { <-u.lookups }()
	case <-turn.C:
		return trunk.Route{}, &refusal{status: sip.StatusServiceUnavailable}
	}
	ctx, cancel := context.WithTimeout(u.context, routeTimeout)
	defer cancel()
	route, err := u.config.Routes.Inbound(ctx, to, peer)
	switch callwright.CodeOf(err) {
	case "":
		return route, nil
	case callwright.CodeNotFound, callwright.CodeForbidden:
		return route, u.stranger(s, source)
	case callwright.CodeUnavailable:
		return route, &refusal{status: sip.StatusServiceUnavailable}
	default:
		u.log.Error("no route", "number", to, "error", err)
		return route, &refusal{status: sip.StatusInternalServerError}
	}
}

// authenticate challenges a caller whose trunk has credentials, until the caller proves to know them.
func (u *UA) authenticate(f flow, req *sip.Request, to callwright.PhoneNumber, route trunk.Route) *refusal {
	if route.Credentials.Username == "" {
		return nil
	}
	from := f.address.Addr().Unmap()
	if u.sources.mistrusted(from, route.TrunkID) {
		return u.stranger(f.stack, f.address)
	}
	switch u.challenger.judge(req, to, from, route.Credentials) {
	case right:
		return nil
	case stale:
		return u.challenger.challenge(from, true)
	case wrong:
		u.sources.mistaken(from, route.TrunkID)
		u.turnedAway(f, req, route, to, sip.StatusUnauthorized)
	case unanswered:
	}
	return u.challenger.challenge(from, false)
}

// stranger is what everybody gets who may not call: it does not tell a number that nobody has from one that is out of
// the caller's reach. Peers that we have connected to are our customers' servers, and not counted.
func (u *UA) stranger(s *stack, source netip.AddrPort) *refusal {
	if s == u.server {
		u.sources.refuse(source.Addr())
	}
	return &refusal{status: sip.StatusForbidden}
}

// hangUpOn closes the connection of a caller, unless it carries a call.
func (u *UA) hangUpOn(source netip.AddrPort) {
	if !u.carries(source) {
		u.listener.drop(source)
	}
}

// carries says whether a connection that a caller has made carries a call.
func (u *UA) carries(source netip.AddrPort) bool {
	u.mu.Lock()
	defer u.mu.Unlock()
	for _, c := range u.calls {
		if c.flow.stack == u.server && c.flow.address == source {
			return true
		}
	}
	return false
}

// leaving says whether calls are taken no more.
func (u *UA) leaving() bool {
	u.mu.Lock()
	defer u.mu.Unlock()
	return u.draining
}

// claim says that an INVITE is taken care of. False: another copy of it is already.
func (u *UA) claim(first inviteKey) bool {
	u.mu.Lock()
	defer u.mu.Unlock()
	_, taken := u.invites[first]
	if !taken {
		u.invites[first] = struct{}{}
	}
	return !taken
}

func (u *UA) disclaim(first inviteKey) {
	u.mu.Lock()
	defer u.mu.Unlock()
	delete(u.invites, first)
}
