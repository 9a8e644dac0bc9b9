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

// Status is the state of a watched trunk: the health of its servers, and the active server. An inbound trunk has a status only if
// it has alerts, and the status has no servers. The servers' health is shared within the organization: see WatchedServer.
type Status struct {
	TrunkID  string
	Org      callwright.OrgID
	Number   callwright.PhoneNumber
	Verify   TLSVerification
	Alerting bool   // the trunk has enabled alerts
	Group    string // trunks of one group send one notice about their servers: see Statuses.Group; empty: no group
	Failback failover.Failback
	Servers  []ServerStatus // by priority; empty for an inbound trunk only
	Active   int            // the index of the server that calls went to first when the status was recorded: see Current
	Recorded health.State   // State at History.Until
	History  health.History // its Samples belong to the current server
	Alerts   alert.States
	ProbeAt  time.Time // next time at which the status is recorded
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

// WatchedServer is a server that an organization's trunks name, with certificates verified in one way. All these trunks share its
// health. It depends on no other setting of a trunk, because probes carry no credentials, and the refusal of a call's credentials
// counts as an answer.
type WatchedServer struct {
	Org    callwright.OrgID
	Verify TLSVerification
	ServerStatus
}

// ServerKey identifies a watched server within its organization. Host names are case-insensitive (RFC 4343).
func ServerKey(verify TLSVerification, s failover.Server) string {
	return string(verify) + " " + strings.ToLower(s.String())
}

// Current returns the index of the server that calls try first.
func (s Status) Current() int { return failover.Active(s.Failback, s.Active, s.states()) }

func (s Status) states() []health.State {
	states := make([]health.State, len(s.Servers))
	for i, server := range s.Servers {
		states[i] = server.Health.State
	}
	return states
}

// Known returns the status with the given states of its servers, by ServerKey. Stores call it on every status that they return.
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

// Downtime returns the downtime in the last day that the history counts.
func (s Status) Downtime() time.Duration {
	_, down := s.History.LastDay(s.History.Until)
	return down
}

// Statuses stores the statuses of watched trunks. Every returned status is completed by Status.Known with the organization's
// watched servers: all trunks that name a server show the same health. Other fields come back as they were stored, nil as nil;
// times are returned in UTC, exact to the microsecond. Given and returned statuses share no memory with stored ones.
// siptest.RunStatuses tests it.
type Statuses interface {
	// StoreStatus stores a status. With Version 0 it adds the status, with Version 1, or replaces an older one of the trunk, with a
	// Version greater than the older one's: CodeConflict when the trunk's status belongs to another organization. Otherwise it
	// replaces the status whose stored Version is s.Version, and adds one to the Version: CodeConflict when the stored Version
	// differs, CodeNotFound when the organization has no status of the trunk. It ends a lease on the status. It adds servers that
	// no trunk of the organization has named so far, in the given state, with Version 1. It leaves watched servers unchanged, and
	// deletes servers that no status names any more; named again, they begin with Version 1. Recorded becomes the State with the
	// stored servers. Concurrent calls of StoreStatus and DeleteStatus for trunks with a common server do not conflict; afterwards
	// the server is watched if and only if a status names it.
	StoreStatus(ctx context.Context, s Status) error
	// RecordStatus stores Group, Active, Recorded, History, Alerts and ProbeAt of a status by the compare-and-set of StoreStatus, and
	// ends the lease. The servers stay unchanged.
	RecordStatus(ctx context.Context, s Status) error
	// Status returns a trunk's status; CodeNotFound without one.
	Status(ctx context.Context, org callwright.OrgID, trunkID string) (Status, error)
	// StatusesOf returns the statuses of these trunks of an organization, by number. It omits trunks without a status, and trunks
	// of other organizations.
	StatusesOf(ctx context.Context, org callwright.OrgID, trunkIDs []string) ([]Status, error)
	// DeleteStatus deletes a trunk's status, and the servers that no other status names. Without one it does nothing.
	DeleteStatus(ctx context.Context, org callwright.OrgID, trunkID string) error
	// CountStatuses counts an organization's statuses that have servers, by the public state of Status.Recorded (see
	// health.State.Public), up to limit of each state. The map omits states without a status.
	CountStatuses(ctx context.Context, org callwright.OrgID, limit int) (map[health.State]int, error)
	// WorstStatuses returns up to limit of an organization's statuses that have servers and are counted in a state, by
	// Status.Downtime, the longest first, and then by number.
	WorstStatuses(ctx context.Context, org callwright.OrgID, state health.State, limit int) ([]Status, error)
	// ClaimStatuses leases up to limit statuses whose ProbeAt is not after now and that have no lease, the most overdue first, and
	// returns them. No other call returns them before the given time. A lease changes no Version. Concurrent calls may return fewer
	// than limit.
	ClaimStatuses(ctx context.Context, now, until time.Time, limit int) ([]Status, error)
	// Group returns the first trunk, by id, of an organization's statuses with a Status.Group that is not empty, and the number of
	// these statuses; an empty id without any.
	Group(ctx context.Context, org callwright.OrgID, group string) (first string, count int, err error)
	Servers
}

// Servers stores the watched servers of organizations. Statuses.StoreStatus and DeleteStatus add and delete them. siptest.RunStatuses
// tests it.
type Servers interface {
	// StoreServer replaces the health, the ProbeAt and the samples of the server whose stored Version is w.Version, and adds one to the
	// Version: CodeConflict when the stored Version differs, CodeNotFound when the server is not watched. A lease on it ends.
	StoreServer(ctx context.Context, w WatchedServer) error
	// Server returns a watched server by its ServerKey; CodeNotFound when it is not watched.
	Server(ctx context.Context, org callwright.OrgID, key string) (WatchedServer, error)
	// ClaimServers is Statuses.ClaimStatuses for servers: an organization has one server for each ServerKey.
	ClaimServers(ctx context.Context, now, until time.Time, limit int) ([]WatchedServer, error)
	// WakeStatuses makes the statuses that name a server due at a time, if they are due later, and adds one to the Version of these: a
	// status that was read before the server changed cannot be recorded.
	WakeStatuses(ctx context.Context, org callwright.OrgID, key string, at time.Time) error
}

// Monitor watches the servers of trunks; monitor.Service implements it.
type Monitor interface {
	// Watch starts to watch a new trunk, or updates a watched one. Servers that are new to the organization are unchecked and
	// probed immediately; all others keep their health. Calls go to the first server that is not unreachable. Watch is called for
	// trunks of either direction, in the transaction that stores the trunk. Unwatch stops the watch, in the transaction that deletes
	// the trunk.
	Watch(ctx context.Context, t Trunk) error
	Unwatch(ctx context.Context, t Trunk) error
	// Servers returns a trunk's servers in the order in which a call tries them. A call does not try other servers.
	Servers(ctx context.Context, t Trunk) ([]failover.Server, error)
	// CheckChannels returns CodeBadRequest with the field "email", "sms" or "webhook" for a channel over which this
	// deployment cannot alert the organization.
	CheckChannels(ctx context.Context, org callwright.OrgID, c alert.Channels) error
}
