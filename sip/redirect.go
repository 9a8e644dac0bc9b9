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

// RedirectPolicy selects which redirections (RFC 3261, section 21.3) of an outbound call are followed.
type RedirectPolicy string

// The redirect policies of a trunk.
const (
	RedirectOff        RedirectPolicy = "off"         // no redirection is followed, and the call fails; the default
	RedirectSameServer RedirectPolicy = "same_server" // only to a number at the trunk's own servers
	RedirectAny        RedirectPolicy = "any"         // to a number at any server; foreign servers are called without the trunk's credentials
)

// MaxRedirects is the maximum number of redirections that one call follows.
const MaxRedirects = 5

func (p RedirectPolicy) valid() bool {
	return slices.Contains([]RedirectPolicy{RedirectOff, RedirectSameServer, RedirectAny}, p)
}

// redirects returns the redirect policy of a trunk, with the default applied.
func (o Options) redirects() RedirectPolicy { return cmp.Or(o.Redirects, RedirectOff) }

// Redirection is one Contact of a 3xx response to a call.
type Redirection struct {
	Contact string                 // URI of the Contact
	Proxy   bool                   // the response is 305: the Contact is a proxy for the same number
	Called  callwright.PhoneNumber // number that was called
	Peer    netip.AddrPort         // address of the server that sent the response
}

// Redirect returns the route, the server and the number to which a redirection leads. It returns CodeForbidden, with the reason, if the
// trunk's policy does not allow the Contact, or the Contact is malformed or requests a transport other than TLS. It also does so if the
// Contact of a response other than 305 names no E.164 number.
//
// The route to a server that is not the trunk's has no credentials, no header rules and no transfers, and its certificate is verified in
// full. A further redirection from there restores none of these settings.
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
		return refuse("the URI of the redirection %s", callwright.MessageOf(err))
	case d.Transport != "" && d.Transport != uri.TLS:
		return refuse("the redirection asks for %s, but calls go over TLS only", d.Transport)
	}
	number := to.Called
	if !to.Proxy {
		user, _, _ := strings.Cut(d.User, ";")
		number, err = callwright.ParsePhoneNumber("+" + strings.TrimPrefix(user, "+"))
		if err != nil {
			return refuse("the redirection names no E.164 number")
		}
	}
	if own, ok := r.own(d, to.Peer); ok {
		r.Failover = failover.Config{}
		return r, own, number, nil
	}
	if r.Redirects != RedirectAny {
		return refuse("the redirection leads to another server than the trunk's, but the trunk's redirect_policy is same_server")
	}
	server := over(failover.Server{Host: d.Host, Port: d.Port})
	r.Servers, r.Failover, r.Headers, r.Credentials = []uri.URI{server}, failover.Config{}, nil, Credentials{}
	r.Verify, r.Transfers, r.Foreign = VerifyFull, TransferOff, true
	return r, server, number, nil
}

// own returns the server of the route that a destination names, by its host or, if the route has only one server, by the address of the
// redirecting server. If the destination has a port, the port must also match. The bool reports whether a server was found.
func (r Route) own(d uri.Destination, peer netip.AddrPort) (uri.URI, bool) {
	address, err := netip.ParseAddr(d.Host)
	isPeer := err == nil && peer.IsValid() && address == peer.Addr().Unmap()
	for _, server := range r.Servers {
		if server.Host == d.Host && (d.Port == 0 || d.Port == server.EffectivePort()) {
			return server, true
		}
	}
	if isPeer && (d.Port == 0 || d.Port == peer.Port()) && len(r.Servers) == 1 { // ambiguous if there are several servers
		return r.Servers[0], true
	}
	return uri.URI{}, false
}
