package resolve

import (
	"context"
	"net"
	"net/netip"
)

// DNS asks the domain name system. *net.Resolver is one.
type DNS interface {
	LookupSRV(ctx context.Context, service, proto, name string) (cname string, records []*net.SRV, err error)
	LookupNetIP(ctx context.Context, network, host string) ([]netip.Addr, error)
}

// MaxTargets is how many addresses are tried at most, however many DNS gives.
const MaxTargets = 16

// Target is one address of a server.
type Target struct {
	Address netip.AddrPort
	Host    string // the name that led here: the SRV record's target, or the server's host
	Service string // "_sips._tcp" when an SRV record led here; empty otherwise
}
