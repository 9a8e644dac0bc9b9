package callwright

import (
	"context"
	"time"
)

// Session is the record of a sign-in with an API key. Its token is shown once, when it is generated, and never stored.
type Session struct {
	ID        string
	Org       OrgID
	KeyID     string // the key that was signed in with; the session ends with it
	KeyName   string // of the key, as its record has it when the session is read; it is not stored with the session
	Hash      []byte // HMAC-SHA256 of the token
	CreatedAt time.Time
	UsedAt    time.Time // about a minute precise; CreatedAt until there is a use
}

// SessionOwner is a session with the record of its key and its organization.
type SessionOwner struct {
	Session      Session
	Key          APIKey
	Organization Organization
}

// SessionStore stores the records of sessions. What Tenants says of fields, times and lists holds for it.
type SessionStore interface {
	// InsertSession adds a session; CodeConflict when its id or hash is taken. The key exists: a store may refuse the
	// session of an absent one.
	InsertSession(ctx context.Context, s Session) error
	// SessionByHash returns the session whose Hash is exactly this, of any organization, the record of its key, and its organization;
	// CodeNotFound when one of them is absent. It is read for every request of a page, so it should take one round trip.
	SessionByHash(ctx context.Context, hash []byte) (SessionOwner, error)
	// Sessions returns up to limit sessions of an organization, the newest first, from after a keyset on. It leaves out sessions
	// whose UsedAt is now - idle or before, and sessions whose key is absent or not in force at now.
	Sessions(ctx context.Context, org OrgID, now time.Time, idle time.Duration, after Keyset, limit int) ([]Session, error)
	// TouchSession sets UsedAt of a session, of any organization, to at, unless it is later than at - every. An absent session is no
	// error.
	TouchSession(ctx context.Context, id string, at time.Time, every time.Duration) error
	// DeleteSession deletes a session; CodeNotFound when the organization has no such session.
	DeleteSession(ctx context.Context, org OrgID, id string) error
	// TrimSessions deletes the sessions of a key but for the keep that were used last. Fewer than keep sessions all stay.
	TrimSessions(ctx context.Context, key string, keep int) error
	// DeleteSessions deletes up to limit sessions of all organizations that were last used at a time or before, and returns how many.
	// It leaves alone what another transaction holds.
	DeleteSessions(ctx context.Context, until time.Time, limit int) (int, error)
}
