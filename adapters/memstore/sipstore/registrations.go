package sipstore

import (
	"context"
	"slices"
	"time"

	"github.com/callwright/callwright"
	"github.com/callwright/callwright/adapters/memstore"
	"github.com/callwright/callwright/sip"
)

// Registrations is sip.Registrations.
type Registrations struct{ Store *memstore.Store }

type leasedRegistration struct {
	sip.Registration
	node  string    // who has the lease; empty: nobody
	until time.Time // when it ends
}

// PutRegistration adds or replaces a registration.
func (s Registrations) PutRegistration(ctx context.Context, r sip.Registration) error {
	return with(ctx, s.Store, func(d *data) error {
		stored, found := d.registrations[r.TrunkID]
		if err := replaces("registration", r.Version, r.Org, found, stored.Version, stored.Org); err != nil {
			return err
		}
		if r.Version == 0 {
			stored.node, stored.until = "", time.Time{}
		}
		r.Version = stored.Version + 1
		stored.Registration = r
		d.registrations[r.TrunkID] = stored
		return nil
	})
}

// Registration is one trunk's registration.
func (s Registrations) Registration(
	ctx context.Context, org callwright.OrgID, trunkID string,
) (r sip.Registration, err error) {
	err = with(ctx, s.Store, func(d *data) error {
		stored, ok := d.registrations[trunkID]
		if !ok || stored.Org != org {
			return callwright.NotFound("registration")
		}
		r = stored.Registration
		return nil
	})
	return r, err
}

// DeleteRegistration removes a registration.
func (s Registrations) DeleteRegistration(ctx context.Context, org callwright.OrgID, trunkID string) error {
	return with(ctx, s.Store, func(d *data) error {
		if d.registrations[trunkID].Org == org {
			delete(d.registrations, trunkID)
		}
		return nil
	})
}

// LeaseRegistrations gives registrations to a node.
func (s Registrations) LeaseRegistrations(
	ctx context.Context, node string, now, until time.Time, limit int,
) (leased []sip.Registration, err error) {
	err = with(ctx, s.Store, func(d *data) error {
		var due []leasedRegistration
		for _, stored := range d.registrations {
			if !stored.until.After(now) || stored.node == node && !stored.NextAt.After(now) {
				due = append(due, stored)
			}
		}
		slices.SortFunc(due, func(a, b leasedRegistration) int { return a.NextAt.Compare(b.NextAt) })
		for _, stored := range due[:min(limit, len(due))] {
			stored.node, stored.until = node, until
			d.registrations[stored.TrunkID] = stored
			leased = append(leased, stored.Registration)
		}
		return nil
	})
	return leased, err
}

// RenewRegistrations keeps a node's leases.
func (s Registrations) RenewRegistrations(
	ctx context.Context, node string, until time.Time,
) (trunkIDs []string, err error) {
	err = with(ctx, s.Store, func(d *data) error {
		for id, stored := range d.registrations {
			if stored.node == node {
				stored.until = until
				d.registrations[id] = stored
				trunkIDs = append(trunkIDs, id)
			}
		}
		return nil
	})
	return trunkIDs, err
}

// ReleaseRegistrations ends a node's leases.
func (s Registrations) ReleaseRegistrations(ctx context.Context, node string) error {
	return with(ctx, s.Store, func(d *data) error {
		for id, stored := range d.registrations {
			if stored.node == node {
				stored.node, stored.until = "", time.Time{}
				d.registrations[id] = stored
			}
		}
		return nil
	})
}
