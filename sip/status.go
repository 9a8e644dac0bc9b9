package sip

import (
	"context"
	"time"

	"github.com/callwright/callwright"
	"github.com/callwright/callwright/sip/alert"
	"github.com/callwright/callwright/sip/failover"
	"github.com/callwright/callwright/sip/health"
)

// Status is the state of a watched trunk: the health of its servers, and to which of them calls go. An inbound trunk has
// a status only if it has alerts, and the status has no servers.
type Status struct {
	TrunkID  string
	Org      callwright.OrgID
	Number   callwright.PhoneNumber
	Verify   TLSVerification
	Alerting bool // the trunk has enabled alerts
	Failback failover.Failback
	Servers  []ServerStatus // by priority; empty for an inbound trunk only
	Active   int            // the index of the server that calls go to first
	History  health.History
	Alerts   alert.States
	ProbeAt  time.Time // when the next probe is due
	Version  int64     // for the compare-and-set; 0: not stored yet
}

// ServerStatus is the state of one server of a trunk.
type ServerStatus struct {
	Server  failover.Server
	Health  health.Server
	ProbeAt time.Time
}

// Downtime returns the downtime in the last day of what the history counts.
func (s Status) Downtime() time.Duration {
	_, down := s.History.LastDay(s.History.Until)
	return down
}

// Statuses stores the statuses of watched trunks.
type Statuses interface {
	// PutStatus stores a status. With Version 0 it adds the status, and replaces an older one of the trunk. Otherwise it
	// replaces the one whose stored Version is s.Version, and adds one to the Version: CodeConflict when the stored Version
	// differs, CodeNotFound when there is none. A lease on the status ends.
	PutStatus(ctx context.Context, s Status) error
	// Status returns a trunk's status; CodeNotFound without one.
	Status(ctx context.Context, org callwright.OrgID, trunkID string) (Status, error)
	// StatusesOf returns the statuses of these trunks of an organization, by number. Trunks without a status are left out.
	StatusesOf(ctx context.Context, org callwright.OrgID, trunkIDs []string) ([]Status, error)
	// DeleteStatus removes a trunk's status. Without one it does nothing.
	DeleteStatus(ctx context.Context, org callwright.OrgID, trunkID string) error
	// CountStatuses counts an organization's statuses that have servers, by Status.State, up to limit of each state.
	CountStatuses(ctx context.Context, org callwright.OrgID, limit int) (map[health.State]int, error)
	// WorstStatuses returns up to limit of an organization's statuses that have servers and are in a state: those with the longest
	// downtime by Status.Downtime first, equal ones by number.
	WorstStatuses(ctx context.Context, org callwright.OrgID, state health.State, limit int) ([]Status, error)
	// LeaseStatuses returns up to limit statuses whose ProbeAt is not after now and that have no lease, the most overdue
	// first, and leases them until the given time: no other call returns them before.
	LeaseStatuses(ctx context.Context, now, until time.Time, limit int) ([]Status, error)
}

// Monitor watches the servers of trunks; monitor.Service implements it.
type Monitor interface {
	// Watch starts to watch a new trunk, and goes on with a changed one: new servers are unchecked and probed at once, servers that the
	// trunk had before keep their health, and calls go to the first server that is not unreachable. It is called for trunks of either direction, in the transaction that stores the
	// trunk. Forget stops the watch, in the transaction that removes the trunk.
	Watch(ctx context.Context, t Trunk) error
	Forget(ctx context.Context, t Trunk) error
	// Servers returns a trunk's servers in the order in which a call tries them. A call does not try other servers.
	Servers(ctx context.Context, t Trunk) ([]failover.Server, error)
	// CheckChannels returns CodeBadRequest with the field "email", "sms" or "webhook" for a channel over which this
	// deployment cannot alert the organization.
	CheckChannels(ctx context.Context, org callwright.OrgID, c alert.Channels) error
}
