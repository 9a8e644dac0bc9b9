package callwright

import "net/netip"

// Source returns the address by which limits of connections and requests are counted. For an IPv4 address, even if mapped to IPv6, it is
// that IPv4 address. For an IPv6 address it is the address of its /64 network, because one host may use the whole network. It returns the
// zero address unchanged.
func Source(a netip.Addr) netip.Addr {
	a = a.Unmap()
	if network, err := a.WithZone("").Prefix(64); a.Is6() && err == nil {
		return network.Addr()
	}
	return a
}
