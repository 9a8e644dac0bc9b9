package callwright

import "net/netip"

// ParseNetwork parses an IP address or a network for example 192.0.2.0/24; an address is a network of one. CodeBadRequest
// otherwise.
func ParseNetwork(text string) (netip.Prefix, error) {
	if network, err := netip.ParsePrefix(text); err == nil {
		return network.Masked(), nil
	}
	address, err := netip.ParseAddr(text)
	if err != nil || address.Zone() != "" {
		return netip.Prefix{}, Invalid("", "is neither an address nor a network").Because(err)
	}
	address = address.Unmap()
	return netip.PrefixFrom(address, address.BitLen()), nil
}
