package sipua

import (
	"cmp"
	"context"
	"fmt"
	"net/netip"
	"slices"
	"strings"
	"time"

	"github.com/emiago/sipgo/sip"

	"github.com/callwright/callwright"
	"github.com/callwright/callwright/adapters/sipua/internal/attempt"
	"github.com/callwright/callwright/adapters/sipua/internal/auth"
	"github.com/callwright/callwright/adapters/sipua/internal/message"
	"github.com/callwright/callwright/adapters/sipua/internal/source"
	"github.com/callwright/callwright/adapters/sipua/internal/transport"
	"github.com/callwright/callwright/agents/call"
	trunk "github.com/callwright/callwright/sip"
	"github.com/callwright/callwright/sip/calllog"
)

const (
	routeTimeout = 5 * time.Second // for one route lookup
	maxLookups   = 64              // concurrent route lookups
	lookupWait   = time.Second     // maximum wait for a free lookup

	maxAdmissions = 1024 // concurrent INVITEs in admission, over all sources
)

// inviteContext holds an INVITE in admission, with its connection and transaction.
type inviteContext struct {
	stack *transport.Stack
	from  netip.AddrPort
	req   *sip.Request
	tx    *transport.ServerTx
	to    callwright.PhoneNumber
	entry source.Entry
}

// invited handles the first INVITE of a call. It checks the limits of the source, and admits the call in a new goroutine, because the route
// lookup may query a database. Every caller without permission to call receives the same bare 403.
func (u *UA) invited(from netip.AddrPort, req *sip.Request, tx *transport.ServerTx) {
	if r := message.ValidateInvite(req); r != nil {
		u.refuse(req, tx, *r)
		return
	}
	if u.registry.isDraining() {
		u.refuse(req, tx, message.Refusal{Status: sip.StatusServiceUnavailable})
		return
	}
	if tx.Stack() == u.server && u.sources.Held(from.Addr(), sidesOf(req)) {
		u.tellRefused(from, req, sip.StatusForbidden, "too many calls of this caller, or to this number, were refused")
		u.refuse(req, tx, message.Refusal{Status: sip.StatusForbidden})
		return
	}
	entry, ok := u.sources.Enter(from.Addr(), u.serves(req))
	if !ok {
		u.tellRefused(from, req, sip.StatusServiceUnavailable, "the address sends INVITEs faster than Config.InvitesPerSecond allows")
		u.refuse(req, tx, message.Refusal{Status: sip.StatusServiceUnavailable})
		u.countFaulty(tx.Stack(), from)
		return
	}
	v := inviteContext{stack: tx.Stack(), from: from, req: req, tx: tx, entry: entry}
	if !u.spawn(func() { u.consider(v) }) {
		u.sources.Leave(entry)
		u.tellRefused(from, req, sip.StatusServiceUnavailable, fmt.Sprintf("%d INVITEs are in admission, or the server is stopping", maxAdmissions))
		u.refuse(req, tx, message.Refusal{Status: sip.StatusServiceUnavailable})
	}
}

// serves reports whether Config.Serves accepts the called number, or one of its possible readings. It returns true if Serves is nil.
func (u *UA) serves(req *sip.Request) bool {
	if u.cfg.Serves == nil {
		return true
	}
	number, err := message.CalledNumber(req)
	return err == nil && u.cfg.Serves(number) || slices.ContainsFunc(callwright.NumberReadings(message.CalledDigits(req)), u.cfg.Serves)
}

// spawn starts a goroutine for an admission. It returns false if maxAdmissions are running or the user agent is closed.
func (u *UA) spawn(f func()) bool {
	select {
	case u.admissions <- struct{}{}:
	default:
		return false
	}
	started := u.registry.whileOpen(func() {
		u.wg.Go(func() {
			defer func() { <-u.admissions }()
			f()
		})
	})
	if !started {
		<-u.admissions
	}
	return started
}

// consider starts a call for an INVITE, or refuses the INVITE with a response.
func (u *UA) consider(v inviteContext) {
	defer u.recovered(v.req, v.tx)
	defer u.sources.Leave(v.entry)
	key := inviteKeyOf(v.req)
	if !u.registry.claim(key) {
		u.refuse(v.req, v.tx, message.Refusal{Status: sip.StatusLoopDetected})
		return
	}
	begun := false
	defer func() {
		if !begun {
			u.registry.disclaim(key)
		}
	}()
	r := u.admit(v)
	if begun = r == nil; !begun {
		u.refuse(v.req, v.tx, *r)
	}
}

