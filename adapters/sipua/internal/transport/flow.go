package transport

import (
	"fmt"
	"net/netip"
	"slices"
	"strings"

	"github.com/emiago/sipgo/sip"

	"github.com/callwright/callwright/adapters/sipua/internal/message"
	trunk "github.com/callwright/callwright/sip"
	"github.com/callwright/callwright/sip/dialog"
	"github.com/callwright/callwright/sip/uri"
)

// Flow is the connection that a dialog's messages take: the connection of the peer's last request, while it is open (RFC 5923). It
// also holds the verification of a new connection after it has closed. One goroutine at a time uses a flow.
type Flow struct {
	pool    *Pool
	first   place     // that the dialog has begun at
	now     place     // that it is at
	came    bool      // the peer's last request has come from there
	profile Profile   // of first; host empty: a caller's
	names   []string  // of a caller, for certificates: see Known
	held    []Profile // of the stacks that the flow has acquired
}

// place is one end of a connection.
type place struct {
	stack   *Stack
	address netip.AddrPort // of the peer
}

func (p place) conn() sip.Connection { return p.stack.Existing(p.address) }

// Accepted returns the flow of a request: over a caller's connection, or over one of ours that the peer sends requests on.
// Hold it before the dialog outlives the request.
func (p *Pool) Accepted(s *Stack, from netip.AddrPort) *Flow {
	at := place{s, from}
	f := &Flow{pool: p, first: at, now: at, came: true, profile: Profile{Verify: trunk.VerifyFull}}
	f.Known(p.proven(at.conn())...)
	return f
}

// Connected returns the flow over a connection of an acquired stack. The flow releases the stack.
func (p *Pool) Connected(s *Stack, to netip.AddrPort) *Flow {
	at := place{s, to}
	return &Flow{pool: p, first: at, now: at, profile: s.profile, held: []Profile{s.profile}}
}

// Address returns the peer's address.
func (f *Flow) Address() netip.AddrPort { return f.now.address }

// TLS returns the TLS version, human-readable; empty without a connection.
func (f *Flow) TLS() string { return Version(StateOf(f.now.conn())) }

// Known adds names that the caller is known by: hosts of its trunk's servers, and names that its connection proves. A
// Contact at an address is verified by them. Our own connections are verified as the trunk's host.
func (f *Flow) Known(names ...string) {
	for _, name := range names {
		if name != "" && len(f.names) < maxNames && !slices.Contains(f.names, name) {
			f.names = append(f.names, name)
		}
	}
}

// maxNames bounds the names of one caller: each one costs a connection.
const maxNames = 4

// proven returns the names of a caller's certificate, if it has shown one that we trust.
func (p *Pool) proven(conn sip.Connection) []string { return p.cfg.Credentials.Names(StateOf(conn)) }

// Follow moves the dialog to the connection of a request of the peer.
func (f *Flow) Follow(s *Stack, from netip.AddrPort) {
	to := place{s, from}
	f.came = true
	if to == f.now {
		return
	}
	if s.profile.Host != "" && !slices.Contains(f.held, s.profile) && !f.hold(s) {
		return // it is closed
	}
	f.now = to
	f.Known(f.pool.proven(to.conn())...)
}

// hold acquires the stack of a connection of ours.
func (f *Flow) hold(s *Stack) bool {
	switch f.pool.Hold(s.profile) {
	case s:
		f.held = append(f.held, s.profile)
		return true
	case nil:
	default:
		f.pool.Release(s.profile)
	}
	return false
}

// Hold keeps the connection of a dialog that comes in over one of ours: the registration that it was made for may end
// before the dialog does. Callers close their connections themselves. It returns false once the pool is closed.
func (f *Flow) Hold() bool {
	profile := f.now.stack.profile
	if profile.Host == "" {
		return true
	}
	f.profile = profile
	return f.hold(f.now.stack)
}

// Release releases the connections of the flow. It is called once.
func (f *Flow) Release() {
	for _, profile := range f.held {
		f.pool.Release(profile)
	}
}

// Security describes, human-readable, the encryption of the flow's connection and the verification of the peer.
func (f *Flow) Security() string {
	conn := f.now.conn()
	verified := "the caller has shown no certificate that we trust"
	if names := f.pool.proven(conn); len(names) > 0 {
		verified = "the caller's certificate names " + strings.Join(names[:min(len(names), maxNames)], ", ")
	}
	if len(f.held) > 0 {
		verified = "the connection that we have registered on, " + f.profile.String()
	}
	return Security(StateOf(conn)) + "; " + verified
}

// Cancel starts the transaction of a CANCEL. It goes where its INVITE has gone (RFC 3261, 9.1).
func (f *Flow) Cancel(req *sip.Request) (*sip.ClientTx, error) {
	return f.first.stack.Request(f.pool.ctx, req, f.first.address)
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

// each tries the places that a message may go to until one takes it. The first one is the flow's connection, if the peer's last
// request has come over it or it leads to the next hop: a Contact behind NAT names an unreachable address. With a route set its
// first entry decides until the peer has sent a request.
func (f *Flow) each(path dialog.Path, try func(*Stack, netip.AddrPort) error) error {
	if (f.came || len(path.Routes) == 0 || f.leadsTo(path.NextHop)) && f.now.conn() != nil {
		if err := try(f.now.stack, f.now.address); err == nil {
			return nil
		}
	}
	err := f.elsewhere(path.NextHop, try)
	switch {
	case err == nil:
		return nil
	case f.profile.Host != "": // the trunk's server can be connected to again; a caller's ephemeral port can't
		return try(f.first.stack, f.first.address)
	case f.now.conn() != nil:
		return try(f.now.stack, f.now.address)
	default:
		return err
	}
}

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
	return err == nil && addr.Unmap() == f.now.address.Addr()
}

// profiles returns the permitted verifications of the server at a next hop: as the trunk's host; for a caller, by each name that it is
// known by, and by the host of the hop itself. A name comes before the names of an address.
func (f *Flow) profiles(host string) []Profile {
	if f.profile.Host != "" {
		return []Profile{f.profile}
	}
	names := append(slices.Clone(f.names), host)
	if _, err := netip.ParseAddr(host); err != nil {
		names = append([]string{host}, f.names...)
	}
	all := make([]Profile, 0, len(names))
	for _, name := range names {
		all = append(all, Profile{Verify: f.profile.Verify, Host: name})
	}
	return all
}

// elsewhere tries new connections to where a next hop leads.
func (f *Flow) elsewhere(hop string, try func(*Stack, netip.AddrPort) error) error {
	var next sip.Uri
	if err := sip.ParseUri(hop, &next); err != nil {
		return fmt.Errorf("next hop: %w", err)
	}
	host := message.TrimBrackets(next.Host)
	targets, err := f.pool.Targets(f.pool.ctx, uri.URI{Host: host, Port: uint16(next.Port)})
	if err != nil {
		return err
	}
	for _, profile := range f.profiles(host) {
		s := f.pool.Hold(profile)
		if s == nil {
			return ErrClosed
		}
		for _, to := range targets {
			if err = try(s, to.Address); err == nil {
				f.pool.Release(profile)
				return nil
			}
		}
		f.pool.Release(profile)
	}
	return err
}
