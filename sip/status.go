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

// Status is the state of a watched trunk: the health of its servers, and to which of them calls go. An inbound trunk has
// a status only if it has alerts, and the status has no servers. The servers' health is that of the organization: see
// WatchedServer.
type Status struct {
	TrunkID  string
	Org      callwright.OrgID
	Number   callwright.PhoneNumber
	Verify   TLSVerification
	Alerting bool   // the trunk has enabled alerts
	Group    string // trunks with one group tell about their servers once: see Statuses.Group; empty: the trunk is in none
	Failback failover.Failback
	Servers  []ServerStatus // by priority; empty for an inbound trunk only
	Active   int            // the index of the server that calls went to first when the status was recorded: see Current
	Recorded health.State   // State at History.Until
	History  health.History // its Samples are those of the current server
	Alerts   alert.States
	ProbeAt  time.Time // when the status is recorded next
	Version  int64     // for the compare-and-set; 0: not stored yet
}

// ServerStatus is the state of one server of a trunk.
type ServerStatus struct {
	Server  failover.Server
	Health  health.Server
	ProbeAt time.Time
	Samples []time.Duration // response times of the last answered probes, oldest first, at most health.MaxSamples
	Version int64           // for the compare-and-set
}

// WatchedServer is a server that an organization's trunks name, with certificates verified in one way. Its health is that
// of all these trunks: it depends on nothing else that a trunk configures, because probes have no credentials and the refusal
// of a call's credentials is an answer.
type WatchedServer struct {
	Org    callwright.OrgID
	Verify TLSVerification
	ServerStatus
}

// ServerKey identifies a watched server within its organization. The case of host names means nothing (RFC 4343).
func ServerKey(verify TLSVerification, s failover.Server) string {
	return string(verify) + " " + strings.ToLower(s.String())
}

// Current returns the index of the server that calls go to first.
func (s Status) Current() int { return failover.Active(s.Failback, s.Active, s.states()) }

func (s Status) states() []health.State {
	states := make([]health.State, len(s.Servers))
	for i, server := range s.Servers {
		states[i] = server.Health.State
	}
	return states
}

// Known returns the status with what is known of its servers, by ServerKey. Stores complete with it what they return.
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

// Downtime returns the downtime in the last day of what the history counts.
func (s Status) Downtime() time.Duration {
	_, down := s.History.LastDay(s.History.Until)
	return down
}

// Statuses stores the statuses of watched trunks. Every status that it returns has the organization's watched servers, as Status.Known
// completes it: all trunks that name a server show one health. Other fields come back as they were stored, nil as nil; times are returned in
// UTC, exact to the microsecond. Given and returned statuses share no memory with stored ones. siptest.RunStatuses tests it.
type Statuses interface {
	// PutStatus stores a status. With Version 0 it adds the status, with Version 1, or replaces an older one of the trunk, with a Version
	// greater than the older one's: CodeConflict when the trunk's status is another organization's. Otherwise it
	// replaces the one whose stored Version is s.Version, and adds one to the Version: CodeConflict when the stored Version
	// differs, CodeNotFound when the organization has none of the trunk. A lease on the status ends. Servers that no trunk of the
	// organization has named so far are watched from now on, in the state given, with Version 1. Those that are watched already stay as they are,
	// and those that no status names any more are removed, to begin with Version 1 if they are named again. Recorded becomes the State
	// with the servers as they are stored. Concurrent calls of PutStatus and DeleteStatus for trunks that name one server do not fail
	// for that reason; afterwards the server is watched if and only if a status names it.
	PutStatus(ctx context.Context, s Status) error
	// RecordStatus stores Group, Active, Recorded, History, Alerts and ProbeAt of a status by the compare-and-set of PutStatus, and
	// ends the lease. The servers stay as they are.
	RecordStatus(ctx context.Context, s Status) error
	// Status returns a trunk's status; CodeNotFound without one.
	Status(ctx context.Context, org callwright.OrgID, trunkID string) (Status, error)
	// StatusesOf returns the statuses of these trunks of an organization, by number. Trunks without a status, and other organizations',
	// are left out.
	StatusesOf(ctx context.Context, org callwright.OrgID, trunkIDs []string) ([]Status, error)
	// DeleteStatus removes a trunk's status, and the servers that no other one names. Without one it does nothing.
	DeleteStatus(ctx context.Context, org callwright.OrgID, trunkID string) error
	// CountStatuses counts an organization's statuses that have servers, by Status.Recorded as health.State.Public has it, up to limit
	// of each state. States without a status are not in the map.
	CountStatuses(ctx context.Context, org callwright.OrgID, limit int) (map[health.State]int, error)
	// WorstStatuses returns up to limit of an organization's statuses that have servers and are counted in a state: those with the
	// longest downtime by Status.Downtime first, equal ones by number.
	WorstStatuses(ctx context.Context, org callwright.OrgID, state health.State, limit int) ([]Status, error)
	// LeaseStatuses returns up to limit statuses whose ProbeAt is not after now and that have no lease, the most overdue
	// first, and leases them until the given time: no other call returns them before. A lease changes no Version. Concurrent calls may
	// return fewer than limit.
	LeaseStatuses(ctx context.Context, now, until time.Time, limit int) ([]Status, error)
	// Group returns the first trunk, by id, of an organization's statuses with a Status.Group that is not empty, and how many there
	// are; an empty id without any.
	Group(ctx context.Context, org callwright.OrgID, group string) (first string, count int, err error)
	Servers
}

// Servers stores the watched servers of organizations. Statuses.PutStatus and DeleteStatus add and remove them. siptest.RunStatuses
// tests it.
type Servers interface {
	// PutServer replaces the health, the ProbeAt and the samples of the server whose stored Version is w.Version, and adds one to the
	// Version: CodeConflict when the stored Version differs, CodeNotFound when the server is not watched. A lease on it ends.
	PutServer(ctx context.Context, w WatchedServer) error
	// Server returns a watched server by its ServerKey; CodeNotFound when it is not watched.
	Server(ctx context.Context, org callwright.OrgID, key string) (WatchedServer, error)
	// LeaseServers is Statuses.LeaseStatuses for servers: of those with one ServerKey in one organization there is one.
	LeaseServers(ctx context.Context, now, until time.Time, limit int) ([]WatchedServer, error)
	// WakeStatuses makes the statuses that name a server due at a time, if they are due later, and adds one to the Version of these: a
	// status that was read before the server changed cannot be recorded.
	WakeStatuses(ctx context.Context, org callwright.OrgID, key string, at time.Time) error
}

// Monitor watches the servers of trunks; monitor.Service implements it.
type Monitor interface {
	// Watch starts to watch a new trunk, and goes on with a changed one: servers that the organization has not watched so far are
	// unchecked and probed at once, all others keep their health, and calls go to the first server that is not unreachable. It is called for trunks of either direction, in the transaction that stores the
	// trunk. Forget stops the watch, in the transaction that removes the trunk.
	Watch(ctx context.Context, t Trunk) error
	Forget(ctx context.Context, t Trunk) error
	// Servers returns a trunk's servers in the order in which a call tries them. A call does not try other servers.
	Servers(ctx context.Context, t Trunk) ([]failover.Server, error)
	// CheckChannels returns CodeBadRequest with the field "email", "sms" or "webhook" for a channel over which this
	// deployment cannot alert the organization.
	CheckChannels(ctx context.Context, org callwright.OrgID, c alert.Channels) error
}
