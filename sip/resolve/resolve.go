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

// DNS queries the domain name system; *net.Resolver implements it. Given and returned names end with a dot. For a name without records
// both methods return a *net.DNSError with IsNotFound, and they return an error when ctx ends. siptest.RunDNS tests it.
type DNS interface {
	// LookupSRV returns the SRV records of _service._proto.name, by priority.
	LookupSRV(ctx context.Context, service, proto, name string) (cname string, records []*net.SRV, err error)
	// LookupNetIP returns the addresses of a host, in any order, for "ip4" possibly as IPv4 addresses mapped to IPv6; network is "ip", "ip4"
	// or "ip6".
	LookupNetIP(ctx context.Context, network, host string) ([]netip.Addr, error)
}

// MaxTargets is the most addresses that Targets and Addresses return.
const MaxTargets = 16

// defaultPort is the port of SIP over TLS (RFC 3261, 19.1.2).
const defaultPort = 5061

// Target is one address of a server.
type Target struct {
	Address netip.AddrPort
	Host    string // the name of the address: an SRV record's target, or the server's host
	Service string // "_sips._tcp" for the target of an SRV record; otherwise empty
}

// Config configures a Resolver.
type Config struct {
	DNS DNS `required:"always"`

	Self   *self.Server    // the names of this server lead to no target; nil: none
	Random func(n int) int // returns a number from 0 to n-1, for the choice among SRV records by weight; nil: math/rand

	callwright.Runtime
}

// Resolver locates servers. It is safe for concurrent use.
type Resolver struct {
	dns       DNS
	self      *self.Server
	random    func(int) int
	services  *cache[question, []SRV]
	addresses *cache[question, []netip.Addr]
}

// question is a DNS query: a host, and a service for SRV records.
type question struct{ service, host string }

// New checks the configuration.
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

// Targets returns the addresses at which a server accepts SIP over TLS, in the order to try, without duplicates and at most
// MaxTargets (RFC 3263, 4.2). An IP address is its own target; a host with a port has the host's addresses. A host without a port
// has the addresses of its _sips._tcp SRV records, or else its own addresses on port 5061. Targets with a name of this server
// itself are omitted. Errors are CodeUnavailable, or CodeBadRequest for a URI without a host.
func (r *Resolver) Targets(ctx context.Context, server uri.URI) ([]Target, error) {
	targets, err := r.all(ctx, server)
	targets = slices.DeleteFunc(targets, func(t Target) bool { return r.self.Named(t.Host, t.Address.Port()) })
	if err == nil && len(targets) == 0 {
		return nil, unavailable(self.Reason)
	}
	return targets, err
}

// all returns the targets, including this server's own.
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

// targets looks up the hosts of SRV records concurrently. Hosts without an address are omitted, unless none has one.
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

// collect adds a target for each address, without duplicates and up to MaxTargets.
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

// Addresses returns the addresses of a host, at most MaxTargets: an IP address itself, or the A and AAAA records of a
// name. Errors are CodeUnavailable; a host without addresses is an error.
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

// absolute adds a final dot, which turns the resolver's search list off. A name of one label keeps it.
func absolute(host string) string {
	if strings.Contains(host, ".") {
		return host + "."
	}
	return host
}
