package sipua

import (
	"context"
	"fmt"
	"net"
	"net/netip"

	"github.com/callwright/callwright/sip/uri"
)

// defaultPort is SIP over TLS without a port (RFC 3261, 19.1.2).
const defaultPort = 5061

// resolve gives the addresses of a server, in the order to try: a literal as it is, a name by its A and AAAA records.
func resolve(ctx context.Context, r *net.Resolver, server uri.URI) ([]netip.AddrPort, error) {
	return resolveHost(ctx, r, server.Host, server.Port)
}

func resolveHost(ctx context.Context, r *net.Resolver, host string, port uint16) ([]netip.AddrPort, error) {
	if port == 0 {
		port = defaultPort
	}
	if addr, err := netip.ParseAddr(host); err == nil {
		return []netip.AddrPort{netip.AddrPortFrom(addr.Unmap(), port)}, nil
	}
	found, err := r.LookupNetIP(ctx, "ip", host)
	if err != nil {
		return nil, fmt.Errorf("look up %s: %w", host, err)
	}
	addresses := make([]netip.AddrPort, 0, len(found))
	for _, addr := range found {
		addresses = append(addresses, netip.AddrPortFrom(addr.Unmap(), port))
	}
	return addresses, nil
}
