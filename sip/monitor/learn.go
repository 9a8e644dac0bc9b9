package monitor

import (
	"crypto/sha256"
	"encoding/binary"
	"slices"
	"time"

	"github.com/callwright/callwright/sip"
	"github.com/callwright/callwright/sip/health"
)

// probed returns a server after a probe: its health, its samples, and the time of its next probe.
func probed(w sip.WatchedServer, e health.Evidence) sip.WatchedServer {
	first := w.Health.CheckedAt.IsZero()
	w.Health = w.Health.Next(e)
	w.ProbeAt = w.Health.ProbeAt(w.ProbeAt)
	if first && w.Health.State == health.Healthy {
		w.ProbeAt = w.ProbeAt.Add(-place(string(w.Org) + " " + keyOf(w)))
	}
	if e.Alive && e.ResponseTime > 0 {
		w.Samples = health.Answered(w.Samples, e.ResponseTime)
	}
	return w
}

// observed returns a server after the evidence of a call. news reports whether the server must be stored, because its State, Streak or
// NotBefore has changed. Evidence of calls may make the next probe earlier, but delays it only for a Retry-After, so that busy servers are
// also probed.
func observed(w sip.WatchedServer, e health.Evidence) (next sip.WatchedServer, news bool) {
	was := w.Health
	w.Health = was.Next(e)
	if w.Health.State == was.State && w.Health.Streak == was.Streak && w.Health.NotBefore.Equal(was.NotBefore) {
		return w, false
	}
	if at := w.Health.ProbeAt(w.ProbeAt); at.Before(w.ProbeAt) {
		w.ProbeAt = at
	}
	if w.ProbeAt.Before(w.Health.NotBefore) {
		w.ProbeAt = w.Health.NotBefore
	}
	return w, true
}

// recorded returns a status whose history is extended to now. The status is due again within a minute.
func recorded(status sip.Status, now time.Time) sip.Status {
	status.History = status.History.Lasted(status.Recorded, now)
	status.Recorded, status.Active = status.State(), status.Current()
	turn := now.Truncate(health.Interval).Add(place(status.TrunkID))
	if !turn.After(now) {
		turn = turn.Add(health.Interval)
	}
	status.ProbeAt = turn
	return status
}

// find returns the named server of a status as a WatchedServer, the form that the organization's trunks share. The bool is false if the
// status has no such server.
func find(status sip.Status, name string) (sip.WatchedServer, bool) {
	i := slices.IndexFunc(status.Servers, func(s sip.ServerStatus) bool { return s.Server.String() == name })
	if i < 0 {
		return sip.WatchedServer{}, false
	}
	return sip.WatchedServer{Org: status.Org, Verify: status.Verify, ServerStatus: status.Servers[i]}, true
}

func keyOf(w sip.WatchedServer) string { return sip.ServerKey(w.Verify, w.Server) }

func states(status sip.Status) []health.State {
	states := make([]health.State, len(status.Servers))
	for i, s := range status.Servers {
		states[i] = s.Health.State
	}
	return states
}

// place returns an offset from 0 to 55 s that depends only on the name. If the first probe of a server finds it healthy, the second probe
// is earlier by this offset, and all later probes are a minute apart. This spreads servers that were added together over the minute. The
// statuses of trunks are recorded at this offset in each minute.
func place(name string) time.Duration {
	h := sha256.Sum256([]byte(name))
	return time.Duration(binary.BigEndian.Uint32(h[:4])%56) * time.Second
}
