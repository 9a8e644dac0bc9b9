package sip

import (
	"context"

	"github.com/callwright/callwright"
)

// Store stores trunks. Given and returned trunks share no memory with stored ones. Every field comes back as it was stored: nil as nil,
// and a pointer to an empty Failover, Codecs or Alerts as such a pointer; times are returned in UTC, exact to the microsecond. Encrypted at
// rest are the passwords of a trunk, its Headers, whose constants may be keys of other systems, and the address of its alerts' webhook.
// siptest.RunStore and siptest.RunHold test it.
type Store interface {
	// Hold locks a number for the transaction of ctx: it waits until no other transaction holds the number, and makes
	// others wait until this one ends. A change of a number's trunks that depends on their state holds the number before
	// it reads them. Holding a number again in the same transaction does nothing; without a transaction nothing is held.
	Hold(ctx context.Context, number callwright.PhoneNumber) error
	// HoldNumbers returns how many numbers an organization has attached, each counted once, and locks that count for the transaction of
	// ctx: others that ask for it wait until this one ends; without a transaction nothing is locked. A change that adds a number
	// within a limit asks after Hold and before Insert.
	HoldNumbers(ctx context.Context, org callwright.OrgID) (int, error)
	// Insert adds a trunk with Version 1. CodeConflict when its ID is taken, when the number has a trunk of this direction, both of any
	// organization, or when it has a trunk of another organization in the other direction. Of two concurrent organizations only one
	// gets the number.
	Insert(ctx context.Context, t Trunk) error
	// Update replaces the trunk whose stored Version is t.Version, and adds one to the Version. CodeConflict when the stored
	// Version differs, CodeNotFound when t.Org has no such trunk.
	Update(ctx context.Context, t Trunk) error
	// Delete removes the trunk whose stored Version is t.Version; errors are those of Update.
	Delete(ctx context.Context, t Trunk) error
	// Trunk returns a trunk by its id; CodeNotFound when the organization has no such trunk.
	Trunk(ctx context.Context, org callwright.OrgID, id string) (Trunk, error)
	// Trunks returns the trunks of an organization's number, at most one of each direction.
	Trunks(ctx context.Context, org callwright.OrgID, number callwright.PhoneNumber) ([]Trunk, error)
	// List returns the trunks of up to limit of an organization's numbers, by number and direction, Inbound first. The ID of the
	// keyset is the last number of the page before; its time is not looked at.
	List(ctx context.Context, org callwright.OrgID, after callwright.Keyset, limit int) ([]Trunk, error)
	// Outbound returns up to limit outbound trunks of an organization, by number.
	Outbound(ctx context.Context, org callwright.OrgID, limit int) ([]Trunk, error)
	// Owner returns the trunk of a number and direction, of any organization: for an incoming call the number tells the
	// organization. CodeNotFound when the number is not attached.
	Owner(ctx context.Context, number callwright.PhoneNumber, d Direction) (Trunk, error)
	// Holders returns which organization has attached each of some numbers, in either direction. Numbers that none has attached are left
	// out; no numbers are no error.
	Holders(ctx context.Context, numbers []callwright.PhoneNumber) (map[callwright.PhoneNumber]callwright.OrgID, error)
	// Peers returns what up to limit trunks of all organizations say about their peers, by ID, those after the ID after. Of a trunk
	// it sets at least ID, Number, Direction, Endpoint, Options.Port, Options.AuthMode, Options.AllowedIPs and Failover, and no secret.
	Peers(ctx context.Context, after string, limit int) ([]Trunk, error)
}
