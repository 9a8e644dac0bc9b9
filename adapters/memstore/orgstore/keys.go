package orgstore

import (
	"context"
	"iter"
	"slices"
	"time"

	"github.com/callwright/callwright"
	"github.com/callwright/callwright/adapters/memstore/internal/memory"
)

// InsertKey adds an API key's record. It returns CodeConflict if its ID or prefix is already stored.
func (s Tenants) InsertKey(ctx context.Context, k callwright.APIKey) error {
	return with(ctx, s.Store, func(d *data) error {
		if _, taken := d.keyByPrefix(k.Prefix); taken {
			return callwright.ErrConflict
		}
		return d.keys.Insert(k)
	})
}

// KeyByPrefix returns the API key with a prefix, and the key's organization. It returns CodeNotFound if either is absent.
func (s Tenants) KeyByPrefix(ctx context.Context, prefix string) (k callwright.APIKey, o callwright.Organization, err error) {
	err = with(ctx, s.Store, func(d *data) error {
		key, known := d.keyByPrefix(prefix)
		org, has := d.orgs.Rows()[key.Org]
		if !known || !has {
			return callwright.NotFound("API key")
		}
		k, o = memory.Clone(key), memory.Clone(org)
		return nil
	})
	return k, o, err
}

// keyByPrefix returns the API key with a prefix. It examines every key.
func (d *data) keyByPrefix(prefix string) (key callwright.APIKey, known bool) {
	for _, k := range d.keys.Rows() {
		if k.Prefix == prefix {
			return k, true
		}
	}
	return key, false
}

// Key returns the record of an API key, or CodeNotFound if the organization has no such key.
func (s Tenants) Key(ctx context.Context, org callwright.OrgID, id string) (callwright.APIKey, error) {
	return read(ctx, s.Store, func(d *data) (callwright.APIKey, error) { return d.keys.Find(org, id) })
}

// keysOf yields the API keys of an organization in no particular order, without copying them.
func (d *data) keysOf(org callwright.OrgID) iter.Seq[callwright.APIKey] {
	return func(yield func(callwright.APIKey) bool) {
		for _, k := range d.keys.Rows() {
			if k.Org == org && !yield(k) {
				return
			}
		}
	}
}

// Keys returns a page of an organization's API keys, newest first.
func (s Tenants) Keys(
	ctx context.Context, org callwright.OrgID, after callwright.Keyset, limit int,
) ([]callwright.APIKey, error) {
	return read(ctx, s.Store, func(d *data) ([]callwright.APIKey, error) {
		place := func(k callwright.APIKey) callwright.Keyset { return callwright.Keyset{At: k.CreatedAt, ID: k.ID} }
		return d.keys.Page(after, max(limit, 1), place, func(k callwright.APIKey) bool { return k.Org == org }), nil
	})
}

// KeyNames returns the names of an organization's API keys by their ids. It skips ids that the organization does not have.
func (s Tenants) KeyNames(ctx context.Context, org callwright.OrgID, ids []string) (map[string]string, error) {
	names := map[string]string{}
	err := with(ctx, s.Store, func(d *data) error {
		for k := range d.keysOf(org) {
			if slices.Contains(ids, k.ID) {
				names[k.ID] = k.Name
			}
		}
		return nil
	})
	return names, err
}

// CountKeys returns the number of an organization's API keys that are in force at the given time.
func (s Tenants) CountKeys(ctx context.Context, org callwright.OrgID, now time.Time) (count int, err error) {
	err = with(ctx, s.Store, func(d *data) error {
		for k := range d.keysOf(org) {
			if k.InForce(now) {
				count++
			}
		}
		return nil
	})
	return count, err
}

// RevokeKey sets the revocation time of an API key, unless the key is already revoked. It returns CodeNotFound if the organization has no
// such key.
func (s Tenants) RevokeKey(ctx context.Context, org callwright.OrgID, id string, at time.Time) error {
	return with(ctx, s.Store, func(d *data) error {
		k, err := d.keys.Find(org, id)
		if err == nil && k.RevokedAt == nil {
			k.RevokedAt = &at
			d.keys.Set(k.ID, k)
		}
		return err
	})
}

// ReplaceKey sets the successor and the expiry of an API key. It returns CodeConflict if the key already has a successor, and CodeNotFound
// if the organization has no such key.
func (s Tenants) ReplaceKey(ctx context.Context, org callwright.OrgID, id, by string, ends time.Time) error {
	return with(ctx, s.Store, func(d *data) error {
		k, err := d.keys.Find(org, id)
		switch {
		case err != nil:
			return err
		case k.ReplacedBy != "":
			return callwright.ErrConflict
		}
		k.ReplacedBy, k.ExpiresAt = by, &ends
		d.keys.Set(k.ID, k)
		return nil
	})
}

// TouchKey sets the last use of an API key to the given time. It changes nothing if the stored last use is later than that time minus the
// given interval, or if the key is absent.
func (s Tenants) TouchKey(ctx context.Context, id string, at time.Time, every time.Duration) error {
	return with(ctx, s.Store, func(d *data) error {
		for _, k := range d.keys.Rows() {
			if k.ID == id && (k.LastUsedAt == nil || !k.LastUsedAt.After(at.Add(-every))) {
				k.LastUsedAt = &at
				d.keys.Set(k.ID, k)
			}
		}
		return nil
	})
}
