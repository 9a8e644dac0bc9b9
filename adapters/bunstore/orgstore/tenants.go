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

	DefaultCountry string `bun:"default_country"`
	MaxNumbers     int    `bun:"max_numbers"`

	PreviousWebhookSecret string     `bun:"previous_webhook_secret"` // sealed
	PreviousWebhookEnds   *time.Time `bun:"previous_webhook_ends"`
}

// webhookPurpose binds a sealed webhook secret to its organization.
func webhookPurpose(id string) string { return "organization:" + id + ":webhook" }

// previousPurpose binds a sealed webhook secret that another has replaced.
func previousPurpose(id string) string { return webhookPurpose(id) + ":previous" }

func (s Tenants) organizationRow(o callwright.Organization) organizationRow {
	return organizationRow{
		ID: string(o.ID), Name: o.Name, Entitlements: o.Entitlements, CreatedAt: sqldb.Stored(o.CreatedAt),
		WebhookSecret: s.core().Keyring.Seal(webhookPurpose(string(o.ID)), o.WebhookSecret),
		ContactEmail:  o.ContactEmail, Region: o.Region, DefaultCountry: string(o.DefaultCountry), MaxNumbers: o.MaxNumbers,
		PreviousWebhookSecret: s.core().Keyring.Seal(previousPurpose(string(o.ID)), o.PreviousWebhookSecret),
		PreviousWebhookEnds:   sqldb.StoredIfSet(o.PreviousWebhookEnds),
	}
}

func (c core) organization(row organizationRow) (callwright.Organization, error) {
	secret, err := c.Unseal(webhookPurpose(row.ID), row.WebhookSecret)
	if err != nil {
		return callwright.Organization{}, err
	}
	previous, err := c.Unseal(previousPurpose(row.ID), row.PreviousWebhookSecret)
	if err != nil {
		return callwright.Organization{}, err
	}
	return callwright.Organization{
		ID: callwright.OrgID(row.ID), Name: row.Name, Entitlements: row.Entitlements, WebhookSecret: secret,
		ContactEmail: row.ContactEmail, Region: row.Region, CreatedAt: row.CreatedAt.UTC(), DefaultCountry: callwright.Country(row.DefaultCountry), MaxNumbers: row.MaxNumbers,
		PreviousWebhookSecret: previous, PreviousWebhookEnds: sqldb.StoredIfSet(row.PreviousWebhookEnds),
	}, nil
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
	return s.find(ctx, id, s.core().Read, func(q *bun.SelectQuery) *bun.SelectQuery { return q })
}

// HoldOrganization returns one organization and holds it until the transaction ends.
func (s Tenants) HoldOrganization(ctx context.Context, id callwright.OrgID) (callwright.Organization, error) {
	return s.find(ctx, id, s.core().Write, s.core().ForUpdate)
}

func (s Tenants) find(
	ctx context.Context, id callwright.OrgID,
	run func(context.Context, []any, func(context.Context, bun.IDB) error) error, lock func(*bun.SelectQuery) *bun.SelectQuery,
) (callwright.Organization, error) {
	var row organizationRow
	err := run(ctx, []any{id}, func(ctx context.Context, idb bun.IDB) error {
		return sqldb.Absent("organization", lock(idb.NewSelect().Model(&row).Where("id = ?", id)).Scan(ctx))
	})
	if err != nil {
		return callwright.Organization{}, err
	}
	return s.core().organization(row)
}

// Organizations returns a page of organizations.
func (s Tenants) Organizations(ctx context.Context, after callwright.Keyset, limit int) ([]callwright.Organization, error) {
	var rows []organizationRow
	err := s.core().Read(ctx, []any{after}, func(ctx context.Context, idb bun.IDB) error {
		rows = nil
		return page(idb.NewSelect().Model(&rows), after, limit).Scan(ctx)
	})
	if err != nil {
		return nil, err
	}
	return sqldb.ConvertedAll(rows, s.core().organization)
}

// page limits a query to a page, the newest first.
func page(q *bun.SelectQuery, after callwright.Keyset, limit int) *bun.SelectQuery {
	if !after.IsZero() {
		q = q.Where("(created_at, id) < (?, ?)", sqldb.Stored(after.At), after.ID)
	}
	return q.Order("created_at DESC", "id DESC").Limit(int64(max(limit, 1)))
}
