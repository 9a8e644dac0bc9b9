package sipua

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"log/slog"
	"strings"
	"sync"
	"time"

	"github.com/emiago/sipgo/sip"

	"github.com/callwright/callwright"
	"github.com/callwright/callwright/adapters/sipua/internal/attempt"
	"github.com/callwright/callwright/adapters/sipua/internal/leg"
	"github.com/callwright/callwright/adapters/sipua/internal/message"
	"github.com/callwright/callwright/adapters/sipua/internal/transport"
	"github.com/callwright/callwright/agents/call"
	trunk "github.com/callwright/callwright/sip"
	"github.com/callwright/callwright/sip/calllog"
	"github.com/callwright/callwright/sip/failover"
	"github.com/callwright/callwright/sip/header"
	"github.com/callwright/callwright/sip/ladder"
	"github.com/callwright/callwright/sip/sdp"
	"github.com/callwright/callwright/sip/uri"
)

// Dial places a call at the route's first server, and at the next ones if the trunk's failover policy allows it. progress may be nil and
// must not block, because the call's messages wait for it. An invalid d causes CodeBadRequest, a route with unknown codecs causes
// CodeInternal, and an error of Routes is returned unchanged. If the call itself fails, the error is a *call.HangupReason.
func (u *UA) Dial(ctx context.Context, d call.DialRequest, progress func(call.Progress)) (call.Leg, error) {
	o, err := u.newOutbound(ctx, d)
	if err != nil {
		return nil, err
	}
	o.ringing = sync.OnceFunc(func() {
		if progress != nil {
			progress(call.ProgressRinging)
		}
	})
	o.early = sync.OnceFunc(func() {
		if progress != nil {
			progress(call.ProgressEarlyMedia)
		}
	})
	b := u.newBridge(d.CallID, d.Variables)
	o.bridge = b
	l, ending := o.run(ctx)
	if ending != nil {
		return nil, ending
	}
	b.adoptLeg(l)
	return b, nil
}

// outbound is an outbound call that tries its servers one after the other.
type outbound struct {
	ua      *UA
	dial    call.DialRequest
	route   trunk.Route
	codecs  []sdp.Codec
	headers []sip.Header
	ringing func()
	early   func()             // called when the callee's side sends audio before the answer; may be nil
	bridge  *bridge            // of the call; nil for a test call, whose peer cannot transfer it
	audio   *leg.Audio         // of the call to transfer, which the answered call takes over; otherwise nil
	observe func(ladder.Event) // receives every step of the ladder; may be nil
	until   time.Time          // no further server is tried after this time
	to      *message.Party     // the original callee of a redirected call; otherwise nil
	place   string             // URI to which the call was redirected; empty if it was not redirected
	moved   *leg.Redirection   // the redirection that ended the last attempt; nil if none did
	last    uri.URI            // the server of the last attempt
}

// newOutbound validates a request, looks up its route and prepares the call.
func (u *UA) newOutbound(ctx context.Context, d call.DialRequest) (*outbound, error) {
	if _, err := checkDial(d); err != nil {
		return nil, err
	}
	route, err := u.cfg.Routes.Outbound(ctx, d.Org, d.From)
	if err != nil {
		return nil, err
	}
	return u.outboundOver(route, d)
}

// outboundOver prepares a call over a known route. It returns CodeBadRequest for an invalid request, and CodeInternal for a route with
// unknown codecs.
func (u *UA) outboundOver(route trunk.Route, d call.DialRequest) (*outbound, error) {
	headers, err := checkDial(d)
	if err != nil {
		return nil, err
	}
	codecs, err := leg.Codecs(route.Codecs)
	if err != nil {
		return nil, callwright.Errorf(callwright.CodeInternal, "trunk %s: %w", route.TrunkID, err)
	}
	for _, h := range header.Outbound(route.Headers, d.Variables) {
		headers = append(headers, sip.NewHeader(h.Name, h.Value))
	}
	return &outbound{
		ua: u, dial: d, route: route, codecs: codecs, headers: headers, ringing: func() {}, until: time.Now().Add(u.limit),
	}, nil
}

