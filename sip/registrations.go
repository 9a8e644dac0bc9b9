package sip

import (
	"context"
	"time"

	"github.com/callwright/callwright"
)

// RegistrationState is where a registration with a customer's server stands.
type RegistrationState string

// The states.
const (
	Registering RegistrationState = "registering" // under way, or waiting to be tried again
	Registered  RegistrationState = "registered"
	Refused     RegistrationState = "refused" // the server does not accept us; tried again, seldom
)

// Registration is the state of one inbound trunk with AuthRegister.
type Registration struct {
	TrunkID   string
	Org       callwright.OrgID
	Number    callwright.PhoneNumber
	State     RegistrationState
	Since     time.Time // of State
	ExpiresAt time.Time // of the binding; zero: none
	Failures  int       // in a row
	Reason    string    // of the last failure; empty: none
	NextAt    time.Time // when to register again
	Version   int64     // for the compare-and-set; 0: not stored yet
}

// Registrations keeps registrations. Each is one node's while its lease lasts: the connection that calls come over is
// that node's.
type Registrations interface {
	// PutRegistration adds one whose Version is 0, in place of an older one of that trunk and its lease, or replaces the
	// one whose stored Version is its own and adds one to it: CodeConflict when somebody else was first, CodeNotFound
	// when it is gone. The lease stays.
	PutRegistration(ctx context.Context, r Registration) error
	// Registration is one trunk's; CodeNotFound when there is none.
	Registration(ctx context.Context, org callwright.OrgID, trunkID string) (Registration, error)
	// DeleteRegistration removes one; none is no error.
	DeleteRegistration(ctx context.Context, org callwright.OrgID, trunkID string) error
	// LeaseRegistrations gives up to limit registrations that are node's with NextAt not after now, or that nobody has a
	// lease on at now, and leases them to node until the given time.
	LeaseRegistrations(ctx context.Context, node string, now, until time.Time, limit int) ([]Registration, error)
	// RenewRegistrations keeps node's leases until the given time and says which trunks' they are.
	RenewRegistrations(ctx context.Context, node string, until time.Time) (trunkIDs []string, err error)
	// ReleaseRegistrations ends node's leases.
	ReleaseRegistrations(ctx context.Context, node string) error
}
