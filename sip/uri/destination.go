package uri

import (
	"strings"

	"github.com/callwright/callwright"
)

// Destination is a server to which calls are sent.
type Destination struct {
	Host      string    // lower-case host name, or an IP address without brackets
	Port      uint16    // 0 if absent, so that SRV records apply (RFC 3263)
	User      string    // may be empty
	Transport Transport // empty if absent
	// IsPrivateIP reports whether Host is an IP address that cannot be reached over the public Internet. It is false for names, because
	// they are not resolved.
	IsPrivateIP bool
	// Normalized is the destination as a SIP URI. ParseDestination parses it to an equal Destination.
	Normalized string
}

// ParseDestination parses the usual notations of a server: a host name or an IP address with an optional port (an IPv6 address with a port
// in brackets), "tls://host[:port]" (also tcp:// and udp://), or a SIP or SIPS URI. It ignores surrounding spaces. It uses only the
// transport among a URI's parameters; it refuses maddr, which replaces the host, and tel URIs. It returns CodeBadRequest with the field
// "input" for a text that it refuses.
func ParseDestination(input string) (Destination, error) {
	d, err := parseDestination(strings.Trim(input, " "))
	if err != nil {
		return Destination{}, callwright.Invalid("input", "%s", err.Error())
	}
	return d, nil
}

func parseDestination(text string) (Destination, error) {
	if err := checkText(text); err != nil {
		return Destination{}, err
	}
	name, rest, _ := strings.Cut(text, ":")
	switch {
	case strings.EqualFold(name, string(SIP)):
		return parseURI(SIP, rest)
	case strings.EqualFold(name, string(SIPS)):
		return parseURI(SIPS, rest)
	case strings.EqualFold(name, string(Tel)):
		return Destination{}, fault("must name a server: a tel URI names only a number")
	case strings.HasPrefix(rest, "//"):
		return parseShorthand(Transport(strings.ToLower(name)), strings.TrimSuffix(rest[2:], "/"))
	}
	return parseServer("", text)
}

// parseShorthand parses the rest of a notation such as "tls://rest", whose transport is t.
func parseShorthand(t Transport, rest string) (Destination, error) {
	switch t {
	case UDP, TCP, TLS:
		return parseServer(t, rest)
	default:
		return Destination{}, fault("must begin with tls, tcp or udp before ://, or with sip: or sips:, or with the host")
	}
}

// parseServer parses a host with an optional port. Unlike in a URI, an IPv6 address without a port needs no brackets.
func parseServer(t Transport, text string) (Destination, error) {
	if text != "" && text[0] != '[' && strings.Count(text, ":") > 1 {
		h, err := parseIPv6(text)
		if err != nil {
			return Destination{}, err
		}
		return destination(URI{Scheme: SIP, Host: h.text}, h, t), nil
	}
	h, port, err := parseHostPort(text)
	if err != nil {
		return Destination{}, err
	}
	return destination(URI{Scheme: SIP, Host: h.text, Port: port}, h, t), nil
}

func parseURI(scheme Scheme, rest string) (Destination, error) {
	u, h, err := parseSIP(scheme, rest)
	if err != nil {
		return Destination{}, err
	}
	if _, ok := u.Param("maddr"); ok {
		return Destination{}, fault("must not have the parameter maddr")
	}
	stated, hasTransport := u.Param("transport")
	switch t := Transport(stated); {
	case hasTransport && t != UDP && t != TCP && t != TLS:
		return Destination{}, fault("transport must be udp, tcp or tls")
	case scheme == SIPS && t == UDP:
		return Destination{}, fault("a sips URI must not have transport=udp: it is for TLS")
	}
	return destination(u, h, u.Transport()), nil
}

func destination(u URI, h host, t Transport) Destination {
	u.Params, u.Headers = nil, nil
	if t != "" && u.Scheme != SIPS {
		u.Params = []Param{{Name: "transport", Value: string(t)}}
	}
	return Destination{
		Host: u.Host, Port: u.Port, User: u.User, Transport: t,
		IsPrivateIP: h.isPrivate(), Normalized: u.String(),
	}
}

// EffectivePort returns the port. If absent, it returns the default port: 5061 over TLS, otherwise 5060 (RFC 3261, 19.1.2).
func (d Destination) EffectivePort() uint16 {
	if d.Port != 0 {
		return d.Port
	}
	return d.Transport.defaultPort()
}
