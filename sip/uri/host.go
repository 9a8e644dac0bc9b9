package uri

import (
	"net/netip"
	"slices"
	"strconv"
	"strings"
)

// host is a host name or an IP address.
type host struct {
	text string
	addr netip.Addr // the zero Addr for a name
}

const (
	maxNameLength  = 253 // RFC 1035, 2.3.4, without the length bytes
	maxLabelLength = 63
)

// parseHostPort parses "host[:port]" with an IPv6 address in brackets.
const (
	errBrackets = fault("an IPv6 address must be in brackets, such as [2001:db8::1] or [2001:db8::1]:5061")
	errPort     = fault("port must be a number from 1 to 65535")
)

func parseHostPort(text string) (host, uint16, error) {
	if strings.HasPrefix(text, "[") {
		inner, rest, ok := strings.Cut(text[1:], "]")
		if !ok || rest != "" && rest[0] != ':' {
			return host{}, 0, errBrackets
		}
		h, err := parseIPv6(inner)
		if err != nil || rest == "" {
			return h, 0, err
		}
		port, err := parsePort(rest[1:])
		return h, port, err
	}
	name, portText, hasPort := strings.Cut(text, ":")
	if strings.Contains(portText, ":") {
		return host{}, 0, errBrackets
	}
	h, err := parseHost(name)
	if err != nil || !hasPort {
		return h, 0, err
	}
	port, err := parsePort(portText)
	return h, port, err
}

func parsePort(text string) (uint16, error) {
	if len(text) > 5 {
		return 0, errPort
	}
	for i := range len(text) {
		if text[i] < '0' || text[i] > '9' {
			return 0, errPort
		}
	}
	port, err := strconv.ParseUint(text, 10, 16)
	if err != nil || port == 0 {
		return 0, errPort
	}
	return uint16(port), nil
}

// parseIPv6 parses an IPv6 address without brackets. It refuses zones, because they are only meaningful on one machine.
func parseIPv6(text string) (host, error) {
	addr, err := netip.ParseAddr(text)
	if err != nil || !addr.Is6() || addr.Zone() != "" {
		return host{}, fault("a host in brackets or with several colons must be an IPv6 address without a zone")
	}
	return host{text: addr.String(), addr: addr}, nil
}

// parseHost parses an IPv4 address or a host name. A name's last label must begin with a letter (RFC 3261, 25.1), so that parseHost does
// not accept other notations of an IPv4 address (127.1, 0x7f000001, 2130706433) as names.
func parseHost(text string) (host, error) {
	name := strings.TrimSuffix(text, ".")
	if name == "" {
		return host{}, fault("must have a host: an IP address (IPv6 in brackets) or a name")
	}
	if len(name) > maxNameLength {
		return host{}, fault("host name must have at most 253 characters")
	}
	rest := name
	for {
		label, after, more := strings.Cut(rest, ".")
		if !validLabel(label) {
			return host{}, fault("host name must have labels of 1 to 63 letters, digits and hyphens that begin and end with a letter or a digit")
		}
		if more {
			rest = after
			continue
		}
		if !isLetter(label[0]) {
			return parseIPv4(text)
		}
		return host{text: strings.ToLower(name)}, nil
	}
}

func parseIPv4(text string) (host, error) {
	addr, err := netip.ParseAddr(text)
	if err != nil || !addr.Is4() {
		return host{}, fault("host must be an IP address (IPv6 in brackets) or a name whose last label begins with a letter")
	}
	return host{text: text, addr: addr}, nil
}

func validLabel(label string) bool {
	if label == "" || len(label) > maxLabelLength {
		return false
	}
	for i := range len(label) {
		if !isAlphanumeric(label[i]) && label[i] != '-' {
			return false
		}
	}
	return isAlphanumeric(label[0]) && isAlphanumeric(label[len(label)-1])
}

// appendHost appends a host. It encloses an IPv6 address in brackets.
func appendHost(b []byte, text string) []byte {
	if strings.Contains(text, ":") {
		return append(append(append(b, '['), text...), ']')
	}
	return append(b, text...)
}

func (h host) isPrivate() bool { return h.addr.IsValid() && IsPrivate(h.addr) }

// IsPrivate reports whether an address cannot be reached over the public Internet. Such addresses are private (RFC 1918), shared (RFC
// 6598), loopback, link-local, unique local (RFC 4193), "this network" (RFC 1122), multicast, reserved, for benchmarks (RFC 2544), or IPv6
// addresses that embed an IPv4 address (6to4, NAT64).
func IsPrivate(a netip.Addr) bool {
	a = a.Unmap()
	reaches := a.Is4() || globalUnicast.Contains(a)
	return !reaches || a.IsPrivate() || a.IsLoopback() || a.IsLinkLocalUnicast() ||
		slices.ContainsFunc(unreachable, func(p netip.Prefix) bool { return p.Contains(a) })
}

// globalUnicast is the IPv6 range from which public addresses are assigned (RFC 4291, 2.4). unreachable lists the exceptions in this range
// and in IPv4.
var (
	globalUnicast = netip.MustParsePrefix("2000::/3")
	unreachable   = []netip.Prefix{
		netip.MustParsePrefix("0.0.0.0/8"), netip.MustParsePrefix("100.64.0.0/10"), netip.MustParsePrefix("192.0.0.0/24"),
		netip.MustParsePrefix("198.18.0.0/15"), netip.MustParsePrefix("224.0.0.0/3"), netip.MustParsePrefix("2002::/16"),
	}
)
