package callwright

import "net/netip"

// ParseNetwork parses a network, for example 192.0.2.0/24, or an IP address, which becomes a network of one address. It clears the host
// bits of a network. It returns CodeBadRequest for any other text and for an address with a zone.
func ParseNetwork(text string) (netip.Prefix, error) {
	if network, err := netip.ParsePrefix(text); err == nil {
		return network.Masked(), nil
	}
	address, err := netip.ParseAddr(text)
	if err != nil || address.Zone() != "" {
		return netip.Prefix{}, Invalid("", "must be an IP address or a network such as 192.0.2.0/24, without a zone").Because(err)
	}
	address = address.Unmap()
	return netip.PrefixFrom(address, address.BitLen()), nil
}
