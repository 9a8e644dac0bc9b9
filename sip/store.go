package sip

import (
	"context"

	"github.com/callwright/callwright"
)

// Store stores trunks. Given and returned trunks share no memory with stored ones. Every field comes back unchanged: nil as nil,
// and a pointer to an empty Failover, Codecs or Alerts as such a pointer; times are returned in UTC, exact to the microsecond. A
// store encrypts at rest the passwords of a trunk, its Headers, whose constants may be keys of other systems, and the URL of its
// alerts' webhook. siptest.RunStore and siptest.RunHold test it.
type Store interface {
	// Hold locks a number for the transaction of ctx: it waits until no other transaction holds the number, and makes others wait
	// until this one ends. A change that depends on the state of a number's trunks calls Hold before it reads them. A second call
	// in the same transaction does nothing; so does a call without a transaction.
	Hold(ctx context.Context, number callwright.PhoneNumber) error
	// HoldNumbers returns the number of an organization's attached phone numbers, each counted once, and locks that count for the
	// transaction of ctx: other callers wait until this transaction ends. Without a transaction it locks nothing. A change that
	// adds a number within a limit calls it after Hold and before Insert.
	HoldNumbers(ctx context.Context, org callwright.OrgID) (int, error)
	// Insert adds a trunk with Version 1. CodeConflict when its ID exists, when any organization has a trunk of this number and
	// direction, or when another organization has a trunk of this number in the other direction. Of two concurrent organizations
	// only one gets the number.
	Insert(ctx context.Context, t Trunk) error
	// Update replaces the trunk whose stored Version is t.Version, and adds one to the Version. CodeConflict when the stored
	// Version differs, CodeNotFound when t.Org has no such trunk.
	Update(ctx context.Context, t Trunk) error
	// Delete deletes the trunk whose stored Version is t.Version; errors are as of Update.
	Delete(ctx context.Context, t Trunk) error
	// Trunk returns a trunk by its id; CodeNotFound when the organization has no such trunk.
	Trunk(ctx context.Context, org callwright.OrgID, id string) (Trunk, error)
	// Trunks returns the trunks of an organization's number, at most one of each direction.
	Trunks(ctx context.Context, org callwright.OrgID, number callwright.PhoneNumber) ([]Trunk, error)
	// List returns the trunks of up to limit of an organization's numbers, by number and direction, Inbound first. The ID of the
	// keyset is the last number of the previous page; its time is ignored.
	List(ctx context.Context, org callwright.OrgID, after callwright.Keyset, limit int) ([]Trunk, error)
	// Outbound returns up to limit outbound trunks of an organization, by number.
	Outbound(ctx context.Context, org callwright.OrgID, limit int) ([]Trunk, error)
	// Owner returns the trunk of a number and direction, of any organization: the number of an incoming call determines the
	// organization. CodeNotFound when the number is not attached.
	Owner(ctx context.Context, number callwright.PhoneNumber, d Direction) (Trunk, error)
	// Holders returns the organization that has attached each of the given numbers, in either direction. It omits numbers that no
	// organization has attached; no numbers are no error.
	Holders(ctx context.Context, numbers []callwright.PhoneNumber) (map[callwright.PhoneNumber]callwright.OrgID, error)
	// Peers returns the peers of up to limit trunks of all organizations whose ID is greater than after, by ID. Of a trunk it sets
	// at least ID, Number, Direction, Endpoint, Options.Port, Options.AuthMode, Options.AllowedIPs and Failover, and no secret.
	Peers(ctx context.Context, after string, limit int) ([]Trunk, error)
}
