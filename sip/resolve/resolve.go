package resolve

import (
	"cmp"
	"context"
	"math/rand/v2"
	"net"
	"net/netip"
	"slices"
	"strings"
	"sync"

	"github.com/callwright/callwright"
	"github.com/callwright/callwright/sip/self"
	"github.com/callwright/callwright/sip/uri"
)

// DNS queries the domain name system; *net.Resolver implements it. Absolute names, given and returned, end with a dot. Both methods return
// a *net.DNSError with IsNotFound for a name without records, and an error if ctx ends. siptest.RunDNS tests it.
type DNS interface {
	// LookupSRV returns the SRV records of _service._proto.name, ordered by priority.
	LookupSRV(ctx context.Context, service, proto, name string) (cname string, records []*net.SRV, err error)
	// LookupNetIP returns the addresses of a host in any order. network is "ip", "ip4" or "ip6"; for "ip4" the addresses may be IPv4
	// addresses mapped to IPv6.
	LookupNetIP(ctx context.Context, network, host string) ([]netip.Addr, error)
}

// MaxTargets is the maximum number of results of Targets and of Addresses.
const MaxTargets = 16

// defaultPort is the default port of SIP over TLS (RFC 3261, section 19.1.2).
const defaultPort = 5061

// Target is an address at which a server accepts SIP over TLS.
type Target struct {
	Address netip.AddrPort
	Host    string // host name of the address: the target of an SRV record, or the host of the URI
	Service string // "_sips._tcp" if an SRV record led to the target; otherwise empty
}

// Config configures a Resolver.
type Config struct {
	DNS DNS `required:"always"`

	Self   *self.Server    // this server: targets that name it are omitted; if nil, none are omitted
	Random func(n int) int // returns a random number in [0, n) for the choice by weight; nil means math/rand

	callwright.Runtime
}

// Resolver locates SIP servers. It is safe for concurrent use.
type Resolver struct {
	dns       DNS
	self      *self.Server
	random    func(int) int
	services  *cache[question, []SRV]
	addresses *cache[question, []netip.Addr]
}

// question is the cache key of a DNS query: a host and, for SRV records, a service.
type question struct{ service, host string }

// New returns a resolver. It returns an error if cfg.DNS is missing.
func New(cfg Config) (*Resolver, error) {
	if err := callwright.PrepareConfig(&cfg); err != nil {
		return nil, err
	}
	if cfg.Random == nil {
		cfg.Random = rand.IntN
	}
	return &Resolver{
		dns: cfg.DNS, self: cfg.Self, random: cfg.Random,
		services: newCache[question, []SRV](cfg.Clock), addresses: newCache[question, []netip.Addr](cfg.Clock),
	}, nil
}

// Targets returns the addresses at which a server accepts SIP over TLS, in the order in which clients must try them, without duplicates and
// at most MaxTargets (RFC 3263, section 4.2). The target of an IP address is the address itself. The targets of a host with a port are the
// host's addresses. The targets of a host without a port are the addresses of its _sips._tcp SRV records or, without any, the host's
// addresses with port 5061. Targets that name this server itself are omitted.
//
// Targets returns CodeBadRequest if the URI has no host, and CodeUnavailable if it finds no target.
func (r *Resolver) Targets(ctx context.Context, server uri.URI) ([]Target, error) {
	targets, err := r.all(ctx, server)
	targets = slices.DeleteFunc(targets, func(t Target) bool { return r.self.Named(t.Host, t.Address.Port()) })
	if err == nil && len(targets) == 0 {
		return nil, unavailable(self.Reason)
	}
	return targets, err
}

// all returns the targets of a server, including targets that name this server itself.
func (r *Resolver) all(ctx context.Context, server uri.URI) ([]Target, error) {
	if server.Host == "" {
		return nil, callwright.Invalid("uri", "must name a host")
	}
	_, notLiteral := netip.ParseAddr(server.Host)
	if server.Port == 0 && notLiteral != nil {
		records, err := r.srv(ctx, SIPSOverTCP, server.Host)
		if err != nil {
			return nil, err
		}
		if len(records) > 0 {
			return r.targets(ctx, records)
		}
	}
	addresses, err := r.Addresses(ctx, server.Host)
	if err != nil {
		return nil, err
	}
	return collect(nil, Target{Host: server.Host}, cmp.Or(server.Port, defaultPort), addresses), nil
}

// targets looks up the addresses of SRV records concurrently. It omits hosts without an address, and returns an error if no record is
// usable or no host has an address.
func (r *Resolver) targets(ctx context.Context, records []SRV) ([]Target, error) {
	records = order(records, r.random)
	if len(records) == 0 {
		return nil, unavailable("the host does not accept SIP over TLS, according to DNS")
	}
	addresses := make([][]netip.Addr, len(records))
	failures := make([]error, len(records))
	var wg sync.WaitGroup
	for i, record := range records {
		wg.Go(func() { addresses[i], failures[i] = r.Addresses(ctx, record.Target) })
	}
	wg.Wait()
	var targets []Target
	for i, record := range records {
		targets = collect(targets, Target{Host: record.Target, Service: record.Service}, record.Port, addresses[i])
	}
	if len(targets) == 0 {
		return nil, failures[0]
	}
	return targets, nil
}

// collect appends a target for each address, without duplicates and up to MaxTargets. The other fields of the targets are copied from the
// parameter like.
func collect(targets []Target, like Target, port uint16, addresses []netip.Addr) []Target {
	for _, a := range addresses {
		like.Address = netip.AddrPortFrom(a, port)
		known := slices.ContainsFunc(targets, func(t Target) bool { return t.Address == like.Address })
		if !known && len(targets) < MaxTargets {
			targets = append(targets, like)
		}
	}
	return targets
}

// Addresses returns at most MaxTargets addresses of a host: an IP address itself, or the A and AAAA records of a name. It returns
// CodeUnavailable if the query fails or the host has no address.
func (r *Resolver) Addresses(ctx context.Context, host string) ([]netip.Addr, error) {
	if literal, err := netip.ParseAddr(host); err == nil {
		return []netip.Addr{literal.Unmap()}, nil
	}
	return r.addresses.get(question{host: host}, func() ([]netip.Addr, error) {
		found, err := r.dns.LookupNetIP(ctx, "ip", absolute(host))
		if err != nil {
			return nil, failure(ctx, host, err)
		}
		var addresses []netip.Addr
		for _, a := range found {
			if a = a.Unmap(); !slices.Contains(addresses, a) && len(addresses) < MaxTargets {
				addresses = append(addresses, a)
			}
		}
		if len(addresses) == 0 {
			return nil, absent(host)
		}
		return addresses, nil
	})
}

// absolute appends a dot to a host name, which disables the resolver's search list. It leaves names of a single label unchanged, so that
// the search list still applies to them.
func absolute(host string) string {
	if strings.Contains(host, ".") {
		return host + "."
	}
	return host
}
