package uri

import (
	"fmt"
	"strconv"
	"strings"

	"github.com/callwright/callwright"
)

// MaxLength is the maximum length of a URI or destination, in bytes.
const MaxLength = 2048

// Scheme is a URI's scheme, in lower case.
type Scheme string

// The schemes that Parse accepts.
const (
	SIP  Scheme = "sip"
	SIPS Scheme = "sips"
	Tel  Scheme = "tel"
)

// Transport is the transport protocol of SIP. It is empty if a URI or destination states none.
type Transport string

// The transports that ParseDestination accepts.
const (
	UDP Transport = "udp"
	TCP Transport = "tcp"
	TLS Transport = "tls"
)

// The default ports of RFC 3261, 19.1.2.
const (
	defaultPort       = 5060
	defaultSecurePort = 5061
)

// defaultPort returns 5061 for TLS, and 5060 for other transports.
func (t Transport) defaultPort() uint16 {
	if t == TLS {
		return defaultSecurePort
	}
	return defaultPort
}

// URI is a parsed SIP, SIPS or tel URI. Its fields are unescaped; String escapes them.
type URI struct {
	Scheme  Scheme
	User    string  // may be empty
	Host    string  // lower-case host name without a final dot, or an IP address without brackets; empty for tel
	Port    uint16  // 0 if absent
	Params  []Param // in order; their names are unique and lower-case
	Headers []Param // from the part after "?", in order
	// Opaque is the part of a tel URI after "tel:". It is kept unchanged, because carriers may compare it literally.
	Opaque string
}

// Param is a URI parameter or header. A parameter with an empty value is a flag (";lr").
type Param struct{ Name, Value string }

// Parse parses a SIP or SIPS URI by the grammar of RFC 3261, section 25.1, and keeps a tel URI opaque. It also refuses some URIs that the
// grammar permits, for example URIs with a password (section 19.1.1 advises against them), escaped control characters, repeated parameters,
// or more than MaxLength bytes. It returns CodeBadRequest with the field "uri" for a text that it refuses.
func Parse(text string) (URI, error) {
	u, err := parse(text)
	if err != nil {
		return URI{}, callwright.Invalid("uri", "%s", err.Error())
	}
	return u, nil
}

func parse(text string) (URI, error) {
	if err := checkText(text); err != nil {
		return URI{}, err
	}
	name, rest, ok := strings.Cut(text, ":")
	if !ok {
		return URI{}, fault("must begin with sip:, sips: or tel:")
	}
	scheme := Scheme(strings.ToLower(name))
	switch scheme {
	case SIP, SIPS:
		u, _, err := parseSIP(scheme, rest)
		return u, err
	case Tel:
		if rest == "" || strings.ContainsAny(rest, ` <>"\^{}|`+"`") {
			return URI{}, fault("a tel URI must have a number, without spaces and the characters < > \" \\ ^ { | } and `")
		}
		return URI{Scheme: Tel, Opaque: rest}, nil
	default:
		return URI{}, fault("scheme must be sip, sips or tel")
	}
}

func parseSIP(scheme Scheme, rest string) (u URI, h host, err error) {
	u.Scheme = scheme
	// "@" is reserved everywhere else, so the user ends at the first "@".
	if user, after, ok := strings.Cut(rest, "@"); ok {
		if u.User, err = parseUser(user); err != nil {
			return URI{}, host{}, err
		}
		rest = after
	}
	rest, headers, hasHeaders := strings.Cut(rest, "?")
	hostPort, params, hasParams := strings.Cut(rest, ";")
	if h, u.Port, err = parseHostPort(hostPort); err != nil {
		return URI{}, host{}, err
	}
	u.Host = h.text
	if hasParams {
		if u.Params, err = parseParams(params); err != nil {
			return URI{}, host{}, err
		}
	}
	if hasHeaders {
		if u.Headers, err = parseHeaders(headers); err != nil {
			return URI{}, host{}, err
		}
	}
	return u, h, nil
}

func parseUser(text string) (string, error) {
	switch {
	case text == "":
		return "", fault("user before @ must not be empty")
	case strings.Contains(text, ":"):
		return "", fault("must not have a colon before @: passwords are not allowed there")
	}
	return unescape(text, inUser)
}

