package sip

import (
	"context"

	"github.com/callwright/callwright"
)

// Store keeps trunks. Secrets in them are encrypted at rest. What it returns shares no memory with what it keeps.
type Store interface {
	// Hold waits until no other transaction holds a number, and keeps all others from holding it until the transaction of
	// ctx ends. Who changes a number's trunks by what they are holds it before reading them. A number that is held already
	// by the same transaction is no error; without a transaction nothing is held.
	Hold(ctx context.Context, number callwright.PhoneNumber) error
	// Insert adds a trunk with Version 1; CodeConflict when that number has that direction already, whoever's it is, or
	// when it is another organization's in the other direction. Of two organizations that come at once one alone gets it.
	Insert(ctx context.Context, t Trunk) error
	// Update replaces a trunk whose stored Version is t.Version and adds one to it; CodeConflict when somebody else was
	// first; CodeNotFound when it is absent.
	Update(ctx context.Context, t Trunk) error
	// Delete removes the trunk whose stored Version is t.Version; errors are those of Update.
	Delete(ctx context.Context, t Trunk) error
	// Trunk is one trunk by its id; CodeNotFound when the organization has none.
	Trunk(ctx context.Context, org callwright.OrgID, id string) (Trunk, error)
	// Trunks is the trunks of one number of an organization, at most one a direction.
	Trunks(ctx context.Context, org callwright.OrgID, number callwright.PhoneNumber) ([]Trunk, error)
	// List returns the trunks of up to limit of an organization's numbers, by number and direction. The ID of the keyset is
	// the last number of the page before; its time is not looked at.
	List(ctx context.Context, org callwright.OrgID, after callwright.Keyset, limit int) ([]Trunk, error)
	// Outbound is up to limit outbound trunks of an organization, by number.
	Outbound(ctx context.Context, org callwright.OrgID, limit int) ([]Trunk, error)
	// Owner is the trunk of a number and direction, whoever's it is: an incoming call has no organization until this
	// says which. CodeNotFound when nobody has attached it.
	Owner(ctx context.Context, number callwright.PhoneNumber, d Direction) (Trunk, error)
}
