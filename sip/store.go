package sip

import (
	"context"

	"github.com/callwright/callwright"
)

// Store stores trunks. Given and returned trunks share no memory with stored ones. Every field is returned as stored: nil as nil, and a
// pointer to an empty Failover, Codecs or Alerts as such a pointer; times are in UTC with microseconds. A store encrypts at rest the
// passwords of a trunk, its Headers, whose constants may be keys of other systems, and the webhook URL of its alerts. siptest.RunStore and
// siptest.RunHold test it.
type Store interface {
	// Hold locks a number for the transaction of ctx: it waits until no other transaction holds the number, and makes others wait until
	// this one ends. A change that depends on the state of a number's trunks must call Hold before reading them. A repeated call in the
	// same transaction does nothing, and neither does a call without a transaction.
	Hold(ctx context.Context, number callwright.PhoneNumber) error
	// HoldNumbers returns how many phone numbers an organization has attached, each counted once. It locks that count for the transaction
	// of ctx: other callers wait until this transaction ends. Without a transaction it locks nothing. A change that adds a number within a
	// limit must call HoldNumbers after Hold and before Insert.
	HoldNumbers(ctx context.Context, org callwright.OrgID) (int, error)
	// Insert adds a trunk with Version 1. It returns CodeConflict if its ID exists, any organization has a trunk with this number and
	// direction, or another organization has a trunk with this number in the other direction. Of two concurrent organizations exactly one
	// succeeds.
	Insert(ctx context.Context, t Trunk) error
	// Update replaces the trunk whose stored Version is t.Version, and increments the Version. It returns CodeConflict if the stored
	// Version differs, and CodeNotFound if t.Org has no such trunk.
	Update(ctx context.Context, t Trunk) error
	// Delete deletes the trunk whose stored Version is t.Version. It returns the same errors as Update.
	Delete(ctx context.Context, t Trunk) error
	// Trunk returns a trunk by its id, or CodeNotFound if the organization has no such trunk.
	Trunk(ctx context.Context, org callwright.OrgID, id string) (Trunk, error)
	// Trunks returns the trunks of an organization's number, at most one per direction.
	Trunks(ctx context.Context, org callwright.OrgID, number callwright.PhoneNumber) ([]Trunk, error)
	// List returns the trunks of at most limit numbers of an organization, ordered by number and direction, Inbound first. The ID of the
	// keyset is the last number of the previous page; its time is ignored.
	List(ctx context.Context, org callwright.OrgID, after callwright.Keyset, limit int) ([]Trunk, error)
	// Outbound returns at most limit outbound trunks of an organization, ordered by number.
	Outbound(ctx context.Context, org callwright.OrgID, limit int) ([]Trunk, error)
	// Owner returns the trunk with the given number and direction, of any organization, because the called number determines the
	// organization of an incoming call. It returns CodeNotFound if the number is not attached in that direction.
	Owner(ctx context.Context, number callwright.PhoneNumber, d Direction) (Trunk, error)
	// Holders returns the organization that has attached each of the given numbers, in either direction. It omits numbers that no
	// organization has attached. An empty list of numbers is not an error.
	Holders(ctx context.Context, numbers []callwright.PhoneNumber) (map[callwright.PhoneNumber]callwright.OrgID, error)
	// Peers returns at most limit trunks of all organizations whose ID is greater than the ID after, in ascending order of ID. It sets at
	// least ID, Number, Direction, Endpoint, Options.Port, Options.AuthMode, Options.AllowedIPs and Failover, and no secrets.
	Peers(ctx context.Context, after string, limit int) ([]Trunk, error)
}
