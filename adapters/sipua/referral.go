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

// refer handles a REFER by which the peer of an answered leg transfers us. It starts the transfer. It refuses the REFER if transfers are
// not allowed, if the call has reached maxTransfers, if another transfer is running, if l is no longer the current leg, or if the UA is
// closed.
func (b *bridge) refer(l *leg.Leg, to callwright.PhoneNumber) {
	b.mu.Lock()
	defer b.mu.Unlock()
	if b.current.Load() == nil { // the REFER arrived before Answer or Dial has adopted the leg
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

const statusPending = 491 // the SIP status Request Pending

// transfer calls the target of a REFER, if the trunk allows that, and reports the progress to the peer. If the target answers, its leg
// becomes the current one.
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

// logRefused logs a refused transfer. It logs only the first maxTransfers of a call, because a peer may repeat REFER without limit.
func (b *bridge) logRefused(to callwright.PhoneNumber, why refusedTransfer) {
	b.mu.Lock()
	b.refused++
	n := b.refused
	b.mu.Unlock()
	if n <= maxTransfers {
		b.ua.log.Info("a transfer by the peer is refused", "call_id", b.id, "to", to, "status", why.status, "reason", why.why)
	}
}

// accept counts an accepted transfer. Because refer limits the count to maxTransfers, a send to b.transfers never blocks.
func (b *bridge) accept() {
	b.mu.Lock()
	defer b.mu.Unlock()
	b.count++
}

// transferred marks the running transfer as finished, and ends the call if no leg is live.
func (b *bridge) transferred() {
	b.mu.Lock()
	defer b.mu.Unlock()
	b.cancel()
	b.cancel = nil
	b.finish()
}

// refusedTransfer describes the response to a refused REFER.
type refusedTransfer struct {
	status int
	why    string // the Warning text; may be empty
}

// transferRoute looks up the route to the target of a transfer. It returns a refusal if the trunk forbids the transfer or the lookup fails.
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

// failureStatus returns the SIP status that the NOTIFY reports for a failed call to the target of a transfer.
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
