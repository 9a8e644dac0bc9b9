package sipua

import (
	"context"
	"crypto/tls"
	"errors"
	"strings"

	"github.com/callwright/callwright"
	"github.com/callwright/callwright/adapters/sipua/peer"
	"github.com/callwright/callwright/agents/call"
	"github.com/callwright/callwright/sip/ladder"
	"github.com/callwright/callwright/sip/resolve"
	"github.com/callwright/callwright/sip/uri"
)

// reach connects to a server: every address of it is tried until the call's time is over. Its stack is to be released
// unless it failed. The certificate has to name the trunk's host, never what DNS has made of it (RFC 5922, section 4).
func (a *attempt) reach(ctx context.Context, server uri.URI, e *entry) (flow, *call.Ending) {
	u := a.ua
	inTime, cancel := context.WithDeadline(ctx, a.until)
	defer cancel()
	targets, err := u.targets(inTime, server)
	if err != nil {
		e.note(ladder.NoteUnresolved, reasonOf(err))
		return flow{}, unreachable(ctx, err)
	}
	e.note(ladder.NoteResolved, u.listed(server, targets))
	p := profileOf(a.route.Verify, server.Host)
	s := u.stacks.acquire(p)
	if s == nil {
		return flow{}, &call.Ending{Cause: call.CauseOverload, Reason: "the line is closed"}
	}
	for _, to := range targets {
		var state tls.ConnectionState
		if state, err = s.connect(inTime, to.Address); err == nil {
			e.step(ladder.Event{
				Note: ladder.NoteConnected, Transport: tlsName(state), Peer: to.Address.String(),
				Detail: security(state) + "; " + verified(p),
			})
			return flow{stack: s, address: to.Address, profile: p, tls: tlsName(state)}, nil
		}
		shown := u.shown(to)
		e.step(ladder.Event{Note: ladder.NoteUnconnected, Peer: shown, Detail: shown + ": " + reasonOf(err)})
	}
	u.stacks.release(p)
	return flow{}, unreachable(ctx, err)
}

// targets looks a server up. There is at least one, or an error.
func (u *UA) targets(ctx context.Context, server uri.URI) ([]resolve.Target, error) {
	ctx, cancel := context.WithTimeout(ctx, connectTimeout)
	defer cancel()
	return u.resolver.Targets(ctx, server)
}

// shown is an address for people. Where private ones are not called, nobody learns what a name means inside.
func (u *UA) shown(t resolve.Target) string {
	if !u.config.AllowPrivate && uri.IsPrivate(t.Address.Addr()) {
		return "an address that is not public"
	}
	return t.Address.String()
}

// listed is where a server is, for people.
func (u *UA) listed(server uri.URI, targets []resolve.Target) string {
	addresses := make([]string, 0, len(targets))
	for _, t := range targets {
		addresses = append(addresses, u.shown(t))
	}
	text := server.Host + " is at " + strings.Join(addresses, ", ")
	if service := targets[0].Service; service != "" {
		text += " by " + service
	}
	return text
}

func unreachable(ctx context.Context, err error) *call.Ending {
	if ctx.Err() != nil {
		return &call.Ending{Cause: call.CauseCancelled, Reason: "given up"}
	}
	return &call.Ending{Cause: call.CauseUnreachable, Reason: "no TLS connection: " + reasonOf(err)}
}

// reasonOf says what is wrong with a server: with its name as the resolver says, or with the connection.
func reasonOf(err error) string {
	if e, ok := errors.AsType[*callwright.Error](err); ok {
		return e.Message
	}
	return peer.Reason(err)
}
