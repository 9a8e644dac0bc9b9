// Package self records the addresses at which a server itself listens, so that its trunks, probes and calls do not lead back to it.
package self

import (
	"net"
	"net/netip"
	"slices"
	"strings"
	"sync"
)

// Reason is the human-readable reason why no request is sent to a destination.
const Reason = "this server itself listens there"

// Server contains the addresses and names at which a server listens. A nil or zero Server has none. It is safe for concurrent use.
type Server struct {
	// Interfaces returns the addresses of this machine, at which a listener on the unspecified address is reachable. If nil, it is
	// net.InterfaceAddrs.
	Interfaces func() ([]net.Addr, error)

	mu        sync.RWMutex
	listeners []netip.AddrPort
	names     []name
}

// name is a host name and port at which peers reach a listener.
type name struct {
	host string // in lower case
	port uint16
}

// Listen adds the address of a listener. The unspecified address means all addresses of the machine.
func (s *Server) Listen(at netip.AddrPort) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.listeners = append(s.listeners, netip.AddrPortFrom(at.Addr().Unmap(), at.Port()))
}

// Name adds a host name or an IP address at which peers reach a listener, for example the name of a gateway in front of it. It ignores an
// empty host and the unspecified address.
func (s *Server) Name(host string, port uint16) {
	if address, err := netip.ParseAddr(host); err == nil {
		if !address.IsUnspecified() { // the unspecified address identifies no gateway
			s.Listen(netip.AddrPortFrom(address, port))
		}
		return
	}
	if host == "" {
		return
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	s.names = append(s.names, name{normalized(host), port})
}

// At reports whether a connection to an address would reach a listener of this server: a listener has the address, or one of the two
// addresses is unspecified (see reaches).
func (s *Server) At(to netip.AddrPort) bool {
	if s == nil {
		return false
	}
	s.mu.RLock()
	defer s.mu.RUnlock()
	address := to.Addr().Unmap().WithZone("")
	return slices.ContainsFunc(s.listeners, func(l netip.AddrPort) bool {
		return l.Port() == to.Port() && (l.Addr() == address || s.reaches(address, l.Addr()))
	})
}

// reaches reports whether an address leads to a listener because one of the two is unspecified: an unspecified destination means this
// machine, and an unspecified listener means all of its addresses.
func (s *Server) reaches(to, listener netip.Addr) bool {
	switch {
	case to.IsUnspecified():
		return listener.IsUnspecified() || listener.IsLoopback()
	case listener.IsUnspecified():
		return to.IsLoopback() || s.interfaces(to)
	}
	return false
}

// interfaces reports whether an address belongs to this machine. It returns false if the addresses cannot be read.
func (s *Server) interfaces(address netip.Addr) bool {
	list := net.InterfaceAddrs
	if s.Interfaces != nil {
		list = s.Interfaces
	}
	found, err := list()
	return err == nil && slices.ContainsFunc(found, func(a net.Addr) bool {
		prefix, err := netip.ParsePrefix(a.String())
		return err == nil && prefix.Addr().Unmap().WithZone("") == address
	})
}

// Host reports whether a host name or an IP address, with a port, leads to this server. It resolves no name except localhost, so it may
// miss other names that lead here.
func (s *Server) Host(host string, port uint16) bool {
	if s == nil {
		return false
	}
	host = normalized(host)
	if host == "localhost" {
		return s.At(netip.AddrPortFrom(netip.AddrFrom4([4]byte{127, 0, 0, 1}), port)) || s.At(netip.AddrPortFrom(netip.IPv6Loopback(), port))
	}
	if address, err := netip.ParseAddr(host); err == nil {
		return s.At(netip.AddrPortFrom(address, port))
	}
	return s.Named(host, port)
}

// Named reports whether a host name and port were added with Name.
func (s *Server) Named(host string, port uint16) bool {
	if s == nil {
		return false
	}
	s.mu.RLock()
	defer s.mu.RUnlock()
	return slices.Contains(s.names, name{normalized(host), port})
}

// normalized returns a host without brackets and final dot, in lower case, so that hosts can be compared.
func normalized(host string) string {
	host = strings.TrimSuffix(strings.TrimPrefix(host, "["), "]")
	return strings.ToLower(strings.TrimSuffix(host, "."))
}
