package sipua

import (
	"context"
	"crypto/tls"
	"errors"
	"maps"
	"net"
	"net/netip"
	"slices"
	"sync"
	"syscall"

	"code.dny.dev/ssrf"
	"github.com/emiago/sipgo/sip"

	"github.com/callwright/callwright"
	"github.com/callwright/callwright/agents/call"
	trunk "github.com/callwright/callwright/sip"
	"github.com/callwright/callwright/sip/dialog"
	"github.com/callwright/callwright/sip/sdp"
	"github.com/callwright/callwright/sip/uri"
)

// Dial places a call: at the route's first server, and at the next one where that fails for technical reasons. progress
// must not block: the call's messages wait for it. What is wrong with d itself is a CodeBadRequest instead of an Ending,
// and what Routes says is passed on.
func (u *UA) Dial(ctx context.Context, d call.Dial, progress func(call.Progress)) (call.Leg, error) {
	headers, err := checkDial(d)
	if err != nil {
		return nil, err
	}
	route, err := u.config.Routes.Outbound(ctx, d.Org, d.From)
	if err != nil {
		return nil, err
	}
	codecs, err := codecsOf(route.Codecs)
	if err != nil {
		return nil, callwright.Errorf(callwright.CodeInternal, "trunk %s: %w", route.TrunkID, err)
	}
	ringing := sync.OnceFunc(func() {
		if progress != nil {
			progress(call.ProgressRinging)
		}
	})
	a := attempt{ua: u, dial: d, route: route, codecs: codecs, headers: headers, ringing: ringing}
	last := &call.Ending{Cause: call.CauseUnreachable, Reason: "the trunk has no server"}
	for _, server := range route.Servers {
		leg, ending := a.try(ctx, server)
		if ending == nil {
			return leg, nil
		}
		last = ending
		if ctx.Err() != nil || !another(*ending, a.rang) {
			break
		}
		u.log.Info("call attempt failed", "call", d.CallID, "server", server.Host, "cause", ending.Cause, "reason", ending.Reason)
	}
	return nil, last
}

// checkDial refuses what must not get into a message.
func checkDial(d call.Dial) ([]sip.Header, error) {
	for field, n := range map[string]callwright.PhoneNumber{"from": d.From, "to": d.To} {
		if parsed, err := callwright.ParsePhoneNumber(n.String()); err != nil || parsed != n {
			return nil, callwright.Invalid(field, "must be an E.164 phone number such as +15551234567")
		}
	}
	if d.Ring < 0 || d.Ring > maxRing {
		return nil, callwright.Invalid("ring", "a phone rings for at most %s", maxRing)
	}
	var headers []sip.Header
	for _, name := range slices.Sorted(maps.Keys(d.Headers)) {
		value := d.Headers[name]
		if !isCustom(name) {
			continue // the rest of the message is not the caller's business
		}
		if !isToken(name) || hasControl(value) || len(name)+len(value) > maxHeader {
			return nil, callwright.Invalid("headers", "%.40q can't be sent as a SIP header", name)
		}
		headers = append(headers, sip.NewHeader(name, value))
	}
	return headers, nil
}

// maxHeader bounds one header that an application adds, in bytes.
const maxHeader = 2048

func isToken(s string) bool {
	for i := range len(s) {
		c := s[i]
		alphanumeric := c >= 'a' && c <= 'z' || c >= 'A' && c <= 'Z' || c >= '0' && c <= '9'
		if !alphanumeric && c != '-' && c != '_' && c != '.' {
			return false
		}
	}
	return s != ""
}

// another says whether the next server may have more luck: when this one could not be reached or is out of order. What
// the callee decided stays decided, and so does a call that rang.
func another(e call.Ending, rang bool) bool {
	if rang {
		return false
	}
	switch e.SIPCode {
	case 0:
		return e.Cause == call.CauseUnreachable
	case 408, 502, 503, 504:
		return true
	default:
		return false
	}
}

// attempt is a call to one server after the other.
type attempt struct {
	ua      *UA
	dial    call.Dial
	route   trunk.Route
	codecs  []sdp.Codec
	headers []sip.Header
	ringing func()
	rang    bool
}

