package uri

import (
	"strings"

	"github.com/callwright/callwright"
)

// Destination is a server to send calls to, as somebody wrote it down.
type Destination struct {
	Host      string    // lower-case host name, or an IP address without brackets
	Port      uint16    // 0: not given, which lets a resolver look for SRV records (RFC 3263)
	User      string    // empty for none
	Transport Transport // empty: not stated
	// IsPrivateIP is set for an IP address that the public Internet does not reach. Names are not looked up.
	IsPrivateIP bool
	// Normalized is the same destination as a SIP URI. ParseDestination reads it back to an equal Destination.
	Normalized string
}

// ParseDestination reads a host name, an IPv4 or IPv6 address (with or without brackets), any of them with a port (IPv6
// in brackets then), "tls://host[:port]" (tcp:// and udp:// as well), or a SIP or SIPS URI; spaces around are dropped.
// Of a URI's parameters only the transport counts; maddr, which would send calls elsewhere than the host says, is
// refused. A tel URI is a number and not a server. Errors are CodeBadRequest about the field "input".
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
		return Destination{}, fault("a tel URI names a number, not a server")
	case strings.HasPrefix(rest, "//"):
		return parseShorthand(Transport(strings.ToLower(name)), strings.TrimSuffix(rest[2:], "/"))
	}
	return parseServer("", text)
}

// parseShorthand reads what follows "tls://".
func parseShorthand(t Transport, rest string) (Destination, error) {
	switch t {
	case UDP, TCP, TLS:
		return parseServer(t, rest)
	default:
		return Destination{}, fault("before :// only tls, tcp and udp are known")
	}
}

// parseServer reads a host with or without a port. Only here may an IPv6 address go without brackets.
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
		return Destination{}, fault("maddr is not accepted")
	}
	stated, hasTransport := u.Param("transport")
	switch t := Transport(stated); {
	case hasTransport && t != UDP && t != TCP && t != TLS:
		return Destination{}, fault("the transport has to be udp, tcp or tls")
	case scheme == SIPS && t == UDP:
		return Destination{}, fault("a sips URI does not go over udp")
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

// EffectivePort is the port given, else 5061 over TLS, else 5060 (RFC 3261, 19.1.2).
func (d Destination) EffectivePort() uint16 {
	if d.Port != 0 {
		return d.Port
	}
	return d.Transport.defaultPort()
}
