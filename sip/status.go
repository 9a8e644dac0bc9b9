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

// Statuses keeps what is known of trunks.
type Statuses interface {
	// PutStatus adds a status whose Version is 0, in place of an older one of that trunk, or replaces the one whose
	// stored Version is its own and adds one to it: CodeConflict when somebody else was first, CodeNotFound when it is
	// gone. A lease that somebody has on it ends.
	PutStatus(ctx context.Context, s Status) error
	// Status is one trunk's; CodeNotFound when there is none.
	Status(ctx context.Context, org callwright.OrgID, trunkID string) (Status, error)
	// StatusesOf returns those of these trunks of an organization that have one, by number.
	StatusesOf(ctx context.Context, org callwright.OrgID, trunkIDs []string) ([]Status, error)
	// DeleteStatus removes one; none is no error.
	DeleteStatus(ctx context.Context, org callwright.OrgID, trunkID string) error
	// LeaseStatuses gives up to limit statuses whose ProbeAt is not after now, the most overdue first, and that nobody has
	// a lease on, and leases them until the given time: no other call gives them before it.
	LeaseStatuses(ctx context.Context, now, until time.Time, limit int) ([]Status, error)
}

// Monitor watches the servers of trunks; monitor.Service implements it.
type Monitor interface {
	// Watch starts to watch a new trunk, and restarts with a changed one: its servers are unchecked, are probed at once,
	// and calls go to the first of them. It is called for trunks of either direction, in the transaction that stores the
	// trunk. Forget stops the watch, in the transaction that removes the trunk.
	Watch(ctx context.Context, t Trunk) error
	Forget(ctx context.Context, t Trunk) error
	// Servers returns a trunk's servers in the order in which a call tries them. A call does not try other servers.
	Servers(ctx context.Context, t Trunk) ([]failover.Server, error)
	// CheckChannels returns CodeBadRequest with the field "email", "sms" or "webhook" for a channel over which this
	// deployment cannot alert the organization.
	CheckChannels(ctx context.Context, org callwright.OrgID, c alert.Channels) error
}
