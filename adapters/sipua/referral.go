package sipua

import (
	"context"
	"runtime/debug"
	"sync"

	"github.com/emiago/sipgo/sip"

	"github.com/callwright/callwright"
	"github.com/callwright/callwright/adapters/sipua/internal/leg"
	"github.com/callwright/callwright/adapters/sipua/internal/message"
	"github.com/callwright/callwright/agents/call"
	trunk "github.com/callwright/callwright/sip"
)

// refer handles the REFER of an answered leg's peer, which transfers us.
func (b *bridge) refer(l *leg.Leg, to callwright.PhoneNumber) {
	b.mu.Lock()
	defer b.mu.Unlock()
	if b.current.Load() == nil { // the REFER came before the goroutine that waits for the answer ran
		b.carryLocked(l)
	}
	switch {
	case b.ua.cfg.Transfers == nil || b.count >= maxTransfers:
		l.Refer(sip.StatusGlobalDecline, "")
		return
	case b.cancel != nil || l != b.current.Load():
		l.Refer(statusPending, "")
		return
	}
	ctx, cancel := context.WithCancel(b.ua.context)
	if !b.ua.registry.whileOpen(func() { b.ua.wg.Go(func() { b.transfer(ctx, l, to) }) }) {
		cancel()
		l.Refer(sip.StatusServiceUnavailable, "")
		return
	}
	b.cancel = cancel
}

const statusPending = 491 // Request Pending

// transfer transfers the call to a number, if the trunk allows that, and reports its progress to the peer.
func (b *bridge) transfer(ctx context.Context, l *leg.Leg, to callwright.PhoneNumber) {
	defer b.transferred()
	defer func() {
		if p := recover(); p != nil {
			b.ua.log.Error("panic while a call is transferred", "call_id", b.id, "panic", p, "stack", string(debug.Stack()))
			l.Refer(sip.StatusInternalServerError, "")
		}
	}()
	route, refused := b.ua.transferRoute(ctx, l.Route(), to)
	if refused != nil {
		b.logRefused(to, *refused)
		l.Refer(refused.status, refused.why)
		return
	}
	o, err := b.ua.outboundOver(route, call.DialRequest{
		CallID: b.id, Org: route.Org, From: route.Number, To: to, Variables: b.variables,
	})
	if err != nil {
		b.ua.log.Error("cannot transfer a call", "call_id", b.id, "error", err)
		l.Refer(sip.StatusInternalServerError, "")
		return
	}
	b.accept()
	o.bridge, o.audio = b, l.Lend()
	defer o.audio.Return()
	o.ringing = sync.OnceFunc(func() { l.Refer(sip.StatusRinging, "") })
	l.Refer(sip.StatusAccepted, "")
	next, ending := o.run(ctx)
	if ending != nil {
		b.transfers <- call.PeerTransfer{To: to, Failure: ending}
		l.Refer(failureStatus(ending), "")
		return
	}
	b.adoptLeg(next)
	b.transfers <- call.PeerTransfer{To: to}
	l.Refer(sip.StatusOK, "")
}

// logRefused logs that the peer may not transfer the call, for the first times: a peer may ask for ever.
func (b *bridge) logRefused(to callwright.PhoneNumber, why refusedTransfer) {
	b.mu.Lock()
	b.refused++
	n := b.refused
	b.mu.Unlock()
	if n <= maxTransfers {
		b.ua.log.Info("a transfer by the peer is refused", "call_id", b.id, "to", to, "status", why.status, "reason", why.why)
	}
}

// accept counts a transfer. There is room in b.transfers for all of them.
func (b *bridge) accept() {
	b.mu.Lock()
	defer b.mu.Unlock()
	b.count++
}

// transferred ends a transfer, and the call with it if no leg is left.
func (b *bridge) transferred() {
	b.mu.Lock()
	defer b.mu.Unlock()
	b.cancel()
	b.cancel = nil
	b.finish()
}

// refusedTransfer is the response to a REFER that is refused.
type refusedTransfer struct {
	status int
	why    string // for the Warning; empty: none
}

// transferRoute asks for the route to the target of a transfer.
func (u *UA) transferRoute(
	ctx context.Context, r trunk.Route, to callwright.PhoneNumber,
) (trunk.Route, *refusedTransfer) {
	ctx, cancel := context.WithTimeout(ctx, routeTimeout)
	defer cancel()
	select {
	case u.lookups <- struct{}{}:
		defer func() { <-u.lookups }()
	case <-ctx.Done():
		return trunk.Route{}, &refusedTransfer{status: sip.StatusServiceUnavailable}
	}
	route, err := u.cfg.Transfers.Transfer(ctx, r, to)
	switch callwright.CodeOf(err) {
	case "":
		return route, nil
	case callwright.CodeForbidden:
		return trunk.Route{}, &refusedTransfer{sip.StatusGlobalDecline, callwright.MessageOf(err)}
	case callwright.CodeUnavailable:
		return trunk.Route{}, &refusedTransfer{status: sip.StatusServiceUnavailable}
	default:
		u.log.Error("the route of a transfer was not found", "number", to, "error", err)
		return trunk.Route{}, &refusedTransfer{status: sip.StatusInternalServerError}
	}
}

// failureStatus returns the status of a call to a target that did not come about, as its NOTIFY reports it.
func failureStatus(e *call.HangupReason) int {
	switch {
	case e.SIPCode >= 300 && message.Reason(e.SIPCode) != "":
		return e.SIPCode
	case e.Cause == call.CauseCancelled:
		return sip.StatusRequestTerminated
	case e.Cause == call.CauseNoAnswer:
		return sip.StatusRequestTimeout
	case e.SIPCode >= 400 && e.SIPCode < 500 || e.SIPCode >= 600:
		return e.SIPCode
	default:
		return sip.StatusServiceUnavailable
	}
}