// admit decides whether an INVITE may become a call, and starts the call. It returns nil if the call was started, otherwise the refusal.
func (u *UA) admit(v inviteContext) *message.Refusal {
	var err error
	if v.to, err = message.CalledNumber(v.req); err != nil && len(callwright.NumberReadings(message.CalledDigits(v.req))) == 0 {
		return u.rejectUnknown(v, "the request names no phone number")
	}
	route, r := u.lookUp(v)
	v.to = cmp.Or(route.Number, v.to)
	if r == nil {
		r = u.authenticate(v, route)
	}
	if r != nil {
		if r.Status == sip.StatusForbidden {
			u.logRefused(v, route, r.Status)
		}
		return r
	}
	u.sources.Admitted(v.from.Addr())
	if !u.registry.reserveFrom(v.from.Addr()) {
		u.logRefused(v, route, sip.StatusServiceUnavailable)
		u.tellRefused(v.from, v.req, sip.StatusServiceUnavailable, u.full(true))
		return &message.Refusal{Status: sip.StatusServiceUnavailable}
	}
	if !u.startInbound(v, route) {
		return &message.Refusal{Status: sip.StatusServiceUnavailable}
	}
	return nil
}

// lookUp returns the route of a call, or a refusal. Because a route lookup may query a database, the number of concurrent lookups is
// limited, in total and for each source.
func (u *UA) lookUp(v inviteContext) (trunk.Route, *message.Refusal) {
	wait := time.NewTimer(lookupWait)
	defer wait.Stop()
	for _, semaphore := range []chan struct{}{v.entry.Lookups, u.lookups} {
		select {
		case semaphore <- struct{}{}:
			defer func() { <-semaphore }()
		case <-wait.C:
			u.tellRefused(v.from, v.req, sip.StatusServiceUnavailable, fmt.Sprintf("the number could not be looked up within %s, because too many numbers are being looked up", lookupWait))
			return trunk.Route{}, &message.Refusal{Status: sip.StatusServiceUnavailable}
		}
	}
	peer := trunk.Peer{Address: v.from.Addr(), Contact: message.CalledUser(v.req), Digits: message.CalledDigits(v.req)}
	if v.stack != u.server {
		peer.Registered = u.bindings.Trunks(v.tx.Connection())
	}
	ctx, cancel := context.WithTimeout(u.context, routeTimeout)
	defer cancel()
	route, err := u.cfg.Routes.Inbound(ctx, v.to, peer)
	switch callwright.CodeOf(err) {
	case "":
		return route, nil
	case callwright.CodeNotFound:
		return route, u.rejectUnknown(v, "the number has no inbound trunk")
	case callwright.CodeConflict:
		return route, u.rejectUnknown(v, "the number has no + and is ambiguous: set a default country for the organization")
	case callwright.CodeForbidden:
		return route, u.rejectUnknown(v, "the trunk does not admit the source address")
	case callwright.CodeUnavailable:
		u.tellRefused(v.from, v.req, sip.StatusServiceUnavailable, "the number cannot be looked up")
		return trunk.Route{}, &message.Refusal{Status: sip.StatusServiceUnavailable}
	default:
		u.log.Error("route look-up failed", "number", v.to, "error", err)
		return trunk.Route{}, &message.Refusal{Status: sip.StatusInternalServerError}
	}
}

// authenticate returns nil if the trunk has no credentials or the INVITE proves them. Otherwise it returns a challenge, or a 403 if too
// many wrong credentials came from the address or the caller.
func (u *UA) authenticate(v inviteContext, route trunk.Route) *message.Refusal {
	if route.Credentials.Username == "" {
		return nil
	}
	from, caller := v.from.Addr().Unmap(), sidesOf(v.req).Caller
	if u.sources.Distrusted(from, route.TrunkID, caller) {
		// The number itself is valid. This refusal must not count against the number, because that would block other callers of it.
		return u.reject(v, source.Sides{Caller: caller}, "too many wrong credentials came from the address or from the caller")
	}
	switch u.challenger.Check(v.req, v.to, from, route.Credentials) {
	case auth.OK:
		u.sources.RightCredentials(from, route.TrunkID, caller)
		return nil
	case auth.Stale:
		return u.challenger.Challenge(from, true)
	case auth.Wrong:
		u.sources.WrongCredentials(from, route.TrunkID, caller)
		u.logRefused(v, route, sip.StatusUnauthorized)
		u.tellRefused(v.from, v.req, sip.StatusUnauthorized, "the credentials are wrong")
	case auth.None:
	}
	return u.challenger.Challenge(from, false)
}

