package sip

import (
	"cmp"
	"net/netip"
	"slices"
	"strings"

	"github.com/callwright/callwright"
	"github.com/callwright/callwright/sip/failover"
	"github.com/callwright/callwright/sip/uri"
)

// RedirectPolicy selects the redirections of an outbound call that are followed (RFC 3261, 21.3).
type RedirectPolicy string

// The policies.
const (
	RedirectOff        RedirectPolicy = "off"         // none: a redirected call fails; the default
	RedirectSameServer RedirectPolicy = "same_server" // to a number at the trunk's own servers
	RedirectAny        RedirectPolicy = "any"         // to a number at any server, without the trunk's credentials
)

// MaxRedirects is the number of places to which one call is redirected at most.
const MaxRedirects = 5

func (p RedirectPolicy) valid() bool {
	return slices.Contains([]RedirectPolicy{RedirectOff, RedirectSameServer, RedirectAny}, p)
}

// redirects returns the policy of a trunk.
func (o Options) redirects() RedirectPolicy { return cmp.Or(o.Redirects, RedirectOff) }

// Redirection is one Contact of a response that redirects a call.
type Redirection struct {
	Contact string                 // its URI
	Proxy   bool                   // 305: the Contact is a proxy for the same number
	Called  callwright.PhoneNumber // the number that was called
	Peer    netip.AddrPort         // the server that has redirected
}

// Redirect returns the route, the server and the number to which a redirection leads. CodeForbidden, with the reason, for a Contact
// that the trunk's policy does not allow, that requests another transport than TLS, or that names no E.164 number. The route to a
// server that is not the trunk's has no credentials, no header rules and no transfers, its certificate is verified in full, and a
// redirection from there restores none of these.
func (r Route) Redirect(to Redirection) (Route, uri.URI, callwright.PhoneNumber, error) {
	refuse := func(why string, args ...any) (Route, uri.URI, callwright.PhoneNumber, error) {
		return Route{}, uri.URI{}, "", callwright.Errorf(callwright.CodeForbidden, why, args...)
	}
	if r.Redirects != RedirectSameServer && r.Redirects != RedirectAny {
		return refuse("the trunk's redirect_policy is off")
	}
	d, err := uri.ParseDestination(to.Contact)
	switch {
	case err != nil:
		return refuse("its URI %s", callwright.MessageOf(err))
	case d.Transport != "" && d.Transport != uri.TLS:
		return refuse("it asks for %s, and calls go over TLS only", d.Transport)
	}
	number := to.Called
	if !to.Proxy {
		user, _, _ := strings.Cut(d.User, ";")
		number, err = callwright.ParsePhoneNumber("+" + strings.TrimPrefix(user, "+"))
		if err != nil {
			return refuse("it names no E.164 number")
		}
	}
	if own, ok := r.own(d, to.Peer); ok {
		r.Failover = failover.Config{}
		return r, own, number, nil
	}
	if r.Redirects != RedirectAny {
		return refuse("it leads to another server than the trunk's, and the trunk's redirect_policy is same_server")
	}
	server := over(failover.Server{Host: d.Host, Port: d.Port})
	r.Servers, r.Failover, r.Headers, r.Credentials = []uri.URI{server}, failover.Config{}, nil, Credentials{}
	r.Verify, r.Transfers, r.Foreign = VerifyFull, TransferOff, true
	return r, server, number, nil
}

// own returns the route's server that a destination names: by its host, or by the address of the redirecting server. A given port
// must be the server's.
func (r Route) own(d uri.Destination, peer netip.AddrPort) (uri.URI, bool) {
	address, err := netip.ParseAddr(d.Host)
	isPeer := err == nil && peer.IsValid() && address == peer.Addr().Unmap()
	for _, server := range r.Servers {
		if server.Host == d.Host && (d.Port == 0 || d.Port == server.EffectivePort()) {
			return server, true
		}
	}
	if isPeer && (d.Port == 0 || d.Port == peer.Port()) && len(r.Servers) == 1 { // with several servers it is ambiguous
		return r.Servers[0], true
	}
	return uri.URI{}, false
}
