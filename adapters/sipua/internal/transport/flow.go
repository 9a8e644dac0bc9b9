package transport

import (
	"fmt"
	"net/netip"

	"github.com/emiago/sipgo/sip"

	"github.com/callwright/callwright/adapters/sipua/internal/message"
	trunk "github.com/callwright/callwright/sip"
	"github.com/callwright/callwright/sip/dialog"
	"github.com/callwright/callwright/sip/uri"
)

// Flow is the connection that a dialog's messages take (RFC 5626), and how to verify another one when it has closed.
type Flow struct {
	pool    *Pool
	stack   *Stack
	held    bool           // the flow has acquired its stack
	profile Profile        // host empty: the next hop's own name
	Address netip.AddrPort // of the peer
	TLS     string         // the TLS version, for people
}

// Accepted returns the flow of a request: over a caller's connection, or over one of ours that the peer sends requests on.
// Hold it before the dialog outlives the request.
func (p *Pool) Accepted(s *Stack, from netip.AddrPort) Flow {
	return Flow{
		pool: p, stack: s, profile: Profile{Verify: trunk.VerifyFull}, Address: from, TLS: Version(StateOf(s.Existing(from))),
	}
}

// Connected returns the flow over a connection of an acquired stack. The flow releases the stack.
func (p *Pool) Connected(s *Stack, conn sip.Connection, to netip.AddrPort) Flow {
	return Flow{pool: p, stack: s, held: true, profile: s.profile, Address: to, TLS: Version(StateOf(conn))}
}

// Over reports whether a flow is of a stack.
func (f *Flow) Over(s *Stack) bool { return f.stack == s }

// Hold keeps the connection of a dialog that comes in over one of ours: the registration that it was made for may end
// before the dialog does. Callers close their connections themselves. It returns false once the pool is closed.
func (f *Flow) Hold() bool {
	profile := f.stack.profile
	if profile.Host == "" {
		return true
	}
	switch f.pool.Acquire(profile) {
	case f.stack:
		f.profile, f.held = profile, true
		return true
	case nil:
	default:
		f.pool.Release(profile)
	}
	return false
}

// Release gives up what Hold or Connected has taken. It is called once.
func (f *Flow) Release() {
	if f.held {
		f.pool.Release(f.profile)
	}
}

// Security describes for people how the flow's connection is encrypted, and how the peer was verified.
func (f *Flow) Security() string {
	verified := "the caller was not asked for a certificate"
	if f.held {
		verified = "the connection that we have registered on, " + f.profile.String()
	}
	return Security(StateOf(f.stack.Existing(f.Address))) + "; " + verified
}

// Cancel starts the transaction of a CANCEL. It goes where its INVITE has gone (RFC 3261, 9.1).
func (f *Flow) Cancel(req *sip.Request) (*sip.ClientTx, error) {
	return f.stack.Request(f.pool.ctx, req, f.Address)
}

// Write sends an ACK.
func (f *Flow) Write(req *sip.Request, path dialog.Path) error {
	return f.each(path, func(s *Stack, to netip.AddrPort) error { return s.Write(f.pool.ctx, req, to) })
}

// Request starts a client transaction.
func (f *Flow) Request(req *sip.Request, path dialog.Path) (tx *sip.ClientTx, err error) {
	err = f.each(path, func(s *Stack, to netip.AddrPort) error {
		tx, err = s.Request(f.pool.ctx, req, to)
		return err
	})
	return tx, err
}

// each tries the places that a message may go to until one takes it. Without a route set that is the flow's connection:
// a Contact behind NAT names an address that nobody can reach. With a route set its first entry decides, unless the
// connection leads there anyway.
func (f *Flow) each(path dialog.Path, try func(*Stack, netip.AddrPort) error) error {
	if (len(path.Routes) == 0 || f.leadsTo(path.NextHop)) && f.open() {
		if err := try(f.stack, f.Address); err == nil {
			return nil
		}
	}
	err := f.elsewhere(path.NextHop, try)
	// The trunk's server can be connected to again; a caller's ephemeral port can't.
	if err != nil && (f.profile.Host != "" || f.open()) {
		return try(f.stack, f.Address)
	}
	return err
}

func (f *Flow) open() bool { return f.stack.Existing(f.Address) != nil }

// leadsTo reports whether a next hop is the peer of the flow, by address or by the trunk's host.
func (f *Flow) leadsTo(hop string) bool {
	var u sip.Uri
	if sip.ParseUri(hop, &u) != nil {
		return false
	}
	if u.Host == f.profile.Host {
		return true
	}
	addr, err := netip.ParseAddr(message.TrimBrackets(u.Host))
	return err == nil && addr.Unmap() == f.Address.Addr()
}

// elsewhere tries new connections to where a next hop leads.
func (f *Flow) elsewhere(hop string, try func(*Stack, netip.AddrPort) error) error {
	var next sip.Uri
	if err := sip.ParseUri(hop, &next); err != nil {
		return fmt.Errorf("next hop: %w", err)
	}
	host := message.TrimBrackets(next.Host)
	profile := f.profile
	if profile.Host == "" {
		profile.Host = host
	}
	targets, err := f.pool.Targets(f.pool.ctx, uri.URI{Host: host, Port: uint16(next.Port)})
	if err != nil {
		return err
	}
	s := f.pool.Acquire(profile)
	if s == nil {
		return ErrClosed
	}
	defer f.pool.Release(profile)
	for _, to := range targets {
		if err = try(s, to.Address); err == nil {
			return nil
		}
	}
	return err
}
