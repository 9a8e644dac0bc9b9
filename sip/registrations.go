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
	Failures  int       // in a row
	Reason    string    // of the last failure; empty: none
	NextAt    time.Time // when to register again
	Version   int64     // for the compare-and-set; 0: not stored yet
}

// Registrations keeps registrations. Each is one node's or nobody's: the connection that calls come over is that node's.
// Which nodes live is known from leases; registrations of dead nodes are released by others.
type Registrations interface {
	// PutRegistration adds one whose Version is 0, which is nobody's, in place of an older one of that trunk; or it
	// replaces the one whose stored Version is its own, adds one to it, and leaves it to its node: CodeConflict when
	// somebody else was first, CodeNotFound when it is gone.
	PutRegistration(ctx context.Context, r Registration) error
	// Registration is one trunk's; CodeNotFound when there is none.
	Registration(ctx context.Context, org callwright.OrgID, trunkID string) (Registration, error)
	// DeleteRegistration removes one; none is no error.
	DeleteRegistration(ctx context.Context, org callwright.OrgID, trunkID string) error
	// TakeRegistrations returns up to limit registrations that are the node's with NextAt not after now, or that are
	// nobody's, the most overdue first, and makes them the node's. No registration is given to two nodes.
	TakeRegistrations(ctx context.Context, node string, now time.Time, limit int) ([]Registration, error)
	// RegistrationsOf returns the trunks whose registrations are the node's.
	RegistrationsOf(ctx context.Context, node string) (trunkIDs []string, err error)
	// RegistrationNodes returns the nodes that have registrations.
	RegistrationNodes(ctx context.Context) ([]string, error)
	// ReleaseRegistrations makes the node's registrations nobody's.
	ReleaseRegistrations(ctx context.Context, node string) error
}