// try calls through one server.
func (a *attempt) try(ctx context.Context, server uri.URI) (call.Leg, *call.Ending) {
	u := a.ua
	if !u.take() {
		return nil, &call.Ending{Cause: call.CauseOverload, Reason: "draining, or too many calls"}
	}
	f, ending := a.reach(ctx, server)
	if ending != nil {
		u.give()
		return nil, ending
	}
	session, err := u.config.Media.Open(ctx)
	if err != nil {
		u.stacks.release(f.profile)
		u.give()
		u.log.Warn("no media for a call", "call", a.dial.CallID, "error", err)
		return nil, &call.Ending{Cause: call.CauseOverload, Reason: "no media port is free"}
	}
	target := a.target(server)
	c := u.newCall(a.identity(server), a.route, f)
	c.media.session, c.media.codecs = session, a.codecs
	c.extra, c.onRinging = a.headers, a.ringing
	if !u.remember(c) {
		_ = session.Close()
		u.stacks.release(f.profile)
		u.give()
		return nil, &call.Ending{Cause: call.CauseOverload, Reason: "the line is closed"}
	}
	ring := a.dial.Ring
	if ring == 0 {
		ring = u.config.Ring
	}
	c.post(dialog.Dial{Target: target.String(), Ring: ring})
	leg, err := c.leg(ctx)
	if err == nil {
		return leg, nil
	}
	select {
	case <-c.done:
		a.rang = c.rang
	default:
	}
	ending, _ = errors.AsType[*call.Ending](err)
	return nil, ending
}

// reach connects to a server: every address of it is tried. Its stack is to be released unless it failed.
func (a *attempt) reach(ctx context.Context, server uri.URI) (flow, *call.Ending) {
	u := a.ua
	p := profileOf(a.route.Verify, server.Host)
	lookup, cancel := context.WithTimeout(ctx, connectTimeout)
	addresses, err := resolve(lookup, u.resolver, server)
	cancel()
	if err != nil {
		return flow{}, unreachable(ctx, err)
	}
	s := u.stacks.acquire(p)
	if s == nil {
		return flow{}, &call.Ending{Cause: call.CauseOverload, Reason: "the line is closed"}
	}
	err = errNoAddress
	for _, to := range addresses {
		state, connectErr := s.connect(ctx, to)
		if connectErr == nil {
			return flow{stack: s, address: to, profile: p, tls: tlsName(state)}, nil
		}
		err = connectErr
	}
	u.stacks.release(p)
	u.log.Info("server not reached", "call", a.dial.CallID, "server", server.Host, "error", err)
	return flow{}, unreachable(ctx, err)
}

func unreachable(ctx context.Context, err error) *call.Ending {
	switch {
	case ctx.Err() != nil:
		return &call.Ending{Cause: call.CauseCancelled, Reason: "given up"}
	case errors.Is(err, ssrf.ErrProhibitedIP):
		return &call.Ending{Cause: call.CauseUnreachable, Reason: "the server's address is not a public one"}
	default:
		return &call.Ending{Cause: call.CauseUnreachable, Reason: "no TLS connection: " + reasonOf(err)}
	}
}

// reasonOf says what is wrong with a connection, without the path on which it became known.
func reasonOf(err error) string {
	if e, ok := errors.AsType[*tls.CertificateVerificationError](err); ok {
		return "the certificate is refused: " + e.Err.Error()
	}
	if e, ok := errors.AsType[*net.DNSError](err); ok {
		return "no address for " + e.Name
	}
	if e, ok := errors.AsType[syscall.Errno](err); ok {
		return e.Error()
	}
	if errors.Is(err, context.DeadlineExceeded) {
		return "no answer in time"
	}
	return err.Error()
}

// target is the Request-URI: the number at the server.
func (a *attempt) target(server uri.URI) sip.Uri {
	t := sip.Uri{Scheme: "sip", User: a.dial.To.String(), Host: bracketed(server.Host), Port: int(server.Port)}
	t.UriParams.Add("transport", "tls")
	return t
}

func (a *attempt) identity(server uri.URI) identity {
	u := a.ua
	contact := *u.contact.Clone()
	contact.User = a.dial.From.String()
	return identity{
		callID: token(), localTag: token(), contact: contact, via: u.contact, agent: u.config.UserAgent,
		local:  party{uri: sip.Uri{Scheme: "sip", User: a.dial.From.String(), Host: u.contact.Host}},
		remote: party{uri: sip.Uri{Scheme: "sip", User: a.dial.To.String(), Host: bracketed(server.Host)}},
	}
}

// bracketed is a host as it stands in a URI.
func bracketed(host string) string {
	if addr, err := netip.ParseAddr(host); err == nil && addr.Is6() {
		return "[" + host + "]"
	}
	return host
}
