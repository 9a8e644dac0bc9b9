package sip

import (
	"context"
	"slices"
	"strings"
	"time"

	"github.com/callwright/callwright"
	"github.com/callwright/callwright/sip/alert"
	"github.com/callwright/callwright/sip/failover"
	"github.com/callwright/callwright/sip/health"
)

// Status is the state of a watched trunk: the health of its servers, and the active server. An inbound trunk has a status, without servers,
// only if it has alerts. All trunks of an organization share the health of a server: see WatchedServer.
type Status struct {
	TrunkID  string
	Org      callwright.OrgID
	Number   callwright.PhoneNumber
	Verify   TLSVerification
	Alerting bool   // alerts are enabled for the trunk
	Group    string // trunks in the same group share notices about their servers: see Statuses.Group; empty means no group
	Failback failover.Failback
	Servers  []ServerStatus // by priority; empty only for an inbound trunk
	Active   int            // index of the server that calls tried first when the status was recorded; see Current
	Recorded health.State   // value of State at History.Until
	History  health.History // its Samples are the current server's
	Alerts   alert.States
	ProbeAt  time.Time // time at which the status is next recorded
	Version  int64     // for compare-and-set; 0 if not stored yet
}

// ServerStatus is the health of one server of a trunk.
type ServerStatus struct {
	Server  failover.Server
	Health  health.Server
	ProbeAt time.Time
	Samples []time.Duration // response times of the last answered probes, oldest first, at most health.MaxSamples
	Version int64           // for compare-and-set
}

// WatchedServer is a server that trunks of an organization name with the same TLSVerification. These trunks share its health, which depends
// on no other setting of a trunk: probes carry no credentials, and the refusal of a call's credentials counts as an answer.
type WatchedServer struct {
	Org    callwright.OrgID
	Verify TLSVerification
	ServerStatus
}

// ServerKey returns the key of a watched server, which is unique within its organization. It ignores the case of host names (RFC 4343).
func ServerKey(verify TLSVerification, s failover.Server) string {
	return string(verify) + " " + strings.ToLower(s.String())
}

// Current returns the index of the server that calls try first. It returns 0 if the status has no servers.
func (s Status) Current() int { return failover.Active(s.Failback, s.Active, s.states()) }

func (s Status) states() []health.State {
	states := make([]health.State, len(s.Servers))
	for i, server := range s.Servers {
		states[i] = server.Health.State
	}
	return states
}

// Known returns the status with the current states of its servers, and with the samples of the current server. The map's keys are
// ServerKeys. Stores must call Known for every status that they return.
func (s Status) Known(servers map[string]ServerStatus) Status {
	s.Servers = slices.Clone(s.Servers)
	for i, named := range s.Servers {
		if known, ok := servers[ServerKey(s.Verify, named.Server)]; ok {
			known.Server = named.Server
			s.Servers[i] = known
		}
	}
	s.History.Samples = nil
	if current := s.Current(); current < len(s.Servers) {
		s.History.Samples = s.Servers[current].Samples
	}
	return s
}

// Downtime returns the known downtime in the 24 hours before History.Until.
func (s Status) Downtime() time.Duration {
	_, down := s.History.LastDay(s.History.Until)
	return down
}

