package sipstore

import (
	"context"
	"slices"
	"time"

	"github.com/callwright/callwright"
	"github.com/callwright/callwright/adapters/memstore"
	"github.com/callwright/callwright/sip"
)

// Registrations implements sip.Registrations in memory.
type Registrations struct{ Store *memstore.Store }

type nodeRegistration struct {
	sip.Registration
	node string // the node that holds the registration, empty if none does
}

// StoreRegistration stores a registration. Version 0 replaces any stored registration of the organization's trunk, and releases it from its
// node. For any other version, StoreRegistration returns CodeConflict if the stored version differs, and CodeNotFound if no registration is
// stored.
func (s Registrations) StoreRegistration(ctx context.Context, r sip.Registration) error {
	return with(ctx, s.Store, func(d *data) error {
		stored, found := d.registrations.Rows()[r.TrunkID]
		if err := replaces("registration", r.Version, r.Org, found, stored.Version, stored.Org); err != nil {
			return err
		}
		if r.Version == 0 {
			stored.node = ""
		}
		r.Version = stored.Version + 1
		stored.Registration = r
		d.registrations.Set(r.TrunkID, stored)
		return nil
	})
}

// Registration returns the registration of a trunk, or CodeNotFound if the organization has none.
func (s Registrations) Registration(ctx context.Context, org callwright.OrgID, trunkID string) (sip.Registration, error) {
	found, err := read(ctx, s.Store, func(d *data) (nodeRegistration, error) { return d.registrations.Find(org, trunkID) })
	return found.Registration, err
}

// DeleteRegistration deletes the registration of a trunk. It returns no error if the registration is absent.
func (s Registrations) DeleteRegistration(ctx context.Context, org callwright.OrgID, trunkID string) error {
	return with(ctx, s.Store, func(d *data) error { return d.registrations.Delete(org, trunkID) })
}

// ClaimRegistrations claims up to limit registrations for a node and returns them, sorted by NextAt. It selects registrations that no node
// holds, and the node's own registrations that are due at the given time.
func (s Registrations) ClaimRegistrations(
	ctx context.Context, node string, now time.Time, limit int,
) (taken []sip.Registration, err error) {
	err = with(ctx, s.Store, func(d *data) error {
		var due []nodeRegistration
		for _, stored := range d.registrations.Rows() {
			if stored.node == "" || stored.node == node && !stored.NextAt.After(now) {
				due = append(due, stored)
			}
		}
		slices.SortFunc(due, func(a, b nodeRegistration) int { return a.NextAt.Compare(b.NextAt) })
		for _, stored := range due[:min(limit, len(due))] {
			stored.node = node
			d.registrations.Set(stored.TrunkID, stored)
			taken = append(taken, stored.Registration)
		}
		return nil
	})
	return taken, err
}

// RegistrationsOf returns the ids of the trunks whose registrations a node holds.
func (s Registrations) RegistrationsOf(ctx context.Context, node string) (trunkIDs []string, err error) {
	err = with(ctx, s.Store, func(d *data) error {
		for id, stored := range d.registrations.Rows() {
			if stored.node == node {
				trunkIDs = append(trunkIDs, id)
			}
		}
		return nil
	})
	return trunkIDs, err
}

// RegistrationNodes returns the nodes that hold at least one registration.
func (s Registrations) RegistrationNodes(ctx context.Context) (nodes []string, err error) {
	err = with(ctx, s.Store, func(d *data) error {
		for _, stored := range d.registrations.Rows() {
			if stored.node != "" && !slices.Contains(nodes, stored.node) {
				nodes = append(nodes, stored.node)
			}
		}
		return nil
	})
	return nodes, err
}

// ReleaseRegistrations releases all registrations that a node holds, so that other nodes can claim them.
func (s Registrations) ReleaseRegistrations(ctx context.Context, node string) error {
	return with(ctx, s.Store, func(d *data) error {
		for id, stored := range d.registrations.Rows() {
			if stored.node == node {
				stored.node = ""
				d.registrations.Set(id, stored)
			}
		}
		return nil
	})
}
