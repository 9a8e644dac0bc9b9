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

// Entitlement is a permission that an operator grants to single organizations.
type Entitlement string

// EntitlementSIP allows every operation under /v1/sip.
const EntitlementSIP Entitlement = "SIP"

// EntitlementOperator allows the members of an organization to list, create and change the organizations of the deployment. No page or API
// operation can grant it.
const EntitlementOperator Entitlement = "OPERATOR"

// Organization is a tenant: it owns numbers, trunks, agents and all other data.
type Organization struct {
	ID            OrgID
	Name          string
	Entitlements  []Entitlement
	WebhookSecret Secret // signs requests to the organization's webhooks; encrypted at rest
	ContactEmail  string // receives mail about problems that a person must solve; if empty, no mail is sent
	Region        string // region of its SIP traffic, for example "eu1"; if empty, the deployment's region
	CreatedAt     time.Time

	DefaultCountry Country // country whose format applies to numbers without a plus; if empty, they must be E.164
	MaxNumbers     int     // maximum of numbers attached to trunks; 0 means DefaultMaxNumbers

	PreviousWebhookSecret Secret     // also signs until PreviousWebhookEnds; encrypted at rest; empty if there is none
	PreviousWebhookEnds   *time.Time // nil if there is no previous secret
}

// DefaultMaxNumbers is the default limit of an organization's numbers attached to trunks. An operator can set another limit.
const DefaultMaxNumbers = 1000

// NumberLimit returns the maximum number of phone numbers that the organization may attach to trunks: MaxNumbers, or DefaultMaxNumbers if
// MaxNumbers is 0.
func (o Organization) NumberLimit() int { return cmp.Or(o.MaxNumbers, DefaultMaxNumbers) }

// WebhookSecrets returns the secrets that sign requests to the organization's webhooks at the given time: WebhookSecret, and
// PreviousWebhookSecret before PreviousWebhookEnds.
func (o Organization) WebhookSecrets(now time.Time) []Secret {
	if o.PreviousWebhookSecret == "" || o.PreviousWebhookEnds == nil || !now.Before(*o.PreviousWebhookEnds) {
		return []Secret{o.WebhookSecret}
	}
	return []Secret{o.WebhookSecret, o.PreviousWebhookSecret}
}

// Entitled reports whether the organization has the entitlement.
func (o Organization) Entitled(e Entitlement) bool { return slices.Contains(o.Entitlements, e) }

// APIKey is the stored record of an API key. The key itself is shown once, when it is generated, and never stored.
type APIKey struct {
	ID        string
	Org       OrgID
	Name      string
	Prefix    string // the first characters of the key, which identify it
	Hash      []byte // HMAC-SHA256 of the whole key
	CreatedAt time.Time
	ExpiresAt *time.Time // nil means never
	RevokedAt *time.Time // nil if not revoked

	LastUsedAt *time.Time // precise to about a minute; nil if no use was recorded
	ReplacedBy string     // id of the key that replaced it in a rotation; empty if not rotated
}

// InForce reports whether the key is neither revoked nor expired at the given time.
func (k APIKey) InForce(now time.Time) bool {
	return k.RevokedAt == nil && (k.ExpiresAt == nil || now.Before(*k.ExpiresAt))
}

// Principal is the sender of an API request. An API key identifies the sender, or another authentication of the embedding program, for
// example a person's session. Org and KeyID are required.
type Principal struct {
	Org          OrgID  // the tenant of the request
	KeyID        string // permanent id of the key or person; logs and issues contain it
	KeyName      string // display name; if empty, KeyID is displayed
	Entitlements []Entitlement
	ExpiresAt    time.Time // when the authentication, and with it each stream, ends; zero if unknown
}

// Entitled reports whether the principal's organization has the entitlement.
func (p Principal) Entitled(e Entitlement) bool { return slices.Contains(p.Entitlements, e) }

// Tenants stores organizations and the records of their keys and sessions. Webhook secrets are encrypted at rest. callwrighttest.RunTenants
// tests implementations.
//
// Every field is returned as it was stored. An empty list is returned as empty, not as nil; times are returned in UTC, exact to the
// microsecond. Lists are ordered by CreatedAt and then ID, both descending, and start after a keyset (CreatedAt, ID). The zero keyset is
// the beginning.
type Tenants interface {
	OrganizationStore
	KeyStore
	SessionStore
}

// OrganizationStore stores organizations. The rules of Tenants for fields, times and lists apply.
type OrganizationStore interface {
	// InsertOrganization adds an organization. It returns CodeConflict if the id exists.
	InsertOrganization(ctx context.Context, o Organization) error
	// Organization returns the organization with the given id, or CodeNotFound if it is absent.
	Organization(ctx context.Context, id OrgID) (Organization, error)
	// HoldOrganization returns an organization like Organization, for a transaction that changes the organization or its keys. It locks the
	// organization until the transaction finishes, so that no change is lost. Outside a transaction it locks nothing.
	HoldOrganization(ctx context.Context, id OrgID) (Organization, error)
	// UpdateOrganization replaces all fields of an organization. It returns CodeNotFound if the organization is absent.
	UpdateOrganization(ctx context.Context, o Organization) error
	// Organizations returns up to limit organizations, newest first, after a keyset.
	Organizations(ctx context.Context, after Keyset, limit int) ([]Organization, error)
}

// KeyStore stores the records of API keys. The rules of Tenants for fields, times and lists apply.
type KeyStore interface {
	// InsertKey adds a key's record. It returns CodeConflict if the id or prefix exists. The organization must exist: a store may refuse
	// the key of an absent organization.
	InsertKey(ctx context.Context, k APIKey) error
	// KeyByPrefix returns the record of the key with exactly this Prefix, in any organization, and that organization. It returns
	// CodeNotFound if the key or the organization is absent. Every request with a key calls it, so it should need only one round trip.
	KeyByPrefix(ctx context.Context, prefix string) (APIKey, Organization, error)
	// Key returns the record of one key, or CodeNotFound if the organization does not own such a key.
	Key(ctx context.Context, org OrgID, id string) (APIKey, error)
	// Keys returns up to limit records of an organization's keys, newest first, after a keyset.
	Keys(ctx context.Context, org OrgID, after Keyset, limit int) ([]APIKey, error)
	// KeyNames returns the names of an organization's keys, by id. It omits absent keys. ids may contain duplicates.
	KeyNames(ctx context.Context, org OrgID, ids []string) (map[string]string, error)
	// CountKeys returns the number of an organization's keys that are in force at the given time: see APIKey.InForce.
	CountKeys(ctx context.Context, org OrgID, now time.Time) (int, error)
	// RevokeKey sets RevokedAt of a key. It leaves a revoked key unchanged, without an error. It returns CodeNotFound if the organization
	// does not own such a key.
	RevokeKey(ctx context.Context, org OrgID, id string, at time.Time) error
	// ReplaceKey sets ReplacedBy and ExpiresAt of a key, even of a revoked key. It changes no other field, so that a concurrent revocation
	// is not lost. It returns CodeConflict if ReplacedBy is already set: of concurrent calls only one succeeds. It returns CodeNotFound if
	// the organization does not own such a key.
	ReplaceKey(ctx context.Context, org OrgID, id, by string, ends time.Time) error
	// TouchKey sets LastUsedAt of a key, in any organization, to the time at. It changes nothing if LastUsedAt is later than the time at
	// minus the duration every. It returns nil for an absent key.
	TouchKey(ctx context.Context, id string, at time.Time, every time.Duration) error
}
