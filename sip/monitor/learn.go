package monitor

import (
	"hash/fnv"
	"slices"
	"time"

	"github.com/callwright/callwright/sip"
	"github.com/callwright/callwright/sip/failover"
	"github.com/callwright/callwright/sip/health"
)

// finding is the evidence of one probe.
type finding struct {
	server   failover.Server
	evidence health.Evidence
}

// probed returns a status after probes of some of its servers. Findings about servers that the trunk no longer has are
// dropped.
func probed(status sip.Status, found []finding, now time.Time) sip.Status {
	next := lasted(status, now)
	for _, f := range found {
		i := slices.IndexFunc(next.Servers, func(s sip.ServerStatus) bool { return s.Server == f.server })
		if i < 0 {
			continue
		}
		server := &next.Servers[i]
		first := server.Health.CheckedAt.IsZero()
		server.Health = server.Health.Next(f.evidence)
		server.ProbeAt = server.Health.ProbeAt(server.ProbeAt)
		if first && server.Health.State == health.Healthy {
			server.ProbeAt = server.ProbeAt.Add(-place(status.TrunkID, f.server.String()))
		}
		if i == status.Active && f.evidence.Alive && f.evidence.ResponseTime > 0 {
			next.History = next.History.Answered(f.evidence.ResponseTime)
		}
	}
	return settled(next, now)
}

// observed returns a status after the evidence of a call, and whether the status has changed. The next probe may come
// earlier, but never later, so that busy trunks are probed, too.
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
	if at := server.Health.ProbeAt(server.ProbeAt); at.Before(server.ProbeAt) {
		server.ProbeAt = at
	}
	if server.ProbeAt.Before(server.Health.NotBefore) {
		server.ProbeAt = server.Health.NotBefore
	}
	return settled(next, e.At), true
}

// lasted returns a copy of a status whose history reaches up to now.
func lasted(status sip.Status, now time.Time) sip.Status {
	status.History = status.History.Lasted(stateOf(status), now)
	status.Servers = slices.Clone(status.Servers)
	return status
}

// settled returns a status with its active server and the time of its next probe, which follow from its servers.
func settled(status sip.Status, now time.Time) sip.Status {
	status.Active = failover.Active(status.Failback, status.Active, states(status))
	if len(status.Servers) == 0 {
		status.ProbeAt = health.Server{CheckedAt: now}.ProbeAt(status.ProbeAt)
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

// place returns by how much the second probe of a server comes earlier, from 0 to 55 s. The probes of servers that were added together
// are spread over the minute so, and all later ones are a minute apart.
func place(trunkID, server string) time.Duration {
	h := fnv.New64a()
	h.Write([]byte(trunkID + " " + server))
	return time.Duration(h.Sum64()>>32%56) * time.Second
}

// stateOf returns the state of a trunk.
func stateOf(status sip.Status) health.State { return health.Best(states(status)...) }
