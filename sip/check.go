package sip

import (
	"cmp"
	"net/netip"
	"slices"
	"strconv"
	"strings"
	"unicode"
	"unicode/utf8"

	"github.com/callwright/callwright"
	"github.com/callwright/callwright/sip/header"
	"github.com/callwright/callwright/sip/uri"
)

// Limits of a direction's settings.
const (
	minRegisterPassword = 8   // characters
	maxUsername         = 128 // characters
	maxPassword         = 256 // characters
	maxAllowedIPs       = 100
)

// checkDirections returns an error if the list of directions is empty, or contains an unknown or repeated direction.
func checkDirections(directions []Direction) error {
	if len(directions) == 0 || len(directions) > 2 {
		return callwright.Invalid("directions", "must hold inbound, outbound or both")
	}
	for i, d := range directions {
		if err := checkDirection(d); err != nil {
			return callwright.InField(directionPath(i)+".type", err)
		}
	}
	if len(directions) == 2 && directions[0] == directions[1] {
		return callwright.Invalid("directions[1].type", "must be unique: %s is given twice", directions[1])
	}
	return nil
}

func checkDirection(d Direction) error {
	if d != Inbound && d != Outbound {
		return callwright.Invalid("", "must be inbound or outbound")
	}
	return nil
}

// checkPlaces returns an error for settings that do not apply to the input's direction or authentication mode, and for invalid credentials
// of a registration. t is the trunk with the input applied.
func checkPlaces(t Trunk, in DirectionInput) error {
	switch {
	case in.Type == Outbound && in.AuthMode != nil:
		return callwright.Invalid("auth_mode", "must not be set for the outbound direction")
	case in.Type == Outbound && in.Register != nil:
		return callwright.Invalid("register_auth", "must not be set for the outbound direction")
	case in.Type == Inbound && in.Redirects != nil:
		return callwright.Invalid("options.redirect_policy", "must not be set for the inbound direction")
	case in.Type == Inbound && !t.registers() && in.Endpoint != nil && *in.Endpoint != "":
		return callwright.Invalid("sip_endpoint", "must not be set for the inbound direction, except with auth_mode register")
	case in.Type == Inbound && !t.registers() && in.Register != nil:
		return callwright.Invalid("register_auth", "must not be set except with auth_mode register")
	case in.Register != nil:
		return checkRegister(*in.Register)
	}
	return nil
}

func checkRegister(given Credentials) error {
	switch {
	case !isUsername(given.Username) || given.Username == "":
		return callwright.Invalid("register_auth.username", "must have 1 to %d characters, none of them a control character", maxUsername)
	case characters(given.Password) < minRegisterPassword || characters(given.Password) > maxPassword:
		return callwright.Invalid("register_auth.password", "must have %d to %d characters", minRegisterPassword, maxPassword)
	}
	return nil
}

// checkTrunk returns an error if a trunk is incomplete, or if a setting is invalid or does not apply to the trunk's direction.
func (s *Service) checkTrunk(t Trunk) error {
	if err := t.Options.check(); err != nil {
		return err
	}
	rules := header.CheckOutbound
	if t.Direction == Inbound {
		rules = header.CheckInbound
	}
	if err := rules(t.Headers); err != nil {
		return below("headers", err)
	}
	switch {
	case t.registers() && t.Options.Register.Username == "":
		return callwright.Invalid("register_auth", "is required with auth_mode register")
	case t.Direction == Outbound && len(t.Options.AllowedIPs) > 0:
		return callwright.Invalid("options.allowed_ips", "must not be set for the outbound direction")
	case t.Direction == Outbound && t.Endpoint == "":
		return callwright.Invalid("sip_endpoint", "is required for the outbound direction")
	case t.Endpoint == "":
		return nil
	}
	if err := s.checkEndpoint(t.Endpoint, t.Options.Port); err != nil {
		return err
	}
	to, err := uri.ParseDestination(t.Endpoint)
	if err == nil && s.isSelf(to, t.Options.Port) {
		return callwright.Invalid("sip_endpoint", selfEndpoint)
	}
	return err
}

// selfEndpoint is the error message for an endpoint that is this server.
const selfEndpoint = "must not be this server itself, which listens there"

