package sipua

import (
	"context"
	"fmt"
	"log/slog"
	"net/netip"
	"runtime/debug"

	"github.com/emiago/sipgo/sip"

	"github.com/callwright/callwright"
	"github.com/callwright/callwright/adapters/sipua/internal/leg"
	"github.com/callwright/callwright/adapters/sipua/internal/message"
	"github.com/callwright/callwright/adapters/sipua/internal/transport"
	"github.com/callwright/callwright/agents/call"
	trunk "github.com/callwright/callwright/sip"
	"github.com/callwright/callwright/sip/dialog"
	"github.com/callwright/callwright/sip/header"
)

// startInbound starts the leg of an admitted INVITE, whose slot must be reserved. It releases the slot and returns false if the user agent
// is closed.
func (u *UA) startInbound(v inviteContext, route trunk.Route) bool {
	// Closures that outlive the admission must not refer to v, because the INVITE may have 64 KB.
	key, flow, from := inviteKeyOf(v.req), u.pool.Accepted(v.stack, v.from), v.from.Addr()
	for _, server := range route.Servers {
		flow.Known(server.Host)
	}
	if !flow.Hold() {
		u.registry.releaseFrom(from)
		return false
	}
	var caller netip.AddrPort
	if v.stack == u.server {
		caller = v.from
	}
	id, log := u.inboundIdentity(v), u.inboundLog(v, route)
	b := u.newBridge(log.ID(), nil)
	l := leg.New(leg.Config{
		Identity: id, Route: route, Flow: flow, Log: log, PublicMedia: !u.cfg.AllowPrivate,
		SessionExpires: u.cfg.SessionExpires, Runtime: callwright.Runtime{Logger: u.log.With("call_id", b.id)},
		OnEnd: func() {
			u.registry.deleteDialog(keyOf(id))
			u.registry.disclaim(key)
			flow.Release()
			u.registry.releaseFrom(from)
		},
		OnOver: b.over, Refer: b.refer,
	})
	if !u.registry.add(keyOf(id), entry{leg: l, caller: caller}) {
		flow.Release()
		u.registry.releaseFrom(from)
		return false
	}
	l.Incoming(v.req, v.tx, u.cfg.Ring, func() { u.wg.Go(func() { u.offer(l, b, v, route) }) })
	return true
}

// inboundIdentity returns the identity that we use in the dialog of an inbound call.
func (u *UA) inboundIdentity(v inviteContext) message.Identity {
	contact := *u.contact.Clone()
	if v.stack != u.server {
		contact = u.bindings.Contact(v.tx.Connection())
	}
	contact.User = v.req.Recipient.User
	to, from := v.req.To(), v.req.From()
	return message.Identity{
		CallID: v.req.CallID().Value(), LocalTag: token(), Contact: contact, Via: u.contact, Agent: u.cfg.UserAgent,
		Local:  message.Party{Display: to.DisplayName, URI: to.Address},
		Remote: message.Party{Display: from.DisplayName, URI: from.Address},
	}
}

// offer checks the SDP offer of a call, opens its media and queues the call for Accept. If any of these fails, it rejects the call.
func (u *UA) offer(l *leg.Leg, b *bridge, v inviteContext, route trunk.Route) {
	log := u.log.With("call_id", b.id, "sip_call_id", v.req.CallID().Value())
	defer func() {
		if p := recover(); p != nil {
			log.Error("panic while offering a call", "panic", p, "stack", string(debug.Stack()))
			l.Fail()
		}
	}()
	codecs, err := leg.Codecs(route.Codecs)
	if err != nil {
		log.Error("unusable route", "trunk", route.TrunkID, "error", err)
		l.Fail()
		return
	}
	body, _ := message.ReadBody(v.req) // the error was checked by Validate
	if refused := leg.Preflight(body.SDP, codecs, u.contact.Host); refused != nil {
		l.Reject(*refused)
		return
	}
	session, err := u.cfg.Media.Open(callwright.WithLog(u.context, slog.String("call_id", b.id)))
	if err != nil {
		log.Warn("no media session for a call", "error", err)
		l.Reject(overloaded)
		return
	}
	in := &incomingCall{leg: l, bridge: b, offer: call.CallerInfo{
		ID: b.id, Org: route.Org, TrunkID: route.TrunkID, From: message.Caller(v.req), To: v.to,
		Source: v.from.String(), Headers: message.CustomHeaders(v.req),
		Variables: header.Inbound(route.Headers, message.Headers(v.req)), Parts: body.Parts,
	}}
	l.Admit(session, codecs, func() bool {
		select {
		case u.incoming <- in:
			return true
		default: // the queue is full
			return false
		}
	}, overloaded)
}

// overloaded rejects a call with 503 and Retry-After.
var overloaded = dialog.Reject{Status: sip.StatusServiceUnavailable, Cause: dialog.Overload, RetryAfter: retryAfter}

// Accept waits for the next inbound call and sends 180 Ringing to its caller. It skips callers that have hung up. It returns
// transport.ErrClosed after Close.
func (u *UA) Accept(ctx context.Context) (call.IncomingCall, error) {
	for {
		select {
		case in := <-u.incoming:
			select {
			case <-in.leg.Done():
				continue
			default:
			}
			in.leg.Ring()
			return in, nil
		case <-u.context.Done():
			return nil, transport.ErrClosed
		case <-ctx.Done():
			return nil, ctx.Err()
		}
	}
}

// incomingCall is an inbound call that is not yet answered.
type incomingCall struct {
	leg    *leg.Leg
	bridge *bridge
	offer  call.CallerInfo
}

var _ call.IncomingCall = (*incomingCall)(nil)

// Caller describes the caller, the called number and the headers of the INVITE.
func (in *incomingCall) Caller() call.CallerInfo { return in.offer }

// Answer accepts the call and waits for the caller's ACK. If ctx ends first, the call ends, too.
func (in *incomingCall) Answer(ctx context.Context) (call.Leg, error) {
	if err := in.leg.Answer(ctx); err != nil {
		return nil, err
	}
	in.bridge.adoptLeg(in.leg)
	return in.bridge, nil
}

// rejections maps the causes with which a call may be rejected to SIP responses.
var rejections = map[call.Cause]int{
	call.CauseBusy:        sip.StatusBusyHere,
	call.CauseRejected:    sip.StatusGlobalDecline,
	call.CauseUnavailable: sip.StatusTemporarilyUnavailable,
	call.CauseOverload:    sip.StatusServiceUnavailable,
	call.CauseInternal:    sip.StatusServiceUnavailable,
}

// Reject rejects the call. It returns CodeBadRequest if rejections does not contain the cause. It does nothing if the call has ended.
func (in *incomingCall) Reject(cause call.Cause) error {
	status, ok := rejections[cause]
	if !ok {
		return callwright.Invalid("cause", "must be busy, rejected, unavailable, overload or internal, not %q", cause)
	}
	r := dialog.Reject{Status: status, Cause: dialog.Cause(cause), Reason: fmt.Sprintf("refused with %d", status)}
	if status == sip.StatusServiceUnavailable {
		r.RetryAfter = retryAfter
	}
	in.leg.Reject(r)
	return nil
}