// checkDial validates d and returns its custom headers. It returns CodeBadRequest for an invalid number, ringing time or header.
func checkDial(d call.DialRequest) ([]sip.Header, error) {
	for field, n := range map[string]callwright.PhoneNumber{"from": d.From, "to": d.To} {
		if parsed, err := callwright.ParsePhoneNumber(n.String()); err != nil || parsed != n {
			return nil, callwright.Invalid(field, "must be an E.164 phone number such as +15551234567")
		}
	}
	if d.Ring < 0 || d.Ring > maxRing {
		return nil, callwright.Invalid("ring", "must be from 0 to %s", maxRing)
	}
	return message.NewCustomHeaders(d.Headers)
}

// run tries the servers until one accepts the call, failover allows no further server, o.until has passed or ctx ends. If no server
// accepts, run returns the hangup reason of the last attempt. If a server redirects the call, run continues with follow instead of the next
// server.
func (o *outbound) run(ctx context.Context) (*leg.Leg, *call.HangupReason) {
	last, tried := call.HangupReason{Cause: call.CauseUnreachable, Reason: "the trunk has no server"}, 0
	for i, server := range o.route.Servers {
		if i > 0 && !time.Now().Before(o.until) {
			break
		}
		tried++
		l, ending, next := o.try(ctx, server, tried)
		if ending == nil {
			return l, nil
		}
		if o.moved != nil {
			return o.follow(ctx, *ending, tried)
		}
		last = *ending
		o.ua.log.Info("call attempt failed",
			"call_id", o.dial.CallID, "server", server.Host, "cause", ending.Cause, "reason", ending.Reason)
		if !next || ctx.Err() != nil {
			break
		}
	}
	if tried > 1 {
		last.Reason = strings.TrimSpace(fmt.Sprintf("%s (%d servers tried)", last.Reason, tried))
	}
	return nil, &last
}

// try places the call at one server as attempt n. next reports whether failover allows the next server.
func (o *outbound) try(ctx context.Context, server uri.URI, n int) (l *leg.Leg, ending *call.HangupReason, next bool) {
	u := o.ua
	o.moved, o.last = nil, server
	if !u.registry.reserve() {
		return nil, &call.HangupReason{Cause: call.CauseOverload, Reason: u.full(false)}, false
	}
	id := o.identity(server)
	log := o.log(id, server, n)
	flow, ending := o.connect(ctx, server, log)
	if ending != nil {
		unreached := ending.Cause == call.CauseUnreachable && !o.route.Foreign
		log.Unsent(ending, unreached)
		u.registry.release()
		return nil, ending, unreached && o.route.Failover.Next(failover.Outcome{})
	}
	log.Connected(flow.Address().Addr().String())
	l, ending = o.start(ctx, server, id, flow, log)
	if ending != nil {
		log.Unsent(ending, false)
		flow.Release()
		u.registry.release()
		return nil, ending, false
	}
	ending, next = o.await(ctx, l)
	return l, ending, next
}

// start opens the media, or takes over existing audio, adds the leg to the registry and sends the INVITE.
func (o *outbound) start(
	ctx context.Context, server uri.URI, id message.Identity, flow *transport.Flow, log *attempt.Log,
) (*leg.Leg, *call.HangupReason) {
	u := o.ua
	audio, ending := o.media(ctx)
	if ending != nil {
		return nil, ending
	}
	cfg := leg.Config{
		Identity: id, Route: o.route, Flow: flow, Log: log, PublicMedia: !u.cfg.AllowPrivate,
		SessionExpires: u.cfg.SessionExpires, RedirectedTo: o.place, Runtime: callwright.Runtime{Logger: u.log.With("call_id", o.dial.CallID)},
		OnEnd: func() {
			u.registry.deleteDialog(keyOf(id))
			flow.Release()
			u.registry.release()
		},
	}
	if o.bridge != nil {
		cfg.OnOver, cfg.Refer = o.bridge.over, o.bridge.refer
	}
	l := leg.New(cfg)
	if !u.registry.add(keyOf(id), entry{leg: l}) {
		audio.Discard()
		return nil, &call.HangupReason{Cause: call.CauseOverload, Reason: "the telephone line is closed"}
	}
	l.Dial(leg.Invitation{
		Target: o.target(server), Headers: o.headers, Audio: audio, Codecs: o.codecs, Ringing: o.ringing, Early: o.early,
		Ring: cmp.Or(o.dial.Ring, u.cfg.Ring),
	})
	return l, nil
}

