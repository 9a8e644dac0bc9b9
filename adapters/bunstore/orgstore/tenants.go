package orgstore

import (
	"context"
	"time"

	"github.com/uptrace/bun"

	"github.com/callwright/callwright"
	"github.com/callwright/callwright/adapters/bunstore"
	"github.com/callwright/callwright/adapters/bunstore/internal/sqldb"
)

// Tenants is a callwright.Tenants.
type Tenants struct{ DB *bunstore.DB }

func (s Tenants) core() core { return core{s.DB.Core()} }

type organizationRow struct {
	bun.BaseModel `bun:"table:organizations"`

	ID            string                   `bun:"id,pk"`
	Name          string                   `bun:"name"`
	Entitlements  []callwright.Entitlement `bun:"entitlements,type:jsonb"`
	WebhookSecret string                   `bun:"webhook_secret"` // sealed
	ContactEmail  string                   `bun:"contact_email"`
	Region        string                   `bun:"region"`
	CreatedAt     time.Time                `bun:"created_at"`
}

type keyRow struct {
	bun.BaseModel `bun:"table:api_keys"`

	ID        string     `bun:"id,pk"`
	Org       string     `bun:"org"`
	Name      string     `bun:"name"`
	Prefix    string     `bun:"prefix"`
	Hash      []byte     `bun:"hash"`
	CreatedAt time.Time  `bun:"created_at"`
	ExpiresAt *time.Time `bun:"expires_at"`
	RevokedAt *time.Time `bun:"revoked_at"`
}

// webhookPurpose binds a sealed webhook secret to its organization.
func webhookPurpose(id string) string { return "organization:" + id + ":webhook" }

func (s Tenants) organizationRow(o callwright.Organization) organizationRow {
	return organizationRow{
		ID: string(o.ID), Name: o.Name, Entitlements: o.Entitlements, CreatedAt: sqldb.Stored(o.CreatedAt),
		WebhookSecret: s.core().Keyring.Seal(webhookPurpose(string(o.ID)), o.WebhookSecret),
		ContactEmail:  o.ContactEmail, Region: o.Region,
	}
}

// InsertOrganization adds an organization.
func (s Tenants) InsertOrganization(ctx context.Context, o callwright.Organization) error {
	row := s.organizationRow(o)
	return s.core().Insert(ctx, o, &row)
}

// UpdateOrganization replaces an organization.
func (s Tenants) UpdateOrganization(ctx context.Context, o callwright.Organization) error {
	row := s.organizationRow(o)
	return s.core().Write(ctx, []any{o}, func(ctx context.Context, idb bun.IDB) error {
		result, err := idb.NewUpdate().Model(&row).WherePK().Exec(ctx)
		if err != nil {
			return err
		}
		if n, err := result.RowsAffected(); err != nil || n == 1 {
			return err
		}
		return callwright.NotFound("organization")
	})
}

// Organization returns one organization.
func (s Tenants) Organization(ctx context.Context, id callwright.OrgID) (callwright.Organization, error) {
	var row organizationRow
	err := s.core().Read(ctx, []any{id}, func(ctx context.Context, idb bun.IDB) error {
		return sqldb.Absent("organization", idb.NewSelect().Model(&row).Where("id = ?", id).Scan(ctx))
	})
	if err != nil {
		return callwright.Organization{}, err
	}
	secret, err := s.core().Unseal(webhookPurpose(row.ID), row.WebhookSecret)
	if err != nil {
		return callwright.Organization{}, err
	}
	return callwright.Organization{
		ID: id, Name: row.Name, Entitlements: row.Entitlements, WebhookSecret: secret,
		ContactEmail: row.ContactEmail, Region: row.Region, CreatedAt: row.CreatedAt.UTC(),
	}, nil
}

// InsertKey adds a key's record.
func (s Tenants) InsertKey(ctx context.Context, k callwright.APIKey) error {
	return s.core().Insert(ctx, k, &keyRow{
		ID: k.ID, Org: string(k.Org), Name: k.Name, Prefix: k.Prefix, Hash: k.Hash, CreatedAt: sqldb.Stored(k.CreatedAt),
		ExpiresAt: sqldb.StoredIfSet(k.ExpiresAt), RevokedAt: sqldb.StoredIfSet(k.RevokedAt),
	})
}

// KeyByPrefix returns the record of the key with a prefix.
func (s Tenants) KeyByPrefix(ctx context.Context, prefix string) (callwright.APIKey, error) {
	var row keyRow
	err := s.core().Read(ctx, []any{prefix}, func(ctx context.Context, idb bun.IDB) error {
		return sqldb.Absent("API key", idb.NewSelect().Model(&row).Where("prefix = ?", prefix).Scan(ctx))
	})
	if err != nil {
		return callwright.APIKey{}, err
	}
	return callwright.APIKey{
		ID: row.ID, Org: callwright.OrgID(row.Org), Name: row.Name, Prefix: row.Prefix, Hash: row.Hash,
		CreatedAt: row.CreatedAt.UTC(), ExpiresAt: sqldb.StoredIfSet(row.ExpiresAt), RevokedAt: sqldb.StoredIfSet(row.RevokedAt),
	}, nil
}

// RevokeKey revokes a key.
func (s Tenants) RevokeKey(ctx context.Context, org callwright.OrgID, id string, at time.Time) error {
	return s.core().Write(ctx, []any{org, id}, func(ctx context.Context, idb bun.IDB) error {
		result, err := idb.NewUpdate().Model((*keyRow)(nil)).
			Set("revoked_at = COALESCE(revoked_at, ?)", sqldb.Stored(at)).
			Where("id = ?", id).Where("org = ?", org).Exec(ctx)
		return sqldb.Changed(result, err, callwright.NotFound("API key"))
	})
}
