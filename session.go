package callwright

import (
	"context"
	"time"
)

// Session is the stored record of a sign-in with an API key. Its token is shown once, when it is generated, and never stored.
type Session struct {
	ID        string
	Org       OrgID
	KeyID     string // id of the key of the sign-in; the session ends with the key
	KeyName   string // name of the key when the session is read; not stored with the session
	Hash      []byte // HMAC-SHA256 of the token
	CreatedAt time.Time
	UsedAt    time.Time // last use, precise to about a minute; equals CreatedAt before the first use
}

// SessionOwner holds a session with the record of its key and its organization.
type SessionOwner struct {
	Session      Session
	Key          APIKey
	Organization Organization
}

// SessionStore stores the records of sessions. The rules of Tenants for fields, times and lists apply.
type SessionStore interface {
	// InsertSession adds a session. It returns CodeConflict if the id or hash exists. The key must exist: a store may refuse the session of
	// an absent key.
	InsertSession(ctx context.Context, s Session) error
	// SessionByHash returns the session with exactly this Hash, in any organization, with the record of its key and its organization. It
	// returns CodeNotFound if the session, the key or the organization is absent. Every request of a page calls it, so it should need only
	// one round trip.
	SessionByHash(ctx context.Context, hash []byte) (SessionOwner, error)
	// Sessions returns up to limit sessions of an organization, newest first, after a keyset. It omits sessions whose UsedAt is at or
	// before now - idle, and sessions whose key is absent or not in force at the time now.
	Sessions(ctx context.Context, org OrgID, now time.Time, idle time.Duration, after Keyset, limit int) ([]Session, error)
	// TouchSession sets the UsedAt of a session, in any organization, to the time at, unless UsedAt is already later than at - every. It
	// returns nil for an absent session.
	TouchSession(ctx context.Context, id string, at time.Time, every time.Duration) error
	// DeleteSession deletes a session. It returns CodeNotFound if the organization does not own such a session.
	DeleteSession(ctx context.Context, org OrgID, id string) error
	// TrimSessions deletes the sessions of a key, except for the most recently used ones, whose number is keep.
	TrimSessions(ctx context.Context, key string, keep int) error
	// DeleteSessions deletes up to limit sessions of all organizations whose UsedAt is not after the time until, and returns how many it
	// deleted. It skips rows that another transaction has locked.
	DeleteSessions(ctx context.Context, until time.Time, limit int) (int, error)
}