// isSelf reports whether a destination is this server. port is Options.Port, or 0 if not set.
func (s *Service) isSelf(to uri.Destination, port int) bool {
	to.Transport = uri.TLS // trunks always use TLS
	to.Port = cmp.Or(to.Port, uint16(port))
	return s.cfg.Self.Host(to.Host, to.EffectivePort())
}

// check returns an error for settings that are invalid regardless of the direction.
func (o Options) check() error {
	switch {
	case o.AuthMode != "" && o.AuthMode != AuthIP && o.AuthMode != AuthRegister:
		return callwright.Invalid("auth_mode", "must be ip or register")
	case o.Transport != "" && o.Transport != string(uri.TLS):
		return callwright.Invalid("options.transport", "must be tls: signaling is always encrypted")
	case o.SecureMedia != nil && !*o.SecureMedia:
		return callwright.Invalid("options.secure_media", "must be true: media is always SRTP")
	case o.Port < 0 || o.Port > 65535:
		return callwright.Invalid("options.port", "must be from 1 to 65535")
	case !slices.Contains([]TLSVerification{"", VerifyFull, VerifyChain, VerifyNone}, o.Verify):
		return callwright.Invalid("options.tls_verification", "must be full, chain or none")
	case !o.transfers().valid():
		return callwright.Invalid("options.transfer_policy", "must be off, organization or any")
	case !o.DTMF.valid():
		return callwright.Invalid("options.dtmf_mode", "must be rfc2833, info or inband")
	case !o.redirects().valid():
		return callwright.Invalid("options.redirect_policy", "must be off, same_server or any")
	case !isUsername(o.Call.Username):
		return callwright.Invalid("options.sip_username", "must have at most %d characters, none of them a control character", maxUsername)
	case characters(o.Call.Password) > maxPassword:
		return callwright.Invalid("options.sip_password", "must have at most %d characters", maxPassword)
	case (o.Call.Username == "") != (o.Call.Password == ""):
		return callwright.Invalid("options.sip_username", "must be set together with options.sip_password")
	case len(o.AllowedIPs) > maxAllowedIPs:
		return callwright.Invalid("options.allowed_ips", "must hold at most %d addresses and networks", maxAllowedIPs)
	}
	unfit := func(p netip.Prefix) bool { return !p.IsValid() || p.Addr().Is4In6() }
	if i := slices.IndexFunc(o.AllowedIPs, unfit); i >= 0 {
		return callwright.Invalid(
			"options.allowed_ips["+strconv.Itoa(i)+"]", "must be an IP address or a network: write IPv4 as 192.0.2.1, not as ::ffff:192.0.2.1",
		)
	}
	return nil
}

func characters(s callwright.Secret) int { return utf8.RuneCountInString(s.Reveal()) }

// isUsername reports whether a text is a valid username for digest authentication (RFC 3261, section 22). The empty text is valid.
func isUsername(text string) bool {
	return utf8.RuneCountInString(text) <= maxUsername && utf8.ValidString(text) && !strings.ContainsFunc(text, unicode.IsControl)
}

// CheckEndpoint returns CodeBadRequest with the field "sip_endpoint" if no trunk may have the endpoint. It accepts this server's host
// without a port, because another server may listen on another port there.
func (s *Service) CheckEndpoint(endpoint string) error { return s.checkEndpoint(endpoint, 0) }

// checkEndpoint returns an error if an endpoint is not allowed, or if it contains a port that differs from Options.Port. port is
// Options.Port, or 0 if that is not set.
func (s *Service) checkEndpoint(endpoint string, port int) error {
	to, err := uri.ParseDestination(endpoint)
	switch {
	case err != nil:
		return callwright.Invalid("sip_endpoint", "%s", callwright.MessageOf(err))
	case to.Transport != "" && to.Transport != uri.TLS:
		return callwright.Invalid("sip_endpoint", "must use transport=tls: signaling is always encrypted")
	case to.IsPrivateIP && !s.cfg.AllowPrivate:
		return callwright.Invalid("sip_endpoint", "must not be a private address")
	case to.Port != 0 && s.isSelf(to, 0): // without a port, discovery may find another server on this host
		return callwright.Invalid("sip_endpoint", selfEndpoint)
	case port != 0 && to.Port != 0 && port != int(to.Port):
		return callwright.Invalid(
			"options.port", "is %d, but sip_endpoint has the port %d: they must be equal, or one of them absent", port, to.Port,
		)
	}
	return nil
}
