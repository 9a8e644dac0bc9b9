package sipua

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"net/netip"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/emiago/sipgo/sip"

	"github.com/callwright/callwright"
	"github.com/callwright/callwright/agents/call"
	trunk "github.com/callwright/callwright/sip"
	"github.com/callwright/callwright/sip/dialog"
	"github.com/callwright/callwright/sip/failover"
	"github.com/callwright/callwright/sip/header"
	"github.com/callwright/callwright/sip/ladder"
	"github.com/callwright/callwright/sip/sdp"
	"github.com/callwright/callwright/sip/uri"
)

// Dial places a call: at the route's first server, and at the next one where the trunk's failover says so. progress must
// not block: the call's messages wait for it. What is wrong with d itself is a CodeBadRequest instead of an Ending, and
// what Routes says is passed on.
func (u *UA) Dial(ctx context.Context, d call.Dial, progress func(call.Progress)) (call.Leg, error) {
	a, err := u.attempt(ctx, d)
	if err != nil {
		return nil, err
	}
	a.ringing = sync.OnceFunc(func() {
		if progress != nil {
			progress(call.ProgressRinging)
		}
	})
	c, ending := a.run(ctx)
	if ending != nil {
		return nil, ending
	}
	return &leg{c: c}, nil
}

// attempt is a call to one server after the other.
type attempt struct {
	ua      *UA
	dial    call.Dial
	route   trunk.Route
	codecs  []sdp.Codec
	headers []sip.Header
	ringing func()
	observe func(ladder.Event) // hears of every step; nil: nobody does
	until   time.Time          // no other server is tried after that
}

// attempt finds out where a call may go and what it says.
func (u *UA) attempt(ctx context.Context, d call.Dial) (*attempt, error) {
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
	for _, h := range header.Outbound(route.Headers, d.Variables) {
		headers = append(headers, sip.NewHeader(h.Name, h.Value))
	}
	return &attempt{
		ua: u, dial: d, route: route, codecs: codecs, headers: headers, ringing: func() {}, until: time.Now().Add(u.limit),
	}, nil
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

// run tries one server after the other until one of them has the call, or none may be tried any more. The ending is that
// of the last one.
func (a *attempt) run(ctx context.Context) (*phonecall, *call.Ending) {
	last, tried := call.Ending{Cause: call.CauseUnreachable, Reason: "the trunk has no server"}, 0
	for i, server := range a.route.Servers {
		if i > 0 && !time.Now().Before(a.until) {
			break
		}
		tried++
		c, ending, next := a.try(ctx, server, tried)
		if ending == nil {
			return c, nil
		}
		last = *ending
		a.ua.log.Info("call attempt failed",
			"call", a.dial.CallID, "server", server.Host, "cause", ending.Cause, "reason", ending.Reason)
		if !next || ctx.Err() != nil {
			break
		}
	}
	if tried > 1 {
		last.Reason = strings.TrimSpace(fmt.Sprintf("%s (%d servers tried)", last.Reason, tried))
	}
	return nil, &last
}

// try calls through one server. next says that another one may have more luck.
func (a *attempt) try(ctx context.Context, server uri.URI, n int) (c *phonecall, ending *call.Ending, next bool) {
	u := a.ua
	if !u.take() {
		return nil, &call.Ending{Cause: call.CauseOverload, Reason: "draining, or too many calls"}, false
	}
	id := a.identity(server)
	e := a.entry(id, server, n)
	f, ending := a.reach(ctx, server, e)
	if ending != nil {
		unreached := ending.Cause == call.CauseUnreachable
		e.never(ending, unreached)
		u.give()
		return nil, ending, unreached && a.route.Failover.Next(failover.Outcome{})
	}
	e.record.Source = f.address.Addr().String()
	c, ending = a.start(ctx, server, id, f, e)
	if ending != nil {
		e.never(ending, false)
		u.stacks.release(f.profile)
		u.give()
		return nil, ending, false
	}
	ending, next = a.await(ctx, c)
	return c, ending, next
}

// start sends the INVITE.
func (a *attempt) start(
	ctx context.Context, server uri.URI, id identity, f flow, e *entry,
) (*phonecall, *call.Ending) {
	u := a.ua
	session, err := u.config.Media.Open(ctx)
	if err != nil {
		u.log.Warn("no media for a call", "call", a.dial.CallID, "error", err)
		return nil, &call.Ending{Cause: call.CauseOverload, Reason: "no media port is free"}
	}
	c := u.newCall(id, a.route, f, e)
	c.media.session, c.media.codecs, c.media.transcode = session, a.codecs, a.route.Transcode
	c.extra, c.onRinging = a.headers, a.ringing
	if !u.remember(c) {
		_ = session.Close()
		return nil, &call.Ending{Cause: call.CauseOverload, Reason: "the line is closed"}
	}
	ring := a.dial.Ring
	if ring == 0 {
		ring = u.config.Ring
	}
	target := a.target(server)
	c.box.post(func() {
		e.begin()
		c.apply(dialog.Dial{Target: target.String(), Ring: ring})
	})
	return c, nil
}

// await waits for the answer, but not for long for the first word of a server: RFC 3261 would wait for 64*T1. A call that
// is given up goes on without us until nothing of it is left.
func (a *attempt) await(ctx context.Context, c *phonecall) (ending *call.Ending, next bool) {
	if silent := a.silence(ctx, c); silent != nil {
		givenUp := make(chan struct{})
		c.box.post(func() {
			c.apply(hangup(silent.Cause, silent.Reason))
			close(givenUp)
		})
		<-givenUp
		return silent, a.route.Failover.Next(failover.Outcome{Connected: true})
	}
	_, err := c.leg(ctx)
	if err == nil {
		return nil, false
	}
	ending, _ = errors.AsType[*call.Ending](err)
	select {
	case <-c.done:
		return ending, a.route.Failover.Next(c.outcome)
	default:
		return ending, false // given up by whoever called
	}
}

// silence waits for the first word of a server, and is an ending when none comes.
func (a *attempt) silence(ctx context.Context, c *phonecall) *call.Ending {
	patience := time.NewTimer(a.ua.patience)
	defer patience.Stop()
	select {
	case <-c.heard.any:
	case <-c.done:
	case <-ctx.Done():
	case <-patience.C:
		select {
		case <-c.heard.any:
		default:
			return &call.Ending{Cause: call.CauseUnreachable, Reason: "the server did not answer in time"}
		}
	}
	return nil
}

// entry is the record of one server's attempt.
func (a *attempt) entry(id identity, server uri.URI, n int) *entry {
	e := a.ua.newEntry(trunk.CallRecord{
		Org: a.route.Org, TrunkID: a.route.TrunkID, Number: a.dial.From, ParentID: a.dial.CallID, Direction: trunk.Outbound,
		From: a.dial.From.String(), To: a.dial.To.String(), SIPCallID: id.callID, Attempt: n,
		Server: failover.Server{Host: server.Host, Port: server.Port}.String(),
	})
	e.steps.Observe = a.observe
	return e
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
