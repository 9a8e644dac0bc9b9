package orgstore

import (
	"context"
	"time"

	"github.com/uptrace/bun"

	"github.com/callwright/callwright"
	"github.com/callwright/callwright/adapters/bunstore/internal/sqldb"
)

type keyRow struct {
	bun.BaseModel `bun:"table:api_keys"`

	ID         string     `bun:"id,pk"`
	Org        string     `bun:"org"`
	Name       string     `bun:"name"`
	Prefix     string     `bun:"prefix"`
	Hash       []byte     `bun:"hash"`
	CreatedAt  time.Time  `bun:"created_at"`
	ExpiresAt  *time.Time `bun:"expires_at"`
	RevokedAt  *time.Time `bun:"revoked_at"`
	LastUsedAt *time.Time `bun:"last_used_at"`
	ReplacedBy string     `bun:"replaced_by"`

	Organization *organizationRow `bun:"rel:belongs-to,join:org=id"` // set only by KeyByPrefix and SessionByHash
}

func (r keyRow) key() callwright.APIKey {
	return callwright.APIKey{
		ID: r.ID, Org: callwright.OrgID(r.Org), Name: r.Name, Prefix: r.Prefix, Hash: r.Hash, CreatedAt: r.CreatedAt.UTC(),
		ExpiresAt: sqldb.StoredIfSet(r.ExpiresAt), RevokedAt: sqldb.StoredIfSet(r.RevokedAt),
		LastUsedAt: sqldb.StoredIfSet(r.LastUsedAt), ReplacedBy: r.ReplacedBy,
	}
}

func newKeyRow(k callwright.APIKey) keyRow {
	return keyRow{
		ID: k.ID, Org: string(k.Org), Name: k.Name, Prefix: k.Prefix, Hash: k.Hash, CreatedAt: sqldb.Stored(k.CreatedAt),
		ExpiresAt: sqldb.StoredIfSet(k.ExpiresAt), RevokedAt: sqldb.StoredIfSet(k.RevokedAt),
		LastUsedAt: sqldb.StoredIfSet(k.LastUsedAt), ReplacedBy: k.ReplacedBy,
	}
}

func (s Tenants) keys() sqldb.Rows[callwright.APIKey, keyRow] {
	return sqldb.Rows[callwright.APIKey, keyRow]{DB: s.DB.Core(), Kind: "API key", Row: sqldb.Plain(newKeyRow), Value: sqldb.Plain(keyRow.key)}
}

// InsertKey adds a key's record. It returns CodeConflict if the id or prefix exists.
func (s Tenants) InsertKey(ctx context.Context, k callwright.APIKey) error {
	return s.keys().Insert(ctx, k)
}

// KeyByPrefix returns the record of the key with the given prefix, and the key's organization, in one statement. It returns CodeNotFound if
// either is absent.
func (s Tenants) KeyByPrefix(ctx context.Context, prefix string) (callwright.APIKey, callwright.Organization, error) {
	var row keyRow
	err := s.core().Read(ctx, []any{prefix}, func(ctx context.Context, idb bun.IDB) error {
		row = keyRow{}
		return sqldb.Absent("API key", idb.NewSelect().Model(&row).Relation("Organization").Where("?TableAlias.prefix = ?", prefix).Scan(ctx))
	})
	if err == nil && row.Organization == nil {
		err = callwright.NotFound("API key")
	}
	if err != nil {
		return callwright.APIKey{}, callwright.Organization{}, err
	}
	org, err := s.core().organization(*row.Organization)
	return row.key(), org, err
}

// Key returns the record of one key, or CodeNotFound if the organization does not own such a key.
func (s Tenants) Key(ctx context.Context, org callwright.OrgID, id string) (callwright.APIKey, error) {
	return s.keys().Find(ctx, org, id)
}

