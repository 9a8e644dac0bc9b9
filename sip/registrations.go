package sip

import (
	"context"
	"time"

	"github.com/callwright/callwright"
)

// RegistrationState is the state of a registration with a customer's server.
type RegistrationState string

// The states.
const (
	Registering RegistrationState = "registering" // under way, or waiting for a retry
	Registered  RegistrationState = "registered"
	Refused     RegistrationState = "refused" // by the server; retried with long pauses
)

// Registration is the registration of one inbound trunk with AuthRegister.
type Registration struct {
	TrunkID   string
	Org       callwright.OrgID
	Number    callwright.PhoneNumber
	State     RegistrationState
	Since     time.Time // of State
	ExpiresAt time.Time // of the binding; zero: none
	Failures  int       // consecutive
	Reason    string    // of the last failure; empty: none
	NextAt    time.Time // when REGISTER is due
	Version   int64     // for the compare-and-set; 0: not stored yet
}

// Registrations stores registrations. Each one belongs to one node, which has the connection that calls use, or to no
// node. Leases tell which nodes are alive; the registrations of dead nodes are released by others. Every field comes back as it was
// stored, a zero time as zero; other times are returned in UTC, exact to the microsecond. siptest.RunRegistrations tests it.
type Registrations interface {
	// PutRegistration stores a registration. With Version 0 it adds one that belongs to no node, with Version 1, or replaces an older
	// one of the trunk, with a Version greater than the older one's; CodeConflict when the trunk's registration is another
	// organization's. Otherwise it replaces the one whose stored Version is r.Version, and adds one to the Version; the node
	// stays. CodeConflict when the stored Version differs, CodeNotFound when the organization has none of the trunk.
	PutRegistration(ctx context.Context, r Registration) error
	// Registration returns a trunk's registration; CodeNotFound without one.
	Registration(ctx context.Context, org callwright.OrgID, trunkID string) (Registration, error)
	// DeleteRegistration removes a trunk's registration. Without one it does nothing.
	DeleteRegistration(ctx context.Context, org callwright.OrgID, trunkID string) error
	// TakeRegistrations returns up to limit registrations that are due: those of the node with NextAt not after now, and
	// those of no node, whenever they are due, the most overdue first. All of them belong to the node then, with the Version that they
	// had; none is given to two nodes. Concurrent calls may return fewer than limit.
	TakeRegistrations(ctx context.Context, node string, now time.Time, limit int) ([]Registration, error)
	// RegistrationsOf returns the trunks whose registrations belong to the node, in any order.
	RegistrationsOf(ctx context.Context, node string) (trunkIDs []string, err error)
	// RegistrationNodes returns the nodes to which registrations belong, each once, in any order.
	RegistrationNodes(ctx context.Context) ([]string, error)
	// ReleaseRegistrations takes all registrations from the node. They belong to no node then. A node without any is no error.
	ReleaseRegistrations(ctx context.Context, node string) error
}