// parseParams parses the part after the first ";". It converts names, and the values of transport and user, to lower case, because they are
// case-insensitive.
func parseParams(text string) ([]Param, error) {
	params := make([]Param, 0, strings.Count(text, ";")+1)
	for part := range strings.SplitSeq(text, ";") {
		rawName, rawValue, hasValue := strings.Cut(part, "=")
		if rawName == "" || hasValue && rawValue == "" {
			return nil, fault("each parameter after a semicolon must have a name, and a value if it has =")
		}
		param, err := unescapeParam(rawName, rawValue, inParam)
		if err != nil {
			return nil, err
		}
		param.Name = strings.ToLower(param.Name)
		if param.Name == "transport" || param.Name == "user" {
			param.Value = strings.ToLower(param.Value)
		}
		if _, twice := lookup(params, param.Name); twice {
			return nil, fault("each parameter must be given only once")
		}
		params = append(params, param)
	}
	return params, nil
}

func parseHeaders(text string) ([]Param, error) {
	headers := make([]Param, 0, strings.Count(text, "&")+1)
	for part := range strings.SplitSeq(text, "&") {
		rawName, rawValue, ok := strings.Cut(part, "=")
		if rawName == "" || !ok {
			return nil, fault("each header after ? must have the form name=value")
		}
		header, err := unescapeParam(rawName, rawValue, inHeader)
		if err != nil {
			return nil, err
		}
		headers = append(headers, header)
	}
	return headers, nil
}

func unescapeParam(rawName, rawValue string, p place) (Param, error) {
	name, err := unescape(rawName, p)
	if err != nil {
		return Param{}, err
	}
	value, err := unescape(rawValue, p)
	return Param{Name: name, Value: value}, err
}

// Param returns the value of a parameter by its lower-case name. ok reports whether the parameter is present. The value of a flag is empty.
func (u URI) Param(name string) (value string, ok bool) { return lookup(u.Params, name) }

// IsPhone reports whether the user part is a telephone number (user=phone).
func (u URI) IsPhone() bool {
	value, _ := u.Param("user")
	return value == "phone"
}

// Transport returns TLS for a SIPS URI, regardless of its parameter (RFC 3261, 26.2.2). Otherwise it returns the transport parameter, or an
// empty Transport if the parameter is absent.
func (u URI) Transport() Transport {
	if u.Scheme == SIPS {
		return TLS
	}
	value, _ := u.Param("transport")
	return Transport(value)
}

// EffectivePort returns the port. If absent, it returns the default port: 5061 over TLS, otherwise 5060 (RFC 3261, 19.1.2). It returns 0
// for a tel URI.
func (u URI) EffectivePort() uint16 {
	if u.Port != 0 || u.Scheme == Tel {
		return u.Port
	}
	return u.Transport().defaultPort()
}

// String formats the URI and escapes its fields. For a URI returned by Parse, Parse converts the text to an equal URI.
func (u URI) String() string {
	if u.Scheme == Tel {
		return string(Tel) + ":" + u.Opaque
	}
	b := make([]byte, 0, 64)
	b = append(append(b, u.Scheme...), ':')
	if u.User != "" {
		b = append(appendEscaped(b, u.User, inUser), '@')
	}
	b = appendHost(b, u.Host)
	if u.Port != 0 {
		b = strconv.AppendUint(append(b, ':'), uint64(u.Port), 10)
	}
	for _, p := range u.Params {
		b = appendEscaped(append(b, ';'), p.Name, inParam)
		if p.Value != "" {
			b = appendEscaped(append(b, '='), p.Value, inParam)
		}
	}
	separator := byte('?')
	for _, h := range u.Headers {
		b = appendEscaped(append(b, separator), h.Name, inHeader)
		b = appendEscaped(append(b, '='), h.Value, inHeader)
		separator = '&'
	}
	return string(b)
}

func lookup(params []Param, name string) (string, bool) {
	for _, p := range params {
		if p.Name == name {
			return p.Value, true
		}
	}
	return "", false
}

// fault is a parse error. Parse and ParseDestination add the code and the field.
type fault string

func (f fault) Error() string { return string(f) }

// checkText refuses a text that is empty, longer than MaxLength, not ASCII, or contains control characters.
func checkText(text string) error {
	if text == "" {
		return fault("must not be empty")
	}
	if len(text) > MaxLength {
		return fault(fmt.Sprintf("must have at most %d bytes", MaxLength))
	}
	for i := range len(text) {
		if text[i] < ' ' || text[i] >= 0x7f {
			return fault("must be ASCII without control characters; write an international host name in its xn-- form")
		}
	}
	return nil
}
