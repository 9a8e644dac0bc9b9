package orgstore

import (
	"bytes"
	"cmp"
	"context"
	"math"
	"time"

	"github.com/callwright/callwright"
	"github.com/callwright/callwright/adapters/memstore/internal/memory"
)

// InsertSession adds a session. It returns CodeConflict if its ID or hash is already stored.
func (s Tenants) InsertSession(ctx context.Context, session callwright.Session) error {
	return with(ctx, s.Store, func(d *data) error {
		for _, other := range d.sessions.Rows() {
			if bytes.Equal(other.Hash, session.Hash) {
				return callwright.ErrConflict
			}
		}
		return d.sessions.Insert(session)
	})
}

// SessionByHash returns the session with the given hash, its API key and its organization. It returns CodeNotFound if any of them is
// absent.
func (s Tenants) SessionByHash(ctx context.Context, hash []byte) (owner callwright.SessionOwner, err error) {
	err = with(ctx, s.Store, func(d *data) error {
		for _, found := range d.sessions.Rows() {
			if !bytes.Equal(found.Hash, hash) {
				continue
			}
			key, err := d.keys.Find(found.Org, found.KeyID)
			org, has := d.orgs.Rows()[found.Org]
			if err != nil || !has {
				break
			}
			owner = callwright.SessionOwner{Session: memory.Clone(found), Key: memory.Clone(key), Organization: memory.Clone(org)}
			owner.Session.KeyName = key.Name
			return nil
		}
		return callwright.NotFound("session")
	})
	return owner, err
}

// Sessions returns a page of an organization's live sessions, newest first. A session is live if its last use is later than now - idle and
// its API key is in force.
func (s Tenants) Sessions(
	ctx context.Context, org callwright.OrgID, now time.Time, idle time.Duration, after callwright.Keyset, limit int,
) ([]callwright.Session, error) {
	return read(ctx, s.Store, func(d *data) ([]callwright.Session, error) {
		place := func(session callwright.Session) callwright.Keyset {
			return callwright.Keyset{At: session.CreatedAt, ID: session.ID}
		}
		found := d.sessions.Page(after, max(limit, 1), place, func(session callwright.Session) bool {
			k, err := d.keys.Find(org, session.KeyID)
			return session.Org == org && now.Sub(session.UsedAt) < idle && err == nil && k.InForce(now)
		})
		for i, session := range found {
			found[i].KeyName = d.keys.Rows()[session.KeyID].Name
		}
		return found, nil
	})
}

// TouchSession sets the last use of a session to the given time. It changes nothing if the stored last use is later than that time minus
// the given interval, or if the session is absent.
func (s Tenants) TouchSession(ctx context.Context, id string, at time.Time, every time.Duration) error {
	return with(ctx, s.Store, func(d *data) error {
		if session, ok := d.sessions.Rows()[id]; ok && !session.UsedAt.After(at.Add(-every)) {
			session.UsedAt = at
			d.sessions.Set(id, session)
		}
		return nil
	})
}

// DeleteSession deletes a session, or returns CodeNotFound if the organization has no such session.
func (s Tenants) DeleteSession(ctx context.Context, org callwright.OrgID, id string) error {
	return with(ctx, s.Store, func(d *data) error {
		if _, err := d.sessions.Find(org, id); err != nil {
			return err
		}
		return d.sessions.Delete(org, id)
	})
}

// TrimSessions deletes the least recently used sessions of an API key, so that at most the given number of sessions stays.
func (s Tenants) TrimSessions(ctx context.Context, key string, keep int) error {
	return with(ctx, s.Store, func(d *data) error {
		own := d.sessions.Select(math.MaxInt, leastUsed, func(session callwright.Session) bool { return session.KeyID == key })
		for _, session := range own[:max(len(own)-keep, 0)] {
			d.sessions.Table.Delete(session.ID)
		}
		return nil
	})
}

// DeleteSessions deletes up to limit sessions that were last used at or before the given time, starting with the least recently used. It
// returns the number of deleted sessions.
func (s Tenants) DeleteSessions(ctx context.Context, until time.Time, limit int) (deleted int, err error) {
	err = with(ctx, s.Store, func(d *data) error {
		old := d.sessions.Select(limit, leastUsed, func(session callwright.Session) bool { return !session.UsedAt.After(until) })
		for _, session := range old {
			d.sessions.Table.Delete(session.ID)
		}
		deleted = len(old)
		return nil
	})
	return deleted, err
}

// leastUsed orders sessions by their last use, the least recently used first.
func leastUsed(a, b callwright.Session) int {
	return cmp.Or(a.UsedAt.Compare(b.UsedAt), cmp.Compare(a.ID, b.ID))
}