// media returns the audio of the call to transfer, or the audio of a new media session.
func (o *outbound) media(ctx context.Context) (*leg.Audio, *call.HangupReason) {
	if o.audio != nil {
		return o.audio, nil
	}
	session, err := o.ua.cfg.Media.Open(callwright.WithLog(ctx, slog.String("call_id", o.dial.CallID)))
	if ctx.Err() != nil {
		if err == nil {
			_ = session.Close()
		}
		return nil, &call.HangupReason{Cause: call.CauseCancelled, Reason: "the call was canceled before it was answered"}
	}
	if err != nil {
		o.ua.log.Warn("no media session for a call", "call_id", o.dial.CallID, "error", err)
		return nil, &call.HangupReason{Cause: call.CauseOverload, Reason: callwright.MessageOf(err)}
	}
	return leg.NewAudio(session), nil
}

// await waits for the final response. It waits for the first response no longer than UA.patience, because the limit of RFC 3261, 64*T1 (32
// s), would delay the failover too long. An abandoned leg continues in the background until it has ended.
func (o *outbound) await(ctx context.Context, l *leg.Leg) (ending *call.HangupReason, next bool) {
	if silent := o.silence(ctx, l); silent != nil {
		l.GiveUp(silent.Cause, silent.Reason)
		return silent, o.route.Failover.Next(failover.Outcome{Connected: true})
	}
	err := l.Wait(ctx)
	if err == nil {
		return nil, false
	}
	ending, _ = errors.AsType[*call.HangupReason](err)
	select {
	case <-l.Done():
		o.moved = l.Redirection()
		return ending, o.route.Failover.Next(l.Outcome())
	default:
		return ending, false // ctx ended before the leg
	}
}

// silence waits for the server's first response. It returns a hangup reason if none arrives in time, and nil otherwise.
func (o *outbound) silence(ctx context.Context, l *leg.Leg) *call.HangupReason {
	patience := time.NewTimer(o.ua.patience)
	defer patience.Stop()
	select {
	case <-l.Replied():
	case <-l.Done():
	case <-ctx.Done():
	case <-patience.C:
		select {
		case <-l.Replied():
		default:
			return &call.HangupReason{Cause: call.CauseUnreachable, Reason: fmt.Sprintf("the server did not answer within %s", o.ua.patience)}
		}
	}
	return nil
}

// log opens the log of attempt n at a server.
func (o *outbound) log(id message.Identity, server uri.URI, n int) *attempt.Log {
	return o.ua.attempts.New(calllog.Record{
		Org: o.route.Org, TrunkID: o.route.TrunkID, Number: o.dial.From, ParentID: o.dial.CallID, Direction: trunk.Outbound,
		From: o.dial.From.String(), To: o.dial.To.String(), SIPCallID: id.CallID, Attempt: n,
		Server: failover.Server{Host: server.Host, Port: server.Port}.String(),
	}, o.observe)
}

// target returns the Request-URI: the called number at the server's host and port, over TLS.
func (o *outbound) target(server uri.URI) sip.Uri {
	t := sip.Uri{Scheme: "sip", User: o.dial.To.String(), Host: message.Bracketed(server.Host), Port: int(server.Port)}
	t.UriParams.Add("transport", "tls")
	return t
}

func (o *outbound) identity(server uri.URI) message.Identity {
	u := o.ua
	contact := *u.contact.Clone()
	contact.User = o.dial.From.String()
	remote := message.Party{URI: sip.Uri{Scheme: "sip", User: o.dial.To.String(), Host: message.Bracketed(server.Host)}}
	if o.to != nil {
		remote = *o.to // To stays unchanged (RFC 3261, 8.1.3.4)
	}
	return message.Identity{
		CallID: token(), LocalTag: token(), Contact: contact, Via: u.contact, Agent: u.cfg.UserAgent,
		Local:  message.Party{URI: sip.Uri{Scheme: "sip", User: o.dial.From.String(), Host: u.contact.Host}},
		Remote: remote,
	}
}
