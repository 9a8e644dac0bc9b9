package discovery

import (
	"net/netip"
	"slices"

	"github.com/callwright/callwright/sip/resolve"
	"github.com/callwright/callwright/sip/self"
	"github.com/callwright/callwright/sip/uri"
)

// door is a port and a transport at which a server may listen.
type door struct {
	port      uint16
	transport uri.Transport
}

// usual lists the ports and transports of most SIP servers, in the order in which the result shows them.
var usual = []door{
	{5061, uri.TLS},
	{5060, uri.UDP}, {5060, uri.TCP},
	{5061, uri.UDP}, {5061, uri.TCP},
	{5080, uri.UDP}, {5080, uri.TCP},
}

// asked returns the ports and transports that a request names, most secure first. It returns none if the request names neither a port nor a
// transport.
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

// target is an address and a transport to probe.
type target struct {
	address   netip.AddrPort
	transport uri.Transport
	priority  int    // priority of its SRV record; withoutSRV if it has none
	typed     bool   // the request names its port or transport
	hidden    bool   // private address, which results must not reveal
	refused   string // reason for not probing it; empty if it is probed
}

// withoutSRV is the priority of targets without an SRV record. It is greater than every SRV priority.
const withoutSRV = 1 << 16

// carriers maps the services of SRV records to their transports.
var carriers = map[string]uri.Transport{
	resolve.SIPSOverTCP: uri.TLS, resolve.SIPOverTCP: uri.TCP, resolve.SIPOverUDP: uri.UDP,
}

// planner collects distinct targets with at most resolve.MaxTargets addresses.
type planner struct {
	srv   []SRV
	hosts map[string][]netip.Addr // addresses of the SRV records' targets
	limits
	known   []netip.Addr
	targets []target
}

// limits determines which targets must not be probed.
type limits struct {
	allowPrivate bool
	self         *self.Server
}

// plan returns the targets of a discovery: first the ports and transports that the request names, then the targets of SRV records, then the
// usual ports. hosts maps the targets of SRV records to their addresses. Unless private addresses are allowed, each of them yields a single
// target that is shown but not probed, and so does an address and port at which this server itself listens.
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

// add adds a target for an address of a host, unless it repeats another target or exceeds the limit of addresses.
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

// repeats reports whether a target would duplicate another one. All targets at a private address are duplicates of one another.
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

// priority returns the lowest priority among the SRV records that lead to an address, port and transport, or withoutSRV.
func (p *planner) priority(address netip.Addr, at door) int {
	best := withoutSRV
	for _, r := range p.srv {
		if at == (door{r.Port, carriers[r.Service]}) && slices.Contains(p.hosts[r.Target], address) {
			best = min(best, int(r.Priority))
		}
	}
	return best
}

// ways groups the indexes of targets. The targets of a group must be probed in turn, the groups concurrently. TCP to a port follows TLS,
// because a server that waits for a TLS handshake does not respond to plain text.
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

// isTLS reports whether other is the same address and port over TLS.
func (t target) isTLS(other target) bool {
	return other.address == t.address && other.transport == uri.TLS
}
