package orgstore

import (
	"context"
	"time"

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

// InsertKey adds a key's record.
func (s Tenants) InsertKey(ctx context.Context, k callwright.APIKey) error {
	return with(ctx, s.Store, func(d *data) error {
		for _, other := range d.keys {
			if other.ID == k.ID || other.Prefix == k.Prefix {
				return callwright.ErrConflict
			}
		}
		d.keys[k.Prefix] = memory.Clone(k)
		return nil
	})
}

// KeyByPrefix returns the record of the key with a prefix.
func (s Tenants) KeyByPrefix(ctx context.Context, prefix string) (k callwright.APIKey, err error) {
	err = with(ctx, s.Store, func(d *data) error {
		found, ok := d.keys[prefix]
		if !ok {
			return callwright.NotFound("API key")
		}
		k = memory.Clone(found)
		return nil
	})
	return k, err
}

// RevokeKey revokes a key.
func (s Tenants) RevokeKey(ctx context.Context, org callwright.OrgID, id string, at time.Time) error {
	return with(ctx, s.Store, func(d *data) error {
		for prefix, k := range d.keys {
			if k.ID != id || k.Org != org {
				continue
			}
			if k.RevokedAt == nil {
				k.RevokedAt = &at
				d.keys[prefix] = k
			}
			return nil
		}
		return callwright.NotFound("API key")
	})
}