// Keys returns a page of an organization's keys, newest first.
func (s Tenants) Keys(
	ctx context.Context, org callwright.OrgID, after callwright.Keyset, limit int,
) ([]callwright.APIKey, error) {
	return s.keys().Page(ctx, "created_at", after, max(limit, 1), []any{org}, func(q *bun.SelectQuery) *bun.SelectQuery {
		return q.Where("org = ?", org)
	})
}

// KeyNames returns the names of the keys with the given ids, by id. It omits absent keys.
func (s Tenants) KeyNames(ctx context.Context, org callwright.OrgID, ids []string) (map[string]string, error) {
	var rows []keyRow
	err := s.core().Read(ctx, []any{org, ids}, func(ctx context.Context, idb bun.IDB) error {
		rows = nil
		return idb.NewSelect().Model(&rows).Column("id", "name").Where("id IN (?)", bun.List(ids)).Where("org = ?", org).Scan(ctx)
	})
	names := make(map[string]string, len(rows))
	for _, r := range rows {
		names[r.ID] = r.Name
	}
	return names, err
}

// CountKeys returns the number of an organization's keys that are in force at the given time.
func (s Tenants) CountKeys(ctx context.Context, org callwright.OrgID, now time.Time) (count int, err error) {
	err = s.core().Read(ctx, []any{org}, func(ctx context.Context, idb bun.IDB) (err error) {
		count, err = sqldb.Count(ctx, inForce(idb, org, now))
		return err
	})
	return count, err
}

// inForce returns a query for the keys of an organization that are neither revoked nor, at the given time, expired.
func inForce(db interface{ NewSelect() *bun.SelectQuery }, org callwright.OrgID, now time.Time) *bun.SelectQuery {
	return db.NewSelect().Model((*keyRow)(nil)).Where("org = ?", org).Where("revoked_at IS NULL").
		Where("expires_at IS NULL OR expires_at > ?", sqldb.Stored(now))
}

// RevokeKey sets the revocation time of a key, unless it is already set. It returns CodeNotFound if the key is absent.
func (s Tenants) RevokeKey(ctx context.Context, org callwright.OrgID, id string, at time.Time) error {
	return s.core().Write(ctx, []any{org, id}, func(ctx context.Context, idb bun.IDB) error {
		result, err := idb.NewUpdate().Model((*keyRow)(nil)).
			Set("revoked_at = COALESCE(revoked_at, ?)", sqldb.Stored(at)).
			Where("id = ?", id).Where("org = ?", org).Exec(ctx)
		return sqldb.Changed(result, err, callwright.NotFound("API key"))
	})
}

// ReplaceKey sets the successor and the expiry of a key. It returns CodeConflict if the key already has a successor, and CodeNotFound if
// the key is absent.
func (s Tenants) ReplaceKey(ctx context.Context, org callwright.OrgID, id, by string, ends time.Time) error {
	return s.core().Write(ctx, []any{org, id, by}, func(ctx context.Context, idb bun.IDB) error {
		result, err := idb.NewUpdate().Model((*keyRow)(nil)).
			Set("replaced_by = ?", by).Set("expires_at = ?", sqldb.Stored(ends)).
			Where("id = ?", id).Where("org = ?", org).Where("replaced_by = ''").Exec(ctx)
		err = sqldb.Changed(result, err, callwright.ErrConflict)
		return sqldb.Outrun(ctx, "API key", err, idb.NewSelect().Model((*keyRow)(nil)).Where("id = ?", id).Where("org = ?", org))
	})
}

// TouchKey sets the last use of a key to the given time. It changes nothing if the stored last use is later than that time minus the given
// interval.
func (s Tenants) TouchKey(ctx context.Context, id string, at time.Time, every time.Duration) error {
	return s.core().Write(ctx, []any{id}, func(ctx context.Context, idb bun.IDB) error {
		_, err := idb.NewUpdate().Model((*keyRow)(nil)).Set("last_used_at = ?", sqldb.Stored(at)).Where("id = ?", id).
			Where("last_used_at IS NULL OR last_used_at <= ?", sqldb.Stored(at.Add(-every))).Exec(ctx)
		return err
	})
}
