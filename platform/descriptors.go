package platform

import (
	"cmp"
	"fmt"

	"github.com/callwright/callwright"
)

// The numbers of file descriptors in addition to the HTTP, SIP and probe connections. ownDescriptors covers the database, files, listening
// sockets and requests to other systems together. callDescriptors covers one call: two sockets, its recording, a request to a model, and
// the pipes of speech programs.
const (
	ownDescriptors  = 96
	callDescriptors = 12
	leastFiles      = 256 // smallest limit of open files with which the server starts
)

// The maximum numbers of connections. A low limit of open files reduces them.
const (
	mostSIPConnections      = 2000
	mostSIPConnectionsPerIP = 200
	mostProbeConnections    = 2000
)

// shares divides the open files that the system allows between their uses. No use can exhaust the share of another, so that SIP accepts
// calls even if HTTP is full.
type shares struct {
	http, httpPerAddress int // connections in total and for each client address
	sip, sipPerAddress   int
	probes               int // connections to trunks' servers that stay open between probes
	calls                int
}

// newShares divides the open files that the system allows, and logs a warning if they are too few for the maxima. It returns an error if
// fewer than leastFiles are allowed, or if the limit cannot be read.
func newShares(c Config, rt callwright.Runtime) (shares, error) {
	limit, err := mostFiles()
	if err != nil {
		return shares{}, fmt.Errorf("the limit of open files cannot be read: %w", err)
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

// divide returns the maximum for each use if the limit allows all of them, or else about the same fraction of each maximum, at least 1;
// perAddress reduces the limits for each address. It returns an error if the limit is below leastFiles. whole is the number of descriptors
// that the maxima require, including ownDescriptors.
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
		return s, whole, fmt.Errorf("the limit of open files is %d: it must be at least %d, and %d to allow all connections and calls (ulimit -n, LimitNOFILE=)",
			limit, leastFiles, whole)
	}
	part := func(n int) int { return max(1, n*(int(limit)-ownDescriptors)/rest) }
	s = shares{http: part(most.http), sip: part(most.sip), probes: part(most.probes), calls: part(most.calls)}
	s.httpPerAddress, s.sipPerAddress = perAddress(most.httpPerAddress, most.http, s.http), perAddress(most.sipPerAddress, most.sip, s.sip)
	return s, whole, nil
}

// lineCalls returns the number of calls that the SIP user agent accepts: a fifth more than calls, for calls that ring or end.
func (s shares) lineCalls() int { return s.calls + (s.calls+4)/5 }

// perAddress returns how many connections one address may use: the configured maximum each, but at most half of total, and at least 1. If
// each is not below the configured total, most, one address may use all connections.
func perAddress(each, most, total int) int {
	if each >= most {
		return total
	}
	return cmp.Or(min(each, total/2), 1)
}
