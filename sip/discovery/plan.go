package discovery

import (
	"net/netip"
	"slices"

	"github.com/callwright/callwright/sip/resolve"
	"github.com/callwright/callwright/sip/self"
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
	priority  int    // of its SRV record; withoutSRV without one
	typed     bool   // the request names its door
	hidden    bool   // is a private address, which is not shown
	refused   string // reason for not probing it; empty: it is probed
}

// withoutSRV is greater than every SRV record's priority.
const withoutSRV = 1 << 16

// carriers maps the services of SRV records to transports.
var carriers = map[string]uri.Transport{
	resolve.SIPSOverTCP: uri.TLS, resolve.SIPOverTCP: uri.TCP, resolve.SIPOverUDP: uri.UDP,
}

// planner collects targets without duplicates, with at most resolve.MaxTargets addresses.
type planner struct {
	srv   []SRV
	hosts map[string][]netip.Addr // of the SRV records' targets
	limits
	known   []netip.Addr
	targets []target
}

// limits excludes targets from probing.
type limits struct {
	allowPrivate bool
	self         *self.Server
}

// plan returns the targets of a discovery: the doors that the request names, the targets of SRV records, then the usual doors.
// hosts maps the SRV records' targets to addresses. A private address becomes one target, which is shown but not probed; so does an
// address and port at which this server itself listens.
func plan(d Discovery, hosts map[string][]netip.Addr, l limits) []target {
	p := planner{srv: d.SRV, hosts: hosts, limits: l}
	typed := asked(d.Port, d.Transport)
	for _, at := range typed {
		for _, address := range d.Addresses {
			p.add(d.Host, address, at, true)
		}
	}
	for _, record := range d.SRV {
		for _, address := range hosts[record.Target] {
			p.add(record.Target, address, door{record.Port, carriers[record.Service]}, false)
		}
	}
	for _, address := range d.Addresses {
		for _, at := range usual {
			p.add(d.Host, address, at, false)
		}
	}
	return p.targets
}

// add adds the target of a door of a host's address.
func (p *planner) add(host string, address netip.Addr, at door, typed bool) {
	t := target{
		address: netip.AddrPortFrom(address, at.port), transport: at.transport, priority: p.priority(address, at), typed: typed,
		hidden: !p.allowPrivate && uri.IsPrivate(address),
	}
	switch {
	case t.hidden:
		t.refused = notPublic
	case p.self.At(t.address), p.self.Named(host, at.port):
		t.refused = self.Reason
	}
	if slices.ContainsFunc(p.targets, t.repeats) {
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

// repeats reports whether a target adds nothing to another one.
func (t target) repeats(other target) bool {
	switch {
	case t.hidden:
		return other.address.Addr() == t.address.Addr()
	case t.refused != "" && other.refused != "":
		return other.address == t.address
	default:
		return other.address == t.address && other.transport == t.transport
	}
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

// ways groups the indexes of targets that are probed one after another; the groups are probed concurrently. TCP to a port comes
// after TLS, because a server that waits for a handshake does not respond to plain text.
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