// Statuses stores the statuses of watched trunks. It completes every returned status with Status.Known and the organization's watched
// servers, so that all trunks that name a server show the same health. Other fields are returned as stored, nil as nil; times are in UTC
// with microseconds. Given and returned statuses share no memory with stored ones. siptest.RunStatuses tests it.
type Statuses interface {
	// StoreStatus stores a status, and ends a lease on it.
	//
	// With Version 0 it adds the status with Version 1. If the trunk already has a status, the new one replaces it and has a greater
	// Version. It then returns CodeConflict if the trunk's status belongs to another organization. Otherwise it replaces the status whose
	// stored Version is s.Version, and increments the Version. It then returns CodeConflict if the stored Version differs, and CodeNotFound
	// if the organization has no status of the trunk.
	//
	// StoreStatus adds servers that no trunk of the organization has named so far, in the given state, with Version 1. It leaves servers
	// that are already watched unchanged, and deletes servers that no status names any more; if named again, they begin with Version 1.
	// Recorded becomes the State with the stored servers. Concurrent calls of StoreStatus and DeleteStatus for trunks with a common server
	// do not conflict; afterwards the server is watched if and only if a status names it.
	StoreStatus(ctx context.Context, s Status) error
	// RecordStatus stores the fields Group, Active, Recorded, History, Alerts and ProbeAt of a status, and ends the lease on it. It
	// compares and increments the Version like StoreStatus. It does not change servers.
	RecordStatus(ctx context.Context, s Status) error
	// Status returns the status of a trunk, or CodeNotFound if the organization has none for it.
	Status(ctx context.Context, org callwright.OrgID, trunkID string) (Status, error)
	// StatusesOf returns the statuses of the given trunks of an organization, ordered by number. It omits trunks without a status and
	// trunks of other organizations.
	StatusesOf(ctx context.Context, org callwright.OrgID, trunkIDs []string) ([]Status, error)
	// DeleteStatus deletes the status of a trunk, and the servers that no other status names. It does nothing if the status is absent.
	DeleteStatus(ctx context.Context, org callwright.OrgID, trunkID string) error
	// CountStatuses counts the statuses of an organization that have servers, by the public state (see health.State.Public) of
	// Status.Recorded, up to limit for each state. The map omits states that no status has.
	CountStatuses(ctx context.Context, org callwright.OrgID, limit int) (map[health.State]int, error)
	// WorstStatuses returns at most limit statuses of an organization that have servers and that CountStatuses counts under state. They are
	// ordered by Status.Downtime, longest first, and then by number.
	WorstStatuses(ctx context.Context, org callwright.OrgID, state health.State, limit int) ([]Status, error)
	// ClaimStatuses leases at most limit statuses whose ProbeAt is not after now and that are not leased, and returns them, most overdue
	// first. The leases end at the time until; no other call returns the statuses earlier. A lease does not change the Version. Concurrent
	// calls may return fewer than limit.
	ClaimStatuses(ctx context.Context, now, until time.Time, limit int) ([]Status, error)
	// Group returns the first trunk id, in ascending order, among the statuses of an organization with a given non-empty Status.Group, and
	// the number of these statuses. It returns an empty id if there are none.
	Group(ctx context.Context, org callwright.OrgID, group string) (first string, count int, err error)
	Servers
}

// Servers stores the watched servers of organizations. Statuses.StoreStatus and DeleteStatus add and delete servers. siptest.RunStatuses
// tests it.
type Servers interface {
	// StoreServer replaces the health, the ProbeAt and the samples of the server whose stored Version is w.Version, increments the Version,
	// and ends a lease on the server. It returns CodeConflict if the stored Version differs, and CodeNotFound if the server is not watched.
	StoreServer(ctx context.Context, w WatchedServer) error
	// Server returns a watched server by its ServerKey, or CodeNotFound if it is not watched.
	Server(ctx context.Context, org callwright.OrgID, key string) (WatchedServer, error)
	// ClaimServers leases servers as Statuses.ClaimStatuses leases statuses. An organization has one server for each ServerKey.
	ClaimServers(ctx context.Context, now, until time.Time, limit int) ([]WatchedServer, error)
	// WakeStatuses changes the statuses that name a server and whose ProbeAt is after the time at: it sets ProbeAt to that time, and
	// increments the Version. A status that was read before the server changed can then no longer be recorded.
	WakeStatuses(ctx context.Context, org callwright.OrgID, key string, at time.Time) error
}

// Monitor watches the servers of trunks; monitor.Service implements it.
type Monitor interface {
	// Watch starts to watch a new trunk, or updates a watched one. Servers that are new to the organization are unchecked and probed
	// immediately; all others keep their health. Calls try the first server or, if it is unreachable, the server in the best state. The
	// service calls Watch for trunks of either direction, in the transaction that stores the trunk, and Unwatch in the transaction that
	// deletes the trunk. Unwatch stops the watch.
	Watch(ctx context.Context, t Trunk) error
	Unwatch(ctx context.Context, t Trunk) error
	// Servers returns a trunk's servers in the order in which a call tries them. A call tries no other servers.
	Servers(ctx context.Context, t Trunk) ([]failover.Server, error)
	// CheckChannels returns CodeBadRequest with the field "email", "sms" or "webhook" if this deployment cannot alert the organization over
	// that channel.
	CheckChannels(ctx context.Context, org callwright.OrgID, c alert.Channels) error
}
