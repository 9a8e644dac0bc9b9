package monitor

import (
	"hash/fnv"
	"slices"
	"time"

	"github.com/callwright/callwright/sip"
	"github.com/callwright/callwright/sip/failover"
	"github.com/callwright/callwright/sip/health"
)

// finding is what one probe says of one server.
type finding struct {
	server   failover.Server
	evidence health.Evidence
}

// probed is a status after probes of some of its servers. What is said of a server that the trunk has no longer is
// dropped.
func probed(status sip.Status, found []finding, now time.Time) sip.Status {
	next := lasted(status, now)
	for _, f := range found {
		i := slices.IndexFunc(next.Servers, func(s sip.ServerStatus) bool { return s.Server == f.server })
		if i < 0 {
			continue
		}
		server := &next.Servers[i]
		server.Health = server.Health.Next(f.evidence)
		server.ProbeAt = server.Health.ProbeAt(seed(status.TrunkID, server.Server.String()))
		if i == status.Active && f.evidence.Alive && f.evidence.ResponseTime > 0 {
			next.History = next.History.Answered(f.evidence.ResponseTime)
		}
	}
	return settled(next, now)
}

// observed is a status after what a call says of a server, and whether that is anything new. It brings the next probe
// nearer and never puts it off, so that a busy trunk is probed like any other.
func observed(status sip.Status, name string, e health.Evidence) (next sip.Status, news bool) {
	i := slices.IndexFunc(status.Servers, func(s sip.ServerStatus) bool { return s.Server.String() == name })
	if i < 0 {
		return status, false
	}
	next = lasted(status, e.At)
	server := &next.Servers[i]
	was := server.Health
	server.Health = was.Next(e)
	if server.Health.State == was.State && server.Health.Streak == was.Streak && server.Health.NotBefore.Equal(was.NotBefore) {
		return status, false
	}
	if at := server.Health.ProbeAt(seed(status.TrunkID, name)); at.Before(server.ProbeAt) {
		server.ProbeAt = at
	}
	if server.ProbeAt.Before(server.Health.NotBefore) {
		server.ProbeAt = server.Health.NotBefore
	}
	return settled(next, e.At), true
}

// lasted is a copy of a status whose history reaches up to now.
func lasted(status sip.Status, now time.Time) sip.Status {
	status.History = status.History.Lasted(stateOf(status), now)
	status.Servers = slices.Clone(status.Servers)
	return status
}

// settled is a status whose servers are known: calls go to the right one, and the next probe is when the first is due.
func settled(status sip.Status, now time.Time) sip.Status {
	status.Active = failover.Active(status.Failback, status.Active, states(status))
	if len(status.Servers) == 0 {
		status.ProbeAt = health.Server{CheckedAt: now}.ProbeAt(seed(status.TrunkID, ""))
		return status
	}
	status.ProbeAt = slices.MinFunc(status.Servers, func(a, b sip.ServerStatus) int { return a.ProbeAt.Compare(b.ProbeAt) }).ProbeAt
	return status
}

func states(status sip.Status) []health.State {
	states := make([]health.State, len(status.Servers))
	for i, s := range status.Servers {
		states[i] = s.Health.State
	}
	return states
}

// stateOf is the state of a trunk.
func stateOf(status sip.Status) health.State { return health.Best(states(status)...) }

// seed spreads the probes of all trunks' servers over the minute.
func seed(trunkID, server string) uint64 {
	h := fnv.New64a()
	h.Write([]byte(trunkID + " " + server))
	return h.Sum64()
}
