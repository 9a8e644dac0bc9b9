package sip

import (
	"cmp"
	"context"
	"errors"
	"math"
	"net/netip"
	"slices"

	"github.com/callwright/callwright"
	"github.com/callwright/callwright/sip/failover"
	"github.com/callwright/callwright/sip/uri"
)

// Caller returns the caller's number for an organization's outbound call: the given number or, if it is empty, the organization's only
// outbound number. It returns CodeBadRequest with the field "from" if the given number is not attached for outbound calls, or if it is
// empty and the organization does not have exactly one outbound number. It implements call.Routes.
func (s *Service) Caller(
	ctx context.Context, org callwright.OrgID, from callwright.PhoneNumber,
) (callwright.PhoneNumber, error) {
	if from != "" {
		_, err := s.outbound(ctx, org, from)
		return from, err
	}
	trunks, err := s.cfg.Store.Outbound(ctx, org, 2)
	if err != nil {
		return "", err
	}
	if len(trunks) != 1 {
		return "", callwright.Invalid("from", "is required unless exactly one number is attached for outbound calls")
	}
	return trunks[0].Number, nil
}

// outbound returns the outbound trunk of a number. It returns CodeBadRequest with the field "from" if the number has none.
func (s *Service) outbound(ctx context.Context, org callwright.OrgID, from callwright.PhoneNumber) (Trunk, error) {
	r, err := s.record(ctx, org, from)
	if err != nil {
		return Trunk{}, err
	}
	if r.Outbound == nil {
		return Trunk{}, callwright.Invalid("from", "%s is not attached for outbound calls", from)
	}
	return *r.Outbound, nil
}

// Outbound returns the route of an outgoing call. It implements Routes.
func (s *Service) Outbound(ctx context.Context, org callwright.OrgID, from callwright.PhoneNumber) (Route, error) {
	t, err := s.outbound(ctx, org, from)
	if err != nil {
		return Route{}, err
	}
	servers, err := s.order(ctx, t)
	if err != nil {
		return Route{}, err
	}
	route := s.route(t)
	for _, server := range servers {
		route.Servers = append(route.Servers, over(server))
	}
	return route, nil
}

// order returns the servers that a call tries, in order. If the Monitor fails, it returns them by priority.
func (s *Service) order(ctx context.Context, t Trunk) ([]failover.Server, error) {
	if t.Failover == nil || !t.Failover.Enabled {
		return t.Servers()
	}
	servers, err := s.cfg.Monitor.Servers(ctx, t)
	if err != nil {
		s.cfg.Logger.WarnContext(ctx, "cannot order a trunk's servers by health", "trunk_id", t.ID, "error", err)
		return t.Servers()
	}
	return servers, nil
}

// Inbound returns the route of an incoming call. It implements Routes. The called number distinguishes organizations that share one
// address.
func (s *Service) Inbound(ctx context.Context, to callwright.PhoneNumber, peer Peer) (Route, error) {
	t, err := s.called(ctx, to, peer)
	if err != nil {
		return Route{}, err
	}
	if !t.admits(peer) {
		return s.route(t), callwright.ErrForbidden
	}
	route := s.route(t)
	route.Servers, err = s.known(ctx, t)
	return route, err
}

// called returns the inbound trunk of a called number. Digits without a plus may match several numbers. A number matches if it is attached
// and its organization reads the digits as this number. Among several matches, called returns the trunk that admits the peer, if only one
// does.
func (s *Service) called(ctx context.Context, to callwright.PhoneNumber, peer Peer) (Trunk, error) {
	if peer.Digits == "" || s.cfg.Numbering == nil {
		return s.cfg.Store.Owner(ctx, to, Inbound)
	}
	holders, err := s.cfg.Store.Holders(ctx, append(callwright.NumberReadings(peer.Digits), to))
	if err != nil {
		return Trunk{}, err
	}
	var found, admitted []Trunk
	ambiguous := false
	for number, org := range holders {
		if number != to {
			read, err := callwright.ReadNumber(ctx, s.cfg.Numbering, org, peer.Digits)
			if code := callwright.CodeOf(err); code != "" && code != callwright.CodeBadRequest {
				return Trunk{}, err
			}
			ambiguous = ambiguous || err != nil
			if read != number {
				continue
			}
		}
		t, err := s.cfg.Store.Owner(ctx, number, Inbound)
		switch {
		case errors.Is(err, callwright.ErrNotFound): // attached only for outbound calls
			continue
		case err != nil:
			return Trunk{}, err
		}
		found = append(found, t)
		if t.admits(peer) {
			admitted = append(admitted, t)
		}
	}
	switch {
	case len(admitted) == 1:
		return admitted[0], nil
	case len(admitted) == 0 && len(found) == 1:
		return found[0], nil
	case len(found) > 0 || ambiguous:
		return Trunk{}, callwright.Errorf(callwright.CodeConflict, "the digits %s may mean several numbers: the call must name the number with + and its country code", peer.Digits)
	}
	return Trunk{}, callwright.NotFound("number")
}

