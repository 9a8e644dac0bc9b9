package orgstore

import (
	"context"
	"time"

	"github.com/uptrace/bun"

	"github.com/callwright/callwright"
	"github.com/callwright/callwright/adapters/bunstore"
	"github.com/callwright/callwright/adapters/bunstore/internal/sqldb"
)

// Tenants stores organizations, keys and sessions; it implements callwright.Tenants.
type Tenants struct{ DB *bunstore.DB }

func (s Tenants) core() core { return core{s.DB.Core()} }

type organizationRow struct {
	bun.BaseModel `bun:"table:organizations"`

	ID            string                   `bun:"id,pk"`
	Name          string                   `bun:"name"`
	Entitlements  []callwright.Entitlement `bun:"entitlements,type:jsonb"`
	WebhookSecret string                   `bun:"webhook_secret"` // sealed secret
	ContactEmail  string                   `bun:"contact_email"`
	Region        string                   `bun:"region"`
	CreatedAt     time.Time                `bun:"created_at"`

	DefaultCountry string `bun:"default_country"`
	MaxNumbers     int    `bun:"max_numbers"`

	PreviousWebhookSecret string     `bun:"previous_webhook_secret"` // sealed secret
	PreviousWebhookEnds   *time.Time `bun:"previous_webhook_ends"`
}

// webhookPurpose returns the purpose of Keyring.Seal that binds a webhook secret to its organization.
func webhookPurpose(id string) string { return "organization:" + id + ":webhook" }

// previousPurpose returns the purpose of Keyring.Seal for the previous webhook secret of an organization.
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

func (s Tenants) organizations() sqldb.Rows[callwright.Organization, organizationRow] {
	return sqldb.Rows[callwright.Organization, organizationRow]{
		DB: s.DB.Core(), Kind: "organization", Row: sqldb.Plain(s.organizationRow), Value: s.core().organization,
	}
}

// InsertOrganization adds an organization. It returns CodeConflict if the id exists.
func (s Tenants) InsertOrganization(ctx context.Context, o callwright.Organization) error {
	return s.organizations().Insert(ctx, o)
}

// UpdateOrganization replaces all fields of an organization. It returns CodeNotFound if the organization is absent.
func (s Tenants) UpdateOrganization(ctx context.Context, o callwright.Organization) error {
	return s.organizations().Replace(ctx, o)
}

// Organization returns one organization, or CodeNotFound if it is absent.
func (s Tenants) Organization(ctx context.Context, id callwright.OrgID) (callwright.Organization, error) {
	return s.organizations().Find(ctx, "", string(id))
}

// HoldOrganization returns one organization and locks it until the transaction finishes, or returns CodeNotFound if it is absent. SQLite
// needs no lock, because only one transaction writes at a time.
func (s Tenants) HoldOrganization(ctx context.Context, id callwright.OrgID) (callwright.Organization, error) {
	var row organizationRow
	err := s.core().Write(ctx, []any{id}, func(ctx context.Context, idb bun.IDB) error {
		return sqldb.Absent("organization", s.core().ForUpdate(idb.NewSelect().Model(&row).Where("id = ?", id)).Scan(ctx))
	})
	if err != nil {
		return callwright.Organization{}, err
	}
	return s.core().organization(row)
}

// Organizations returns a page of organizations, newest first.
func (s Tenants) Organizations(ctx context.Context, after callwright.Keyset, limit int) ([]callwright.Organization, error) {
	return s.organizations().Page(ctx, "created_at", after, max(limit, 1), nil, func(q *bun.SelectQuery) *bun.SelectQuery { return q })
}
