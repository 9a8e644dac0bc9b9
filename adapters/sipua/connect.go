package sipua

import (
	"context"
	"strings"

	"github.com/emiago/sipgo/sip"

	"github.com/callwright/callwright/adapters/sipua/internal/attempt"
	"github.com/callwright/callwright/adapters/sipua/internal/peer"
	"github.com/callwright/callwright/adapters/sipua/internal/transport"
	"github.com/callwright/callwright/agents/call"
	"github.com/callwright/callwright/sip/ladder"
	"github.com/callwright/callwright/sip/resolve"
	"github.com/callwright/callwright/sip/uri"
)

// connect tries every address of a server until one accepts a connection or the call's deadline o.until passes. The certificate must name
// the trunk's host, not a name from DNS (RFC 5922, section 4).
func (o *outbound) connect(ctx context.Context, server uri.URI, log *attempt.Log) (*transport.Flow, *call.HangupReason) {
	u := o.ua
	inTime, cancel := context.WithDeadline(ctx, o.until)
	defer cancel()
	targets, err := u.pool.Targets(inTime, server)
	if err != nil {
		log.Note(ladder.NoteUnresolved, peer.Reason(err))
		return nil, unreachable(ctx, err)
	}
	log.Note(ladder.NoteResolved, u.listed(server, targets))
	profile := transport.NewProfile(o.route.Verify, server.Host)
	s := u.pool.Hold(profile)
	if s == nil {
		return nil, &call.HangupReason{Cause: call.CauseOverload, Reason: "the telephone line is closed"}
	}
	for _, to := range targets {
		var conn sip.Connection
		if conn, err = s.Connect(inTime, to.Address); err == nil {
			flow := u.pool.Connected(s, to.Address)
			log.Step(ladder.Event{
				Note: ladder.NoteConnected, Transport: transport.Version(transport.StateOf(conn)), Peer: to.Address.String(),
				Detail: transport.Security(transport.StateOf(conn)) + "; " + profile.String(),
			})
			return flow, nil
		}
		shown := u.shown(to)
		log.Step(ladder.Event{Note: ladder.NoteUnconnected, Peer: shown, Detail: shown + ": " + peer.Reason(err)})
	}
	u.pool.Release(profile)
	return nil, unreachable(ctx, err)
}

func unreachable(ctx context.Context, err error) *call.HangupReason {
	if ctx.Err() != nil {
		return &call.HangupReason{Cause: call.CauseCancelled, Reason: "the call was canceled before it was answered"}
	}
	return &call.HangupReason{Cause: call.CauseUnreachable, Reason: "no TLS connection: " + peer.Reason(err)}
}

// shown returns an address in readable form. If private addresses are not allowed, it hides a private address, because DNS may resolve to
// an internal host.
func (u *UA) shown(t resolve.Target) string {
	if !u.cfg.AllowPrivate && uri.IsPrivate(t.Address.Addr()) {
		return "an address that is not public"
	}
	return t.Address.String()
}

// listed returns a sentence about the addresses of a server and the DNS service that they come from.
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
