package discovery

import (
	"net/netip"
	"slices"

	"github.com/callwright/callwright/sip/resolve"
	"github.com/callwright/callwright/sip/uri"
)

// door is a port and its transport.
type door struct {
	port      uint16
	transport uri.Transport
}

// usual lists the doors at which SIP servers usually listen, in the order of the result.
var usual = []door{
	{5061, uri.TLS},
	{5060, uri.UDP}, {5060, uri.TCP},
	{5061, uri.UDP}, {5061, uri.TCP},
	{5080, uri.UDP}, {5080, uri.TCP},
}

// asked returns the doors that the request names, the most secure first.
func asked(port uint16, transport uri.Transport) []door {
	transports := []uri.Transport{uri.TLS, uri.TCP, uri.UDP}
	switch {
	case port == 0 && transport == "":
		return nil
	case port == 0:
		port = uri.Destination{Transport: transport}.EffectivePort()
		transports = []uri.Transport{transport}
	case transport != "":
		transports = []uri.Transport{transport}
	}
	doors := make([]door, 0, len(transports))
	for _, t := range transports {
		doors = append(doors, door{port, t})
	}
	return doors
}

// target is one address and transport to probe.
type target struct {
	address   netip.AddrPort
	transport uri.Transport
	priority  int  // of its SRV record; withoutSRV without one
	private   bool // not to be probed
}

// withoutSRV is greater than every SRV record's priority.
const withoutSRV = 1 << 16

// carriers maps the services of SRV records to transports.
var carriers = map[string]uri.Transport{
	resolve.SIPSOverTCP: uri.TLS, resolve.SIPOverTCP: uri.TCP, resolve.SIPOverUDP: uri.UDP,
}

// planner collects targets without duplicates, with at most resolve.MaxTargets addresses.
type planner struct {
	srv          []SRV
	hosts        map[string][]netip.Addr // of the SRV records' targets
	allowPrivate bool
	known        []netip.Addr
	targets      []target
}

// plan returns the targets of a discovery: the doors that the request names, the targets of SRV records, then the usual
// doors. hosts maps the SRV records' targets to addresses. A private address has one target, which is shown but not
// probed.
func plan(d Discovery, hosts map[string][]netip.Addr, allowPrivate bool) []target {
	p := planner{srv: d.SRV, hosts: hosts, allowPrivate: allowPrivate}
	for _, at := range asked(d.Port, d.Transport) {
		for _, address := range d.Addresses {
			p.add(address, at)
		}
	}
	for _, record := range d.SRV {
		for _, address := range hosts[record.Target] {
			p.add(address, door{record.Port, carriers[record.Service]})
		}
	}
	for _, address := range d.Addresses {
		for _, at := range usual {
			p.add(address, at)
		}
	}
	return p.targets
}

func (p *planner) add(address netip.Addr, at door) {
	t := target{
		address: netip.AddrPortFrom(address, at.port), transport: at.transport, priority: p.priority(address, at),
		private: !p.allowPrivate && uri.IsPrivate(address),
	}
	if slices.ContainsFunc(p.targets, func(other target) bool {
		return other.address == t.address && other.transport == t.transport || t.private && other.address.Addr() == address
	}) {
		return
	}
	if !slices.Contains(p.known, address) {
		if len(p.known) == resolve.MaxTargets {
			return
		}
		p.known = append(p.known, address)
	}
	p.targets = append(p.targets, t)
}

// priority returns the priority of the SRV record that leads to a door of an address.
func (p *planner) priority(address netip.Addr, at door) int {
	best := withoutSRV
	for _, r := range p.srv {
		if at == (door{r.Port, carriers[r.Service]}) && slices.Contains(p.hosts[r.Target], address) {
			best = min(best, int(r.Priority))
		}
	}
	return best
}

// ways groups the indexes of targets that are probed one after another; the groups are probed concurrently. TCP to a port
// comes after TLS to it, because a server that waits for a handshake does not respond to plain text.
func ways(targets []target) [][]int {
	var groups [][]int
	for i, t := range targets {
		if t.transport == uri.TCP && slices.ContainsFunc(targets, t.isTLS) {
			continue
		}
		group := []int{i}
		if t.transport == uri.TLS {
			plain := slices.IndexFunc(targets, func(other target) bool {
				return other.address == t.address && other.transport == uri.TCP
			})
			if plain >= 0 {
				group = append(group, plain)
			}
		}
		groups = append(groups, group)
	}
	return groups
}

// isTLS reports whether another target is the same address over TLS.
func (t target) isTLS(other target) bool {
	return other.address == t.address && other.transport == uri.TLS
}
