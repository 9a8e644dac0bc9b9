package callwright

import (
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

// Organization is a tenant.
type Organization struct {
	ID            OrgID
	Name          string
	Entitlements  []Entitlement
	WebhookSecret Secret // signs what is sent to the organization's webhooks; encrypted at rest
	ContactEmail  string // receives mail about what needs a person; empty: no mail
	Region        string // carries its SIP traffic, such as "eu1"; empty: the deployment's region
	CreatedAt     time.Time
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
	RevokedAt *time.Time // nil: in force
}

// Principal is the caller of a request, as identified by its API key or by whatever an embedding program authenticates
// requests with, such as the session of a person. Org and KeyID are required.
type Principal struct {
	Org          OrgID  // the tenant on whose behalf the request is made
	KeyID        string // identifies the key, or the person, for as long as there are records: the log and issues name it
	KeyName      string // shown to people; empty: KeyID is shown
	Entitlements []Entitlement
}

// Entitled reports whether the principal's organization has the entitlement.
func (p Principal) Entitled(e Entitlement) bool { return slices.Contains(p.Entitlements, e) }

// Tenants stores organizations and the records of their keys. Webhook secrets are encrypted at rest.
type Tenants interface {
	// InsertOrganization adds an organization; CodeConflict when its id is taken.
	InsertOrganization(ctx context.Context, o Organization) error
	// Organization returns one organization; CodeNotFound when it is absent.
	Organization(ctx context.Context, id OrgID) (Organization, error)
	// UpdateOrganization replaces an organization; CodeNotFound when it is absent.
	UpdateOrganization(ctx context.Context, o Organization) error
	// InsertKey adds a key's record; CodeConflict when its id or prefix is taken.
	InsertKey(ctx context.Context, k APIKey) error
	// KeyByPrefix returns the record of the key with a prefix, of any organization; CodeNotFound when there is none.
	KeyByPrefix(ctx context.Context, prefix string) (APIKey, error)
	// RevokeKey sets RevokedAt of a key that is in force. It leaves a revoked key as it is; CodeNotFound when the
	// organization has no such key.
	RevokeKey(ctx context.Context, org OrgID, id string, at time.Time) error
}
