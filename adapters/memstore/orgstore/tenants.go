package orgstore

import (
	"context"

	"github.com/callwright/callwright"
	"github.com/callwright/callwright/adapters/memstore"
)

// Tenants implements callwright.Tenants in memory.
type Tenants struct{ Store *memstore.Store }

// InsertOrganization adds an organization, or returns CodeConflict if its ID is already stored.
func (s Tenants) InsertOrganization(ctx context.Context, o callwright.Organization) error {
	return with(ctx, s.Store, func(d *data) error { return d.orgs.Insert(o) })
}

// Organization returns an organization, or CodeNotFound if it is absent.
func (s Tenants) Organization(ctx context.Context, id callwright.OrgID) (callwright.Organization, error) {
	return read(ctx, s.Store, func(d *data) (callwright.Organization, error) { return d.orgs.Find("", id) })
}

// UpdateOrganization replaces an organization, or returns CodeNotFound if it is absent.
func (s Tenants) UpdateOrganization(ctx context.Context, o callwright.Organization) error {
	return with(ctx, s.Store, func(d *data) error { return d.orgs.Replace(o) })
}

// HoldOrganization returns an organization, or CodeNotFound if it is absent. It needs no lock, because transactions do not overlap.
func (s Tenants) HoldOrganization(ctx context.Context, id callwright.OrgID) (callwright.Organization, error) {
	return s.Organization(ctx, id)
}

// Organizations returns a page of all organizations, newest first.
func (s Tenants) Organizations(ctx context.Context, after callwright.Keyset, limit int) ([]callwright.Organization, error) {
	return read(ctx, s.Store, func(d *data) ([]callwright.Organization, error) {
		place := func(o callwright.Organization) callwright.Keyset {
			return callwright.Keyset{At: o.CreatedAt, ID: string(o.ID)}
		}
		return d.orgs.Page(after, max(limit, 1), place, func(callwright.Organization) bool { return true }), nil
	})
}
