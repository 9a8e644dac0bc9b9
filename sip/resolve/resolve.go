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
	"github.com/callwright/callwright/sip/uri"
)

// DNS asks the domain name system. *net.Resolver is one.
type DNS interface {
	LookupSRV(ctx context.Context, service, proto, name string) (cname string, records []*net.SRV, err error)
	LookupNetIP(ctx context.Context, network, host string) ([]netip.Addr, error)
}

// MaxTargets is how many addresses are tried at most, however many DNS gives.
const MaxTargets = 16

// defaultPort is SIP over TLS without a port (RFC 3261, 19.1.2).
const defaultPort = 5061

// Target is one address of a server.
type Target struct {
	Address netip.AddrPort
	Host    string // the name that led here: the SRV record's target, or the server's host
	Service string // "_sips._tcp" when an SRV record led here; empty otherwise
}

// Config is what a Resolver is made of.
type Config struct {
	DNS    DNS
	Clock  callwright.Clock
	Random func(n int) int // from 0 to n-1, for the choice among SRV records by weight; nil: math/rand
}

// Resolver finds servers. It is safe for concurrent use.
type Resolver struct {
	dns       DNS
	random    func(int) int
	services  *cache[question, []SRV]
	addresses *cache[question, []netip.Addr]
}

// question is what DNS is asked: a host, and for SRV records a service.
type question struct{ service, host string }

// New makes a Resolver; DNS and Clock are required.
func New(cfg Config) (*Resolver, error) {
	if cfg.DNS == nil || cfg.Clock == nil {
		return nil, callwright.Errorf(callwright.CodeInternal, "resolve: DNS and Clock are required")
	}
	if cfg.Random == nil {
		cfg.Random = rand.IntN
	}
	return &Resolver{
		dns: cfg.DNS, random: cfg.Random,
		services: newCache[question, []SRV](cfg.Clock), addresses: newCache[question, []netip.Addr](cfg.Clock),
	}, nil
}

// Targets gives the addresses at which a server takes SIP over TLS, in the order to try, at most MaxTargets and none
// twice (RFC 3263, 4.2): a literal address as it is; with a port the host's addresses; without one those of its
// _sips._tcp SRV records, and on port 5061 its own when there are no such records. Errors are CodeUnavailable, and
// CodeBadRequest for a URI without a host.
func (r *Resolver) Targets(ctx context.Context, server uri.URI) ([]Target, error) {
	if server.Host == "" {
		return nil, callwright.Invalid("uri", "names no host")
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

// targets looks up the hosts of SRV records, all at once. Those without an address are left out, unless that is all.
func (r *Resolver) targets(ctx context.Context, records []SRV) ([]Target, error) {
	records = order(records, r.random)
	if len(records) == 0 {
		return nil, unavailable("DNS says that the host takes no SIP over TLS")
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

// collect adds a target for each address, unless it is there or there are enough.
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

// Addresses gives the addresses of a host, at most MaxTargets: a literal as it is, a name by its A and AAAA records.
// Errors are CodeUnavailable; there is one when there are no addresses.
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

// absolute keeps the machine's search list away from a name that is complete. A name of one label may be meant for it.
func absolute(host string) string {
	if strings.Contains(host, ".") {
		return host + "."
	}
	return host
}
