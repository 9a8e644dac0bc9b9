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
	Refused     RegistrationState = "refused" // by the server; retried after long waits
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

// Registrations stores registrations. Each registration belongs to one node, which holds the connection for calls, or to no node.
// Leases show the live nodes; other nodes release the registrations of dead ones. Every field comes back unchanged, a zero time as
// zero; other times are returned in UTC, exact to the microsecond. siptest.RunRegistrations tests it.
type Registrations interface {
	// StoreRegistration stores a registration. With Version 0 it adds one that belongs to no node, with Version 1, or replaces an
	// older one of the trunk, with a Version greater than the older one's; CodeConflict when the trunk's registration belongs to
	// another organization. Otherwise it replaces the registration whose stored Version is r.Version, and adds one to the Version;
	// the node stays. CodeConflict when the stored Version differs, CodeNotFound when the organization has no registration of the
	// trunk.
	StoreRegistration(ctx context.Context, r Registration) error
	// Registration returns a trunk's registration; CodeNotFound without one.
	Registration(ctx context.Context, org callwright.OrgID, trunkID string) (Registration, error)
	// DeleteRegistration deletes a trunk's registration. Without one it does nothing.
	DeleteRegistration(ctx context.Context, org callwright.OrgID, trunkID string) error
	// ClaimRegistrations claims up to limit due registrations for the node, and returns them: the node's registrations with NextAt
	// not after now, and all registrations of no node, the most overdue first. Their Versions stay the same. No registration is
	// given to two nodes. Concurrent calls may return fewer than limit.
	ClaimRegistrations(ctx context.Context, node string, now time.Time, limit int) ([]Registration, error)
	// RegistrationsOf returns the trunks whose registrations belong to the node, in any order.
	RegistrationsOf(ctx context.Context, node string) (trunkIDs []string, err error)
	// RegistrationNodes returns the nodes to which registrations belong, each once, in any order.
	RegistrationNodes(ctx context.Context) ([]string, error)
	// ReleaseRegistrations releases all registrations of the node, so that they belong to no node. A node without any is no error.
	ReleaseRegistrations(ctx context.Context, node string) error
}
