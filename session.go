package callwright

import (
	"context"
	"time"
)

// Session is the record of a sign-in with an API key. Its token is shown once, when it is generated, and never stored.
type Session struct {
	ID        string
	Org       OrgID
	KeyID     string // the key of the sign-in; the session ends with it
	KeyName   string // the key's current name when the session is read; not stored with the session
	Hash      []byte // HMAC-SHA256 of the token
	CreatedAt time.Time
	UsedAt    time.Time // precise to about a minute; CreatedAt before the first use
}

// SessionOwner is a session with the record of its key and its organization.
type SessionOwner struct {
	Session      Session
	Key          APIKey
	Organization Organization
}

// SessionStore stores the records of sessions. The rules of Tenants for fields, times and lists apply.
type SessionStore interface {
	// InsertSession adds a session; CodeConflict when its id or hash exists. The key must exist: a store may refuse the session of
	// an absent one.
	InsertSession(ctx context.Context, s Session) error
	// SessionByHash returns the session with exactly this Hash, of any organization, the record of its key, and its organization;
	// CodeNotFound when one of them is absent. It is read for every request of a page, so it should take one round trip.
	SessionByHash(ctx context.Context, hash []byte) (SessionOwner, error)
	// Sessions returns up to limit sessions of an organization, newest first, after a keyset. It omits sessions whose UsedAt is now
	// - idle or before, and sessions whose key is absent or not in force at now.
	Sessions(ctx context.Context, org OrgID, now time.Time, idle time.Duration, after Keyset, limit int) ([]Session, error)
	// TouchSession sets UsedAt of a session, of any organization, to at, unless it is already later than at - every. An absent
	// session is no error.
	TouchSession(ctx context.Context, id string, at time.Time, every time.Duration) error
	// DeleteSession deletes a session; CodeNotFound when the organization has no such session.
	DeleteSession(ctx context.Context, org OrgID, id string) error
	// TrimSessions deletes the sessions of a key except the keep last used ones.
	TrimSessions(ctx context.Context, key string, keep int) error
	// DeleteSessions deletes up to limit sessions of all organizations that were last used at a time or before, and returns their
	// number. It skips rows locked by another transaction.
	DeleteSessions(ctx context.Context, until time.Time, limit int) (int, error)
}
