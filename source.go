package callwright

import "net/netip"

// Source returns what counts as one address where connections and requests are bounded: an IPv4 address, also one that is
// mapped to IPv6, or the /64 network of an IPv6 address, all of which one host may use. The zero address stays as it is.
func Source(a netip.Addr) netip.Addr {
	a = a.Unmap()
	if network, err := a.WithZone("").Prefix(64); a.Is6() && err == nil {
		return network.Addr()
	}
	return a
}
