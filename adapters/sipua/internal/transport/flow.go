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

// Flow is the connection for the messages of a dialog: the connection of the peer's last request, while it is open (RFC 5923). After that
// connection has closed, the flow opens another one with the same verification. A flow is not safe for concurrent use.
type Flow struct {
	pool    *Pool
	first   place     // where the dialog started
	now     place     // the current connection
	came    bool      // the peer has sent a request over the current connection
	profile Profile   // verification of new connections; Host is empty for a caller's connection
	names   []string  // names that a caller's certificate may contain: see Known
	held    []Profile // profiles of the stacks that the flow must release
}

// place identifies a connection by its stack and the address of the peer.
type place struct {
	stack   *Stack
	address netip.AddrPort // address of the peer
}

func (p place) conn() sip.Connection { return p.stack.Existing(p.address) }

// Accepted returns the flow of a request that a peer has sent over its connection or over one of ours. The caller must call Hold if the
// dialog outlives the request.
func (p *Pool) Accepted(s *Stack, from netip.AddrPort) *Flow {
	at := place{s, from}
	f := &Flow{pool: p, first: at, now: at, came: true, profile: Profile{Verify: trunk.VerifyFull}}
	f.Known(p.proven(at.conn())...)
	return f
}

// Connected returns the flow over a connection of a held stack. The flow takes over the hold, and Release releases it.
func (p *Pool) Connected(s *Stack, to netip.AddrPort) *Flow {
	at := place{s, to}
	return &Flow{pool: p, first: at, now: at, profile: s.profile, held: []Profile{s.profile}}
}

// Address returns the peer's address on the current connection.
func (f *Flow) Address() netip.AddrPort { return f.now.address }

// TLS returns the name of the TLS version, or an empty text if the connection has closed.
func (f *Flow) TLS() string { return Version(StateOf(f.now.conn())) }

// Known adds names by which the caller is known: the hosts of its trunk's servers, and the names in its verified certificate. It ignores
// names beyond maxNames. A new connection to the caller's Contact must have a certificate with one of the names. Outbound connections are
// verified with the trunk's host instead.
func (f *Flow) Known(names ...string) {
	for _, name := range names {
		if name != "" && len(f.names) < maxNames && !slices.Contains(f.names, name) {
			f.names = append(f.names, name)
		}
	}
}

// maxNames is the maximum number of names of a caller, because each of them may cost a connection attempt.
const maxNames = 4

// proven returns the names in the certificate of a connection's peer. It returns nil if the peer has sent no certificate that chains to a
// root.
func (p *Pool) proven(conn sip.Connection) []string { return p.cfg.Credentials.Names(StateOf(conn)) }

// Follow makes the connection of a peer's request the current connection of the dialog.
func (f *Flow) Follow(s *Stack, from netip.AddrPort) {
	to := place{s, from}
	f.came = true
	if to == f.now {
		return
	}
	if s.profile.Host != "" && !slices.Contains(f.held, s.profile) && !f.hold(s) {
		return // the stack is closed
	}
	f.now = to
	f.Known(f.pool.proven(to.conn())...)
}

// hold holds the stack of an outbound connection until Release. It returns false if the pool no longer contains the stack.
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

// Hold keeps an outbound connection open for a dialog that the peer has started over it. The registration that opened it may end before the
// dialog. Hold does nothing for a caller's connection. It returns false if the pool is closed.
func (f *Flow) Hold() bool {
	profile := f.now.stack.profile
	if profile.Host == "" {
		return true
	}
	f.profile = profile
	return f.hold(f.now.stack)
}

// Release releases the stacks that the flow holds. It must be called only once.
func (f *Flow) Release() {
	for _, profile := range f.held {
		f.pool.Release(profile)
	}
}

// Security describes the encryption of the current connection and the verification of the peer in a readable text.
func (f *Flow) Security() string {
	conn := f.now.conn()
	verified := "the caller presented no trusted certificate"
	if names := f.pool.proven(conn); len(names) > 0 {
		verified = "the caller's certificate names " + strings.Join(names[:min(len(names), maxNames)], ", ")
	}
	if len(f.held) > 0 {
		verified = "the connection that we have registered on, " + f.profile.String()
	}
	return Security(StateOf(conn)) + "; " + verified
}

// Cancel starts the transaction of a CANCEL, and sends it to where the dialog's first INVITE was sent (RFC 3261, 9.1).
func (f *Flow) Cancel(req *sip.Request) (*sip.ClientTx, error) {
	return f.first.stack.Request(f.pool.ctx, req, f.first.address)
}

// Write sends an ACK outside of a transaction.
func (f *Flow) Write(req *sip.Request, path dialog.Path) error {
	return f.each(path, func(s *Stack, to netip.AddrPort) error { return s.Write(f.pool.ctx, req, to) })
}

// Request starts the client transaction of a request.
func (f *Flow) Request(req *sip.Request, path dialog.Path) (tx *sip.ClientTx, err error) {
	err = f.each(path, func(s *Stack, to netip.AddrPort) error {
		tx, err = s.Request(f.pool.ctx, req, to)
		return err
	})
	return tx, err
}

// each calls the function try for the connections that a message may use, until one call succeeds. It tries the current connection before
// new ones, because a Contact behind NAT contains an unreachable address. With a route set, it does so only if the peer has sent a request
// over the connection, or if the connection leads to the next hop.
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
	case f.profile.Host != "": // the trunk's server accepts a new connection, but a caller's ephemeral port does not
		return try(f.first.stack, f.first.address)
	case f.now.conn() != nil:
		return try(f.now.stack, f.now.address)
	default:
		return err
	}
}

// leadsTo reports whether a next hop is the peer of the current connection, by its address or by the trunk's host.
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

// profiles returns the verifications that a new connection to a next hop may use. An outbound flow uses only the trunk's host. A caller's
// flow uses the known names and the host of the next hop, which comes first if it is a name and last if it is an address.
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

// elsewhere calls the function try for new connections to the addresses of a next hop, until one call succeeds.
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
