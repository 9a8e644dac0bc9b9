package orgstore

import (
	"bytes"
	"cmp"
	"context"
	"slices"
	"time"

	"github.com/callwright/callwright"
	"github.com/callwright/callwright/adapters/memstore/internal/memory"
)

// InsertSession adds a session.
func (s Tenants) InsertSession(ctx context.Context, session callwright.Session) error {
	return with(ctx, s.Store, func(d *data) error {
		for _, other := range d.sessions {
			if other.ID == session.ID || bytes.Equal(other.Hash, session.Hash) {
				return callwright.ErrConflict
			}
		}
		d.sessions[session.ID] = memory.Clone(session)
		return nil
	})
}

// SessionByHash returns the session with a hash, the record of its key, and its organization.
func (s Tenants) SessionByHash(ctx context.Context, hash []byte) (owner callwright.SessionOwner, err error) {
	err = with(ctx, s.Store, func(d *data) error {
		for _, found := range d.sessions {
			if !bytes.Equal(found.Hash, hash) {
				continue
			}
			key, err := d.key(found.Org, found.KeyID)
			org, has := d.orgs[found.Org]
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

// Sessions returns a page of the live sessions of an organization.
func (s Tenants) Sessions(
	ctx context.Context, org callwright.OrgID, now time.Time, idle time.Duration, after callwright.Keyset, limit int,
) (found []callwright.Session, err error) {
	err = with(ctx, s.Store, func(d *data) error {
		live := func(yield func(callwright.Session) bool) {
			for _, session := range d.sessions {
				if session.Org != org || now.Sub(session.UsedAt) >= idle {
					continue
				}
				k, err := d.key(org, session.KeyID)
				if err != nil || !k.InForce(now) {
					continue
				}
				if session.KeyName = k.Name; !yield(session) {
					return
				}
			}
		}
		found = page(live, after, limit, func(session callwright.Session) callwright.Keyset {
			return callwright.Keyset{At: session.CreatedAt, ID: session.ID}
		})
		return nil
	})
	return found, err
}

// TouchSession sets the last use of a session.
func (s Tenants) TouchSession(ctx context.Context, id string, at time.Time, every time.Duration) error {
	return with(ctx, s.Store, func(d *data) error {
		if session, ok := d.sessions[id]; ok && !session.UsedAt.After(at.Add(-every)) {
			session.UsedAt = at
			d.sessions[id] = session
		}
		return nil
	})
}

// DeleteSession deletes a session.
func (s Tenants) DeleteSession(ctx context.Context, org callwright.OrgID, id string) error {
	return with(ctx, s.Store, func(d *data) error {
		if session, ok := d.sessions[id]; !ok || session.Org != org {
			return callwright.NotFound("session")
		}
		delete(d.sessions, id)
		return nil
	})
}

// TrimSessions deletes the sessions of a key but for those that were used last.
func (s Tenants) TrimSessions(ctx context.Context, key string, keep int) error {
	return with(ctx, s.Store, func(d *data) error {
		own := d.sessionsByUse(func(session callwright.Session) bool { return session.KeyID == key })
		for _, session := range own[:max(len(own)-keep, 0)] {
			delete(d.sessions, session.ID)
		}
		return nil
	})
}

// DeleteSessions deletes sessions that were last used at a time or before.
func (s Tenants) DeleteSessions(ctx context.Context, until time.Time, limit int) (deleted int, err error) {
	err = with(ctx, s.Store, func(d *data) error {
		old := d.sessionsByUse(func(session callwright.Session) bool { return !session.UsedAt.After(until) })
		deleted = min(len(old), limit)
		for _, session := range old[:deleted] {
			delete(d.sessions, session.ID)
		}
		return nil
	})
	return deleted, err
}

// sessionsByUse returns the sessions that choose picks, those first that were not used for the longest time.
func (d *data) sessionsByUse(choose func(callwright.Session) bool) []callwright.Session {
	var found []callwright.Session
	for _, session := range d.sessions {
		if choose(session) {
			found = append(found, session)
		}
	}
	slices.SortFunc(found, func(a, b callwright.Session) int {
		return cmp.Or(a.UsedAt.Compare(b.UsedAt), cmp.Compare(a.ID, b.ID))
	})
	return found
}
