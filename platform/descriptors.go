package platform

import (
	"cmp"
	"fmt"

	"github.com/callwright/callwright"
)

// Uses of file descriptors except connections: the database, files, sockets that listen and requests to other systems take
// ownDescriptors in all; a call takes two sockets, its recording, a request to a model, and the pipes of speech programs.
const (
	ownDescriptors  = 96
	callDescriptors = 12
	leastFiles      = 256 // with fewer open files the server does not start
)

// The connections that a server takes at most, if its limit of open files allows them.
const (
	mostSIPConnections      = 2000
	mostSIPConnectionsPerIP = 200
	mostProbeConnections    = 2000
)

// shares divides the open files that the system allows, so that no use can exhaust the share of another: SIP accepts
// calls while HTTP is full.
type shares struct {
	http, httpPerAddress int // connections
	sip, sipPerAddress   int
	probes               int // connections to trunks' servers that wait for the next probe
	calls                int
}

// newShares divides the open files that the system allows, and logs a warning if there are too few.
func newShares(c Config, rt callwright.Runtime) (shares, error) {
	limit, err := mostFiles()
	if err != nil {
		return shares{}, fmt.Errorf("the limit of open files: %w", err)
	}
	s, whole, err := divide(c, limit)
	if err != nil {
		return s, err
	}
	if limit < uint64(whole) {
		rt.Logger.Warn("the limit of open files is too small for all connections and calls that the server may have: raise it (ulimit -n, LimitNOFILE=)",
			"limit", limit, "needed", whole, "http_connections", s.http, "http_connections_per_address", s.httpPerAddress,
			"sip_connections", s.sip, "calls", s.calls)
	}
	return s, nil
}

// divide returns for each use its maximum if the limit allows it, and otherwise the same fraction of it. whole is the sum of the
// maxima.
func divide(c Config, limit uint64) (s shares, whole int, err error) {
	most := shares{
		http: c.HTTPConnections, httpPerAddress: c.HTTPConnectionsPerAddress,
		sip: mostSIPConnections, sipPerAddress: mostSIPConnectionsPerIP, probes: mostProbeConnections, calls: c.room(),
	}
	rest := most.http + most.sip + most.probes + callDescriptors*most.calls
	whole = ownDescriptors + rest
	if limit >= uint64(whole) {
		return most, whole, nil
	}
	if limit < leastFiles {
		return s, whole, fmt.Errorf("the limit of open files is %d: at least %d are needed, and %d for all connections and calls (ulimit -n, LimitNOFILE=)",
			limit, leastFiles, whole)
	}
	part := func(n int) int { return max(1, n*(int(limit)-ownDescriptors)/rest) }
	s = shares{http: part(most.http), sip: part(most.sip), probes: part(most.probes), calls: part(most.calls)}
	s.httpPerAddress, s.sipPerAddress = perAddress(most.httpPerAddress, most.http, s.http), perAddress(most.sipPerAddress, most.sip, s.sip)
	return s, whole, nil
}

// lineCalls returns the number of calls that the telephone line accepts: some more than calls, for calls that ring or end.
func (s shares) lineCalls() int { return s.calls + (s.calls+4)/5 }

// perAddress returns the number of connections, of total, for one address: at most half, unless each allows all of most.
func perAddress(each, most, total int) int {
	if each >= most {
		return total
	}
	return cmp.Or(min(each, total/2), 1)
}
