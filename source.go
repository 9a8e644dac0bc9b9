package callwright

import "net/netip"

// Source returns the address that counts for limits of connections and requests: an IPv4 address, even if mapped to IPv6, or the
// /64 network of an IPv6 address, all of which one host may use. It returns the zero address unchanged.
func Source(a netip.Addr) netip.Addr {
	a = a.Unmap()
	if network, err := a.WithZone("").Prefix(64); a.Is6() && err == nil {
		return network.Addr()
	}
	return a
}
