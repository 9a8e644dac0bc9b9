package sipua

import (
	"errors"
	"fmt"
	"net/netip"

	"github.com/emiago/sipgo/sip"

	trunk "github.com/callwright/callwright/sip"
	"github.com/callwright/callwright/sip/dialog"
	"github.com/callwright/callwright/sip/uri"
)

// flow is how a call's messages travel: the connection that it came over, and how to verify another one.
type flow struct {
	stack   *stack
	address netip.AddrPort
	profile profile // host empty: whatever the next hop calls itself
	tls     string
}

// write sends an ACK.
func (f *flow) write(u *UA, req *sip.Request, via dialog.Path) error {
	return f.each(u, via, func(s *stack, to netip.AddrPort) error {
		req.SetDestination(to.String())
		return s.write(u.context, req, to)
	})
}

// request starts a transaction.
func (f *flow) request(u *UA, req *sip.Request, via dialog.Path) (tx *sip.ClientTx, err error) {
	err = f.each(u, via, func(s *stack, to netip.AddrPort) error {
		tx, err = s.request(u.context, req, to)
		return err
	})
	return tx, err
}

// each tries the places that a message may go to until one takes it. Without a route set that is the connection of the
// call: a Contact behind NAT names an address that nobody can reach. With a route set its first entry decides, unless
// that is where the connection goes anyway.
func (f *flow) each(u *UA, via dialog.Path, try func(*stack, netip.AddrPort) error) error {
	if (len(via.Routes) == 0 || f.leadsTo(via.NextHop)) && f.stack.alive(f.address) {
		if err := try(f.stack, f.address); err == nil {
			return nil
		}
	}
	err := f.elsewhere(u, via.NextHop, try)
	// The trunk's server can be connected to again; a caller's ephemeral port can't.
	if err != nil && (f.profile.host != "" || f.stack.alive(f.address)) {
		return try(f.stack, f.address)
	}
	return err
}

// leadsTo says whether a next hop is the other end of the call's connection, by address or by the trunk's host.
func (f *flow) leadsTo(hop string) bool {
	var u sip.Uri
	if sip.ParseUri(hop, &u) != nil {
		return false
	}
	if u.Host == f.profile.host {
		return true
	}
	addr, err := netip.ParseAddr(trimBrackets(u.Host))
	return err == nil && addr.Unmap() == f.address.Addr()
}

// elsewhere makes a new connection to where a next hop leads.
func (f *flow) elsewhere(u *UA, hop string, try func(*stack, netip.AddrPort) error) error {
	var next sip.Uri
	if err := sip.ParseUri(hop, &next); err != nil {
		return fmt.Errorf("next hop: %w", err)
	}
	host := trimBrackets(next.Host)
	p := f.profile
	if p.host == "" {
		p.host = host
	}
	targets, err := u.targets(u.context, uri.URI{Host: host, Port: uint16(next.Port)})
	if err != nil {
		return err
	}
	s := u.stacks.acquire(p)
	if s == nil {
		return errors.New("closed")
	}
	defer u.stacks.release(p)
	for _, to := range targets {
		if err = try(s, to.Address); err == nil {
			return nil
		}
	}
	return err
}

func trimBrackets(host string) string {
	if len(host) > 2 && host[0] == '[' && host[len(host)-1] == ']' {
		return host[1 : len(host)-1]
	}
	return host
}

// profileOf is how the peer of an outbound route is verified.
func profileOf(verify trunk.TLSVerification, host string) profile {
	if verify != trunk.VerifyChain && verify != trunk.VerifyNone {
		verify = trunk.VerifyFull
	}
	return profile{verify: verify, host: host}
}
