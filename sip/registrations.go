package sip

import (
	"context"
	"time"

	"github.com/callwright/callwright"
)

// RegistrationState is the state of a registration with a customer's server.
type RegistrationState string

// The states of a registration.
const (
	Registering RegistrationState = "registering" // in progress, or waiting for a retry
	Registered  RegistrationState = "registered"
	Refused     RegistrationState = "refused" // refused by the server; retried after long waits
)

// Registration is the registration of one inbound trunk with AuthRegister at the customer's server.
type Registration struct {
	TrunkID   string
	Org       callwright.OrgID
	Number    callwright.PhoneNumber
	State     RegistrationState
	Since     time.Time // time of the last change of State
	ExpiresAt time.Time // expiry of the binding; zero if none
	Failures  int       // consecutive failures
	Reason    string    // reason for the last failure; empty if none
	NextAt    time.Time // time at which the next REGISTER is due
	Version   int64     // for compare-and-set; 0 if not stored yet
}

// Registrations stores registrations. Each registration belongs either to one node, which maintains the connection for calls, or to no
// node. Leases show which nodes are live; other nodes release the registrations of dead nodes. Every field is returned as stored: a zero
// time as zero, other times in UTC with microseconds. siptest.RunRegistrations tests it.
type Registrations interface {
	// StoreRegistration stores a registration.
	//
	// With Version 0 it adds a registration that belongs to no node, with Version 1. If the trunk already has a registration, the new one
	// replaces it and has a greater Version. It then returns CodeConflict if the trunk's registration belongs to another organization.
	//
	// Otherwise it replaces the registration whose stored Version is r.Version, and increments the Version; the registration stays with its
	// node. It then returns CodeConflict if the stored Version differs, and CodeNotFound if the organization has no registration of the
	// trunk.
	StoreRegistration(ctx context.Context, r Registration) error
	// Registration returns the registration of a trunk, or CodeNotFound if the organization has none for it.
	Registration(ctx context.Context, org callwright.OrgID, trunkID string) (Registration, error)
	// DeleteRegistration deletes the registration of a trunk. It does nothing if the registration is absent.
	DeleteRegistration(ctx context.Context, org callwright.OrgID, trunkID string) error
	// ClaimRegistrations claims at most limit registrations for a node and returns them, most overdue first. They are the node's
	// registrations whose NextAt is not after now, and registrations of no node. A claim does not change the Version. No registration is
	// returned to two nodes. Concurrent calls may return fewer than limit.
	ClaimRegistrations(ctx context.Context, node string, now time.Time, limit int) ([]Registration, error)
	// RegistrationsOf returns the ids of the trunks whose registrations belong to a node, in any order.
	RegistrationsOf(ctx context.Context, node string) (trunkIDs []string, err error)
	// RegistrationNodes returns the nodes that own a registration, without duplicates, in any order.
	RegistrationNodes(ctx context.Context) ([]string, error)
	// ReleaseRegistrations releases all registrations of a node, so that they belong to no node. It returns nil if the node has none.
	ReleaseRegistrations(ctx context.Context, node string) error
}
