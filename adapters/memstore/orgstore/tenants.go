package orgstore

import (
	"cmp"
	"context"
	"iter"
	"maps"
	"slices"

	"github.com/callwright/callwright"
	"github.com/callwright/callwright/adapters/memstore"
	"github.com/callwright/callwright/adapters/memstore/internal/memory"
)

// Tenants is a callwright.Tenants.
type Tenants struct{ Store *memstore.Store }

// InsertOrganization adds an organization.
func (s Tenants) InsertOrganization(ctx context.Context, o callwright.Organization) error {
	return with(ctx, s.Store, func(d *data) error {
		if _, taken := d.orgs[o.ID]; taken {
			return callwright.ErrConflict
		}
		d.orgs[o.ID] = memory.Clone(o)
		return nil
	})
}

// Organization returns one organization.
func (s Tenants) Organization(ctx context.Context, id callwright.OrgID) (o callwright.Organization, err error) {
	err = with(ctx, s.Store, func(d *data) error {
		found, ok := d.orgs[id]
		if !ok {
			return callwright.NotFound("organization")
		}
		o = memory.Clone(found)
		return nil
	})
	return o, err
}

// UpdateOrganization replaces an organization.
func (s Tenants) UpdateOrganization(ctx context.Context, o callwright.Organization) error {
	return with(ctx, s.Store, func(d *data) error {
		if _, ok := d.orgs[o.ID]; !ok {
			return callwright.NotFound("organization")
		}
		d.orgs[o.ID] = memory.Clone(o)
		return nil
	})
}

// HoldOrganization returns one organization. Transactions do not overlap.
func (s Tenants) HoldOrganization(ctx context.Context, id callwright.OrgID) (callwright.Organization, error) {
	return s.Organization(ctx, id)
}

// Organizations returns a page of organizations.
func (s Tenants) Organizations(
	ctx context.Context, after callwright.Keyset, limit int,
) (found []callwright.Organization, err error) {
	err = with(ctx, s.Store, func(d *data) error {
		found = page(maps.Values(d.orgs), after, limit, func(o callwright.Organization) callwright.Keyset {
			return callwright.Keyset{At: o.CreatedAt, ID: string(o.ID)}
		})
		return nil
	})
	return found, err
}

// page returns a page of items, the newest first.
func page[T any](items iter.Seq[T], after callwright.Keyset, limit int, place func(T) callwright.Keyset) []T {
	newer := func(a, b callwright.Keyset) int { return cmp.Or(b.At.Compare(a.At), cmp.Compare(b.ID, a.ID)) }
	var found []T
	for item := range items {
		if after.IsZero() || newer(after, place(item)) < 0 {
			found = append(found, item)
		}
	}
	slices.SortFunc(found, func(a, b T) int { return newer(place(a), place(b)) })
	return memory.Clone(found[:min(max(limit, 1), len(found))])
}
