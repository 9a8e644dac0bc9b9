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
	maxFromOne   = 16              // of them for one source
	lookupWait   = time.Second     // for one's turn
)

// visit is an INVITE that asks to come in.
type visit struct {
	flow  flow
	req   *sip.Request
	tx    *sip.ServerTx
	first inviteKey
	to    callwright.PhoneNumber
	turns chan struct{} // of its source: see sources.enter
}

// incoming takes the first INVITE of a call as far as ringing. Who has no right to call gets a bare 403 whatever the
// reason is, and takes no place for a call.
func (u *UA) incoming(s *stack, source netip.AddrPort, req *sip.Request, tx *sip.ServerTx) {
	if r := checkInvite(req); r != nil {
		u.refuse(req, tx, *r)
		return
	}
	var turns chan struct{}
	if !u.leaving() {
		turns = u.sources.enter(source.Addr())
	}
	if turns == nil {
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
	f := flow{stack: s, address: source, profile: profile{verify: trunk.VerifyFull}, tls: tlsName(s.state(req.Source()))}
	r := u.begin(visit{flow: f, req: req, tx: tx, first: first, turns: turns})
	if begun = r == nil; !begun {
		u.refuse(req, tx, *r)
	}
}

// begin makes a call of an INVITE that may come in.
func (u *UA) begin(v visit) *refusal {
	var err error
	if v.to, err = calledNumber(v.req); err != nil {
		return u.stranger(v.flow)
	}
	route, r := u.lookUp(v)
	if r == nil {
		r = u.authenticate(v, route)
	}
	if r != nil {
		if r.status == sip.StatusForbidden {
			u.turnedAway(v.flow, v.req, route, v.to, r.status)
		}
		return r
	}
	source := v.flow.address.Addr()
	u.sources.admit(source)
	if !u.takeFor(source) {
		u.turnedAway(v.flow, v.req, route, v.to, sip.StatusServiceUnavailable)
		return &refusal{status: sip.StatusServiceUnavailable}
	}
	if !u.stacks.hold(&v.flow) {
		u.giveFor(source)
		return &refusal{status: sip.StatusServiceUnavailable}
	}
	c := u.newCall(u.identityOf(v), route, v.flow, u.inboundEntry(v.req, route, v.to, v.flow))
	c.first = v.first
	if !u.remember(c) {
		u.forget(c)
		return &refusal{status: sip.StatusServiceUnavailable}
	}
	c.accept(v.req, v.tx, v.to)
	return nil
}

// lookUp asks for the route of a call. It may be a database that answers, so not many do so at a time, and not all of
// them for one source.
func (u *UA) lookUp(v visit) (trunk.Route, *refusal) {
	wait := time.NewTimer(lookupWait)
	defer wait.Stop()
	for _, turns := range []chan struct{}{v.turns, u.lookups} {
		select {
		case turns <- struct{}{}:
			defer func() { <-turns }()
		case <-wait.C:
			return trunk.Route{}, &refusal{status: sip.StatusServiceUnavailable}
		}
	}
	peer := trunk.Peer{Address: v.flow.address.Addr()}
	if v.flow.stack != u.server {
		peer.Registered = u.registered(v.tx.Connection())
	}
	ctx, cancel := context.WithTimeout(u.context, routeTimeout)
	defer cancel()
	route, err := u.config.Routes.Inbound(ctx, v.to, peer)
	switch callwright.CodeOf(err) {
	case "":
		return route, nil
	case callwright.CodeNotFound, callwright.CodeForbidden:
		return route, u.stranger(v.flow)
	case callwright.CodeUnavailable:
		return trunk.Route{}, &refusal{status: sip.StatusServiceUnavailable}
	default:
		u.log.Error("no route", "number", v.to, "error", err)
		return trunk.Route{}, &refusal{status: sip.StatusInternalServerError}
	}
}

// authenticate challenges a caller whose trunk has credentials, until the caller proves to know them.
func (u *UA) authenticate(v visit, route trunk.Route) *refusal {
	if route.Credentials.Username == "" {
		return nil
	}
	from := v.flow.address.Addr().Unmap()
	if u.sources.mistrusted(from, route.TrunkID) {
		return u.stranger(v.flow)
	}
	switch u.challenger.judge(v.req, v.to, from, route.Credentials) {
	case right:
		return nil
	case stale:
		return u.challenger.challenge(from, true)
	case wrong:
		u.sources.mistaken(from, route.TrunkID)
		u.turnedAway(v.flow, v.req, route, v.to, sip.StatusUnauthorized)
	case unanswered:
	}
	return u.challenger.challenge(from, false)
}

// stranger is what everybody gets who may not call: it does not tell a number that nobody has from one that is out of
// the caller's reach. Peers that we have connected to are our customers' servers, and not counted.
func (u *UA) stranger(f flow) *refusal {
	if f.stack == u.server {
		u.sources.refuse(f.address.Addr())
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
