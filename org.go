package callwright

import (
	"cmp"
	"context"
	"slices"
	"time"
)

// OrgID identifies an organization, the tenant that owns all other data. It always comes from the authentication of a request, for
// example its API key, never from the request's body, path or query.
type OrgID string

// Entitlement is a right that only some organizations have.
type Entitlement string

// EntitlementSIP allows every operation under /v1/sip.
const EntitlementSIP Entitlement = "SIP"

// EntitlementOperator allows the people of an organization to list, create and change the organizations of the deployment. No page
// or API operation can grant it.
const EntitlementOperator Entitlement = "OPERATOR"

// Organization is a tenant.
type Organization struct {
	ID            OrgID
	Name          string
	Entitlements  []Entitlement
	WebhookSecret Secret // signs requests to the organization's webhooks; encrypted at rest
	ContactEmail  string // receives mail about matters that need a person; empty: no mail
	Region        string // carries its SIP traffic, for example "eu1"; empty: the deployment's region
	CreatedAt     time.Time

	DefaultCountry Country // numbers without a plus are read in its form; empty: they must be E.164
	MaxNumbers     int     // limit of numbers attached to trunks; 0: DefaultMaxNumbers

	PreviousWebhookSecret Secret     // also signs, until PreviousWebhookEnds; encrypted at rest; empty: none
	PreviousWebhookEnds   *time.Time // nil: no previous secret
}

// DefaultMaxNumbers is the default limit of an organization's numbers attached to trunks. An operator can set another one.
const DefaultMaxNumbers = 1000

// NumberLimit returns the maximum of numbers that the organization may attach to trunks.
func (o Organization) NumberLimit() int { return cmp.Or(o.MaxNumbers, DefaultMaxNumbers) }

// WebhookSecrets returns the secrets that sign requests to the organization's webhooks at a time: WebhookSecret, and the previous
// one until it ends.
func (o Organization) WebhookSecrets(now time.Time) []Secret {
	if o.PreviousWebhookSecret == "" || o.PreviousWebhookEnds == nil || !now.Before(*o.PreviousWebhookEnds) {
		return []Secret{o.WebhookSecret}
	}
	return []Secret{o.WebhookSecret, o.PreviousWebhookSecret}
}

// Entitled reports whether the organization has the entitlement.
func (o Organization) Entitled(e Entitlement) bool { return slices.Contains(o.Entitlements, e) }

// APIKey is the record of a key. The key itself is shown once, when it is generated, and never stored.
type APIKey struct {
	ID        string
	Org       OrgID
	Name      string
	Prefix    string // the first characters of the key, which identify it
	Hash      []byte // HMAC-SHA256 of the whole key
	CreatedAt time.Time
	ExpiresAt *time.Time // nil: never
	RevokedAt *time.Time // nil: not revoked

	LastUsedAt *time.Time // precise to about a minute; nil: never used since uses are recorded
	ReplacedBy string     // the id of the key that replaced it in a rotation; empty: not rotated
}

// InForce reports whether the key is neither revoked nor expired at a time.
func (k APIKey) InForce(now time.Time) bool {
	return k.RevokedAt == nil && (k.ExpiresAt == nil || now.Before(*k.ExpiresAt))
}

// Principal is the caller of a request, as identified by its API key, or by another authentication of an embedding program, for
// example a person's session. Org and KeyID are required.
type Principal struct {
	Org          OrgID  // the tenant of the request
	KeyID        string // identifies the key, or the person, permanently: logs and issues contain it
	KeyName      string // display name; empty: KeyID is displayed
	Entitlements []Entitlement
	ExpiresAt    time.Time // known end of the authentication: streams end then; zero: unknown
}

// Entitled reports whether the principal's organization has the entitlement.
func (p Principal) Entitled(e Entitlement) bool { return slices.Contains(p.Entitlements, e) }

// Tenants stores organizations and the records of their keys and sessions. Webhook secrets are encrypted at rest.
// callwrighttest.RunTenants tests it.
//
// Every field comes back unchanged, an empty list as empty and not as nil; times are returned in UTC, exact to the microsecond.
// Lists are ordered by CreatedAt and then ID, both descending, and start after a keyset (CreatedAt, ID); the zero keyset is the
// beginning.
type Tenants interface {
	OrganizationStore
	KeyStore
	SessionStore
}

// OrganizationStore stores organizations.
type OrganizationStore interface {
	// InsertOrganization adds an organization; CodeConflict when its id exists.
	InsertOrganization(ctx context.Context, o Organization) error
	// Organization returns one organization; CodeNotFound when it is absent.
	Organization(ctx context.Context, id OrgID) (Organization, error)
	// HoldOrganization is Organization for a transaction that changes the organization or its keys: it locks the organization until
	// the transaction ends, so that no change is lost. Without a transaction it locks nothing.
	HoldOrganization(ctx context.Context, id OrgID) (Organization, error)
	// UpdateOrganization replaces all fields of an organization; CodeNotFound when it is absent.
	UpdateOrganization(ctx context.Context, o Organization) error
	// Organizations returns up to limit organizations, newest first, after a keyset.
	Organizations(ctx context.Context, after Keyset, limit int) ([]Organization, error)
}

// KeyStore stores the records of API keys.
type KeyStore interface {
	// InsertKey adds a key's record; CodeConflict when its id or prefix exists. The organization must exist: a store may refuse the
	// key of an absent one.
	InsertKey(ctx context.Context, k APIKey) error
	// KeyByPrefix returns the record of the key with exactly this Prefix, of any organization, and that organization; CodeNotFound
	// when one of the two is absent. Every request with a key calls it, so it should take one round trip.
	KeyByPrefix(ctx context.Context, prefix string) (APIKey, Organization, error)
	// Key returns the record of one key; CodeNotFound when the organization has no such key.
	Key(ctx context.Context, org OrgID, id string) (APIKey, error)
	// Keys returns up to limit records of an organization's keys, newest first, after a keyset.
	Keys(ctx context.Context, org OrgID, after Keyset, limit int) ([]APIKey, error)
	// KeyNames returns the names of the given keys of an organization, by id, without absent ones. Ids may repeat.
	KeyNames(ctx context.Context, org OrgID, ids []string) (map[string]string, error)
	// CountKeys returns the number of an organization's keys that are in force at a time: see APIKey.InForce.
	CountKeys(ctx context.Context, org OrgID, now time.Time) (int, error)
	// RevokeKey sets RevokedAt of a key that is not revoked. It leaves a revoked key unchanged, without an error; CodeNotFound when
	// the organization has no such key.
	RevokeKey(ctx context.Context, org OrgID, id string, at time.Time) error
	// ReplaceKey sets ReplacedBy and ExpiresAt of a key, even of a revoked one, and changes nothing else, so that a key that is
	// revoked meanwhile stays revoked. CodeConflict when ReplacedBy is already set: of concurrent calls one succeeds. CodeNotFound
	// when the organization has no such key.
	ReplaceKey(ctx context.Context, org OrgID, id, by string, ends time.Time) error
	// TouchKey sets LastUsedAt of a key, of any organization, to at, unless it is already later than at - every. An absent key is
	// no error.
	TouchKey(ctx context.Context, id string, at time.Time, every time.Duration) error
}