// known returns the servers whose names identify callers over an inbound trunk: the trunk's registrar, and the servers of the
// number's outbound trunk.
func (s *Service) known(ctx context.Context, t Trunk) ([]uri.URI, error) {
	r, err := s.record(ctx, t.Org, t.Number)
	if err != nil {
		return nil, err
	}
	var servers []failover.Server
	if t.registers() {
		registrar, err := t.endpoint()
		if err != nil {
			return nil, err
		}
		servers = append(servers, registrar)
	}
	if r.Outbound != nil {
		out, err := r.Outbound.Servers()
		if err != nil {
			return nil, err
		}
		servers = append(servers, out...)
	}
	all := make([]uri.URI, 0, len(servers))
	for _, server := range servers {
		all = append(all, over(server))
	}
	return all, nil
}

// Admission classifies the callers that an inbound trunk admits.
type Admission string

// The admissions of inbound trunks.
const (
	AdmitsAnyone       Admission = "anyone"       // callers from listed addresses, and calls over the registration, if any
	AdmitsAddresses    Admission = "addresses"    // callers from listed addresses
	AdmitsCredentials  Admission = "credentials"  // callers from any address that know the user name and password
	AdmitsRegistration Admission = "registration" // only calls over the trunk's registration, or to its registered Contact
)

// Admission returns which callers an inbound trunk admits, or "" for an outbound trunk.
func (t Trunk) Admission() Admission {
	switch {
	case t.Direction != Inbound:
		return ""
	case len(t.Options.AllowedIPs) > 0 && !Everybody(t.Options.AllowedIPs):
		return AdmitsAddresses
	case t.registers() && len(t.Options.AllowedIPs) == 0:
		return AdmitsRegistration
	case t.Options.Call.Username != "":
		return AdmitsCredentials
	}
	return AdmitsAnyone
}

// Everybody reports whether networks are too wide to restrict callers: whether they contain at least half of all IPv4 addresses, or at
// least half of the public IPv6 addresses (2000::/3).
func Everybody(networks []netip.Prefix) bool {
	public := netip.MustParsePrefix("2000::/3")
	var ip4, ip6 float64 // shares of the address space, 0 to 1
	for i, n := range networks {
		within := func(j int, other netip.Prefix) bool { // so that no address is counted twice
			return other.Overlaps(n) && (other.Bits() < n.Bits() || other.Bits() == n.Bits() && j < i)
		}
		nested := false
		for j, other := range networks {
			nested = nested || within(j, other)
		}
		switch {
		case nested:
		case n.Addr().Is4():
			ip4 += math.Exp2(float64(-n.Bits()))
		case n.Overlaps(public):
			ip6 += math.Exp2(float64(-max(0, n.Bits()-public.Bits())))
		}
	}
	return ip4 >= 0.5 || ip6 >= 0.5
}

// admits reports whether a peer may call over an inbound trunk. It admits calls over the trunk's registration, and calls to the Contact
// that only its registrar knows. Other calls must come from a listed address. An empty list admits all addresses, or none if the trunk
// registers.
func (t Trunk) admits(peer Peer) bool {
	if t.registers() && (slices.Contains(peer.Registered, t.ID) || t.isContact(peer.Contact)) {
		return true
	}
	if len(t.Options.AllowedIPs) == 0 {
		return !t.registers()
	}
	source := peer.Address.Unmap()
	return slices.ContainsFunc(t.Options.AllowedIPs, func(p netip.Prefix) bool { return p.Contains(source) })
}

func (s *Service) route(t Trunk) Route {
	r := Route{
		Org: t.Org, TrunkID: t.ID, Number: t.Number, Headers: t.Headers,
		Credentials: t.Options.Call, Verify: cmp.Or(t.Options.Verify, VerifyFull),
		Transfers: t.Options.transfers(), DTMF: cmp.Or(t.Options.DTMF, DTMFEvents),
		Redirects: t.Options.redirects(),
	}
	if t.Failover != nil {
		r.Failover = *t.Failover
	}
	codecs := cmp.Or(t.Codecs, &standard)
	r.Codecs, r.Transcode = codecs.offered(s.cfg.Codecs), codecs.Transcode
	return r
}
