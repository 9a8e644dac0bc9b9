package orgstore

import (
	"context"

	"github.com/callwright/callwright"
	"github.com/callwright/callwright/adapters/memstore"
)

// Tenants is a callwright.Tenants.
type Tenants struct{ Store *memstore.Store }

// InsertOrganization adds an organization.
func (s Tenants) InsertOrganization(ctx context.Context, o callwright.Organization) error {
	return with(ctx, s.Store, func(d *data) error { return d.orgs.Insert(o) })
}

// Organization returns one organization.
func (s Tenants) Organization(ctx context.Context, id callwright.OrgID) (callwright.Organization, error) {
	return read(ctx, s.Store, func(d *data) (callwright.Organization, error) { return d.orgs.Find("", id) })
}

// UpdateOrganization replaces an organization.
func (s Tenants) UpdateOrganization(ctx context.Context, o callwright.Organization) error {
	return with(ctx, s.Store, func(d *data) error { return d.orgs.Replace(o) })
}

// HoldOrganization returns one organization. Transactions do not overlap.
func (s Tenants) HoldOrganization(ctx context.Context, id callwright.OrgID) (callwright.Organization, error) {
	return s.Organization(ctx, id)
}

// Organizations returns a page of organizations.
func (s Tenants) Organizations(ctx context.Context, after callwright.Keyset, limit int) ([]callwright.Organization, error) {
	return read(ctx, s.Store, func(d *data) ([]callwright.Organization, error) {
		place := func(o callwright.Organization) callwright.Keyset {
			return callwright.Keyset{At: o.CreatedAt, ID: string(o.ID)}
		}
		return d.orgs.Page(after, max(limit, 1), place, func(callwright.Organization) bool { return true }), nil
	})
}
