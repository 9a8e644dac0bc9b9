package callwright

import (
	"cmp"
	"context"
	"slices"
	"time"
)

// OrgID identifies an organization, the tenant that owns everything else. It always comes from what authenticates a request,
// such as its API key, never from the request's body, path or query.
type OrgID string

// Entitlement is a right that only some organizations have.
type Entitlement string

// EntitlementSIP allows every operation under /v1/sip.
const EntitlementSIP Entitlement = "SIP"

// EntitlementOperator allows the people of an organization to list, create and change the organizations of the deployment. No page and no
// operation of the API grants it.
const EntitlementOperator Entitlement = "OPERATOR"

// Organization is a tenant.
type Organization struct {
	ID            OrgID
	Name          string
	Entitlements  []Entitlement
	WebhookSecret Secret // signs what is sent to the organization's webhooks; encrypted at rest
	ContactEmail  string // receives mail about what needs a person; empty: no mail
	Region        string // carries its SIP traffic, such as "eu1"; empty: the deployment's region
	CreatedAt     time.Time

	DefaultCountry Country // in whose form numbers without a plus are read; empty: they must be E.164
	MaxNumbers     int     // numbers that it may attach to trunks; 0: DefaultMaxNumbers

	PreviousWebhookSecret Secret     // signs as well until PreviousWebhookEnds; encrypted at rest; empty: none
	PreviousWebhookEnds   *time.Time // nil: there is no previous secret
}

// DefaultMaxNumbers is how many numbers an organization may attach to trunks unless an operator sets another limit.
const DefaultMaxNumbers = 1000

// NumberLimit returns how many numbers the organization may attach to trunks.
func (o Organization) NumberLimit() int { return cmp.Or(o.MaxNumbers, DefaultMaxNumbers) }

// WebhookSecrets returns the secrets that sign what is sent to the organization's webhooks at a time: WebhookSecret, and
// the previous one until it ends.
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

	LastUsedAt *time.Time // about a minute precise; nil: never used, or not since there are records of it
	ReplacedBy string     // the id of the key that a rotation made in its place; empty: not rotated
}

// InForce reports whether the key is neither revoked nor expired at a time.
func (k APIKey) InForce(now time.Time) bool {
	return k.RevokedAt == nil && (k.ExpiresAt == nil || now.Before(*k.ExpiresAt))
}

// Principal is the caller of a request, as identified by its API key or by whatever an embedding program authenticates
// requests with, such as the session of a person. Org and KeyID are required.
type Principal struct {
	Org          OrgID  // the tenant on whose behalf the request is made
	KeyID        string // identifies the key, or the person, for as long as there are records: the log and issues name it
	KeyName      string // shown to people; empty: KeyID is shown
	Entitlements []Entitlement
	ExpiresAt    time.Time // from when on requests like this are refused, as far as is known: streams end then; zero: nothing is known
}

// Entitled reports whether the principal's organization has the entitlement.
func (p Principal) Entitled(e Entitlement) bool { return slices.Contains(p.Entitlements, e) }

// Tenants stores organizations and the records of their keys and sessions. Webhook secrets are encrypted at rest.
// callwrighttest.RunTenants tests it.
//
// Every field comes back as it was stored, an empty list as empty and not as nil; times are returned in UTC, exact to the
// microsecond. Lists are ordered by CreatedAt and then ID, both descending, and start after a keyset (CreatedAt, ID); the zero keyset
// is the beginning.
type Tenants interface {
	OrganizationStore
	KeyStore
	SessionStore
}

// OrganizationStore stores organizations.
type OrganizationStore interface {
	// InsertOrganization adds an organization; CodeConflict when its id is taken.
	InsertOrganization(ctx context.Context, o Organization) error
	// Organization returns one organization; CodeNotFound when it is absent.
	Organization(ctx context.Context, id OrgID) (Organization, error)
	// HoldOrganization is Organization in a transaction that is to change the organization or its keys: others that hold it
	// wait until the transaction ends, so that no change is lost. Without a transaction nothing is held.
	HoldOrganization(ctx context.Context, id OrgID) (Organization, error)
	// UpdateOrganization replaces all fields of an organization; CodeNotFound when it is absent.
	UpdateOrganization(ctx context.Context, o Organization) error
	// Organizations returns up to limit organizations, the newest first, from after a keyset on.
	Organizations(ctx context.Context, after Keyset, limit int) ([]Organization, error)
}

// KeyStore stores the records of API keys.
type KeyStore interface {
	// InsertKey adds a key's record; CodeConflict when its id or prefix is taken. The organization exists: a store
	// may refuse the key of an absent one.
	InsertKey(ctx context.Context, k APIKey) error
	// KeyByPrefix returns the record of the key whose Prefix is exactly this, of any organization, and that organization; CodeNotFound
	// when one of the two is absent. Every request with a key asks it: it is to cost one look, not two.
	KeyByPrefix(ctx context.Context, prefix string) (APIKey, Organization, error)
	// Key returns the record of one key; CodeNotFound when the organization has no such key.
	Key(ctx context.Context, org OrgID, id string) (APIKey, error)
	// Keys returns up to limit records of an organization's keys, the newest first, from after a keyset on.
	Keys(ctx context.Context, org OrgID, after Keyset, limit int) ([]APIKey, error)
	// KeyNames returns the names of some of an organization's keys by their ids, without absent ones. An id may be given twice.
	KeyNames(ctx context.Context, org OrgID, ids []string) (map[string]string, error)
	// CountKeys counts the keys of an organization that are in force at a time, as APIKey.InForce tells.
	CountKeys(ctx context.Context, org OrgID, now time.Time) (int, error)
	// RevokeKey sets RevokedAt of a key that is not revoked. It leaves a revoked key as it is, without an error; CodeNotFound when
	// the organization has no such key.
	RevokeKey(ctx context.Context, org OrgID, id string, at time.Time) error
	// ReplaceKey sets ReplacedBy and ExpiresAt of a key, also of a revoked one, and leaves the rest as it is, so that a key that is
	// revoked meanwhile stays revoked. CodeConflict when the key has ReplacedBy already: of concurrent calls one succeeds.
	// CodeNotFound when the organization has no such key.
	ReplaceKey(ctx context.Context, org OrgID, id, by string, ends time.Time) error
	// TouchKey sets LastUsedAt of a key, of any organization, to at, unless it is later than at - every. An absent key is no error.
	TouchKey(ctx context.Context, id string, at time.Time, every time.Duration) error
}