// rejectUnknown returns a 403 for a caller without permission to call. The response does not distinguish unknown numbers from numbers that
// this caller must not call, but the log does. The refusal counts against the source, unless the source is a customer's server that we have
// connected to.
func (u *UA) rejectUnknown(v inviteContext, why string) *message.Refusal {
	return u.reject(v, sidesOf(v.req), why)
}

// reject does the same as rejectUnknown, but the refusal counts only against the given sides.
func (u *UA) reject(v inviteContext, counted source.Sides, why string) *message.Refusal {
	u.tellRefused(v.from, v.req, sip.StatusForbidden, why)
	if v.stack == u.server && u.sources.Refused(v.from.Addr(), counted) {
		u.logBlocked(v.from)
	}
	return &message.Refusal{Status: sip.StatusForbidden}
}

// sidesOf returns the caller and the called number of an INVITE. If From names no caller or an anonymous one, it returns the caller that
// the carrier asserts in P-Asserted-Identity (RFC 3325).
func sidesOf(req *sip.Request) source.Sides {
	s := source.Sides{Caller: message.Caller(req), Called: message.CalledUser(req)}
	if number, err := message.CalledNumber(req); err == nil {
		s.Called = number.String()
	}
	if s.Caller == "" || strings.EqualFold(s.Caller, "anonymous") {
		s.Caller = ""
		if asserted := req.GetHeader("P-Asserted-Identity"); asserted != nil {
			s.Caller = asserted.Value()
		}
	}
	return s
}

// tellRefused logs a call that is refused before it has a call record, if the source's log limit allows it: see source.Limiter.Log.
func (u *UA) tellRefused(from netip.AddrPort, req *sip.Request, status int, why string) {
	if n, due := u.sources.Log(from.Addr()); due {
		to := req.Recipient.User
		if number, err := message.CalledNumber(req); err == nil {
			to = number.String()
		}
		u.log.Info("inbound call refused", "to", message.Printable(to), "source", from.Addr().Unmap(), "status", status,
			"reason", why, "refused", n)
	}
}

// logRefused writes the call record of a refused call. It does nothing if the trunk is unknown.
func (u *UA) logRefused(v inviteContext, route trunk.Route, status int) {
	if route.TrunkID == "" {
		return
	}
	why := call.HangupReason{Cause: call.CauseRejected, Reason: "the trunk does not admit the caller"}
	switch status {
	case sip.StatusUnauthorized:
		why.Reason = "the caller's credentials are wrong"
	case sip.StatusServiceUnavailable:
		why = call.HangupReason{Cause: call.CauseOverload, Reason: u.full(true)}
	}
	invite := message.Event(v.req)
	invite.Transport, invite.Peer = transport.Version(transport.StateOf(v.stack.Existing(v.from))), v.from.String()
	u.inboundLog(v, route).Refused(invite, status, why)
}

// full explains why there is no slot for a call.
func (u *UA) full(inbound bool) string {
	switch {
	case u.registry.isDraining():
		return "the server is stopping"
	case inbound:
		return fmt.Sprintf("the server's limit of %d calls, or of %d calls from one address, is reached", u.cfg.MaxCalls, u.cfg.MaxCallsPerIP)
	default:
		return fmt.Sprintf("the server's limit of %d calls is reached", u.cfg.MaxCalls)
	}
}

// inboundLog returns a new attempt log for an inbound call.
func (u *UA) inboundLog(v inviteContext, route trunk.Route) *attempt.Log {
	return u.attempts.New(calllog.Record{
		Org: route.Org, TrunkID: route.TrunkID, Number: v.to, Direction: trunk.Inbound, From: message.Caller(v.req),
		To: v.to.String(), SIPCallID: message.Text(v.req.CallID().Value()), Attempt: 1, Source: v.from.Addr().Unmap().String(),
	}, nil)
}
