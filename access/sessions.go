package access

import (
	"context"
	"errors"
	"slices"
	"time"

	"github.com/callwright/callwright"
)

// The limits of sessions.
const (
	SessionIdle = 12 * time.Hour     // a session ends after this time without use
	SessionLife = 7 * 24 * time.Hour // a session ends this long after its sign-in, even if it is in use
	MaxSessions = 100                // sessions per key

	sessionSweep = time.Hour // interval between deletions of idle sessions
	sweepBatch   = 1000      // maximum of sessions in one deletion
)

// A token consists of tokenStart and 32 random bytes in base64url. tokenLabel precedes the token in its HMAC, to distinguish this HMAC from
// the HMACs of keys.
const (
	tokenStart = "cws_"
	tokenLen   = len(tokenStart) + 43
	tokenLabel = "session:"
)

// SignIn checks a key like CheckKey and starts a session with it. The token identifies the session and can't be read again, because only
// its HMAC is stored. A key has at most MaxSessions sessions: a further sign-in deletes the least recently used ones.
func (s *Service) SignIn(ctx context.Context, key string) (token string, session callwright.Session, err error) {
	p, err := s.CheckKey(ctx, key)
	if err != nil {
		return "", callwright.Session{}, err
	}
	token, now := tokenStart+randomText(32), s.cfg.Clock.Now()
	session = callwright.Session{
		ID: s.cfg.IDs.New(), Org: p.Org, KeyID: p.KeyID, KeyName: p.KeyName, Hash: s.hash(tokenLabel + token), CreatedAt: now, UsedAt: now,
	}
	err = s.cfg.Atomic.Do(ctx, func(ctx context.Context) error {
		if _, err := s.cfg.Store.HoldOrganization(ctx, session.Org); err != nil {
			return err
		}
		if err := s.cfg.Store.TrimSessions(ctx, session.KeyID, MaxSessions-1); err != nil {
			return err
		}
		return s.cfg.Store.InsertSession(ctx, session)
	})
	if err != nil {
		return "", callwright.Session{}, err
	}
	return token, session, nil
}

// Session returns the session of a token and its principal, and records the use of the session and its key. It returns CodeAuthFailure if
// the session is absent, was not used for SessionIdle, or began SessionLife ago, and if the key is revoked or expired. A rotated key
// expires when its overlap ends. Run writes the uses: without Run, each session ends SessionIdle after its sign-in.
func (s *Service) Session(ctx context.Context, token string) (callwright.Principal, callwright.Session, error) {
	owner, err := s.findSession(ctx, token)
	if errors.Is(err, callwright.ErrNotFound) {
		err = callwright.ErrAuthFailure.Because(err)
	}
	if err != nil {
		return callwright.Principal{}, callwright.Session{}, err
	}
	session, key, now := owner.Session, owner.Key, s.cfg.Clock.Now()
	if now.Sub(session.UsedAt) >= SessionIdle || aged(session, now) || !key.InForce(now) {
		return callwright.Principal{}, callwright.Session{}, callwright.ErrAuthFailure
	}
	s.uses.note(use{session.ID, true}, &session.UsedAt, now)
	p := s.principal(key, owner.Organization, now)
	if end := session.CreatedAt.Add(SessionLife); p.ExpiresAt.IsZero() || end.Before(p.ExpiresAt) {
		p.ExpiresAt = end
	}
	return p, session, nil
}

// aged reports whether SessionLife has passed since the sign-in.
func aged(session callwright.Session, now time.Time) bool {
	return now.Sub(session.CreatedAt) >= SessionLife
}

// findSession returns the session of a token with its key and organization, or CodeNotFound if the session is absent.
func (s *Service) findSession(ctx context.Context, token string) (callwright.SessionOwner, error) {
	if len(token) != tokenLen {
		return callwright.SessionOwner{}, callwright.NotFound("session")
	}
	return s.cfg.Store.SessionByHash(ctx, s.hash(tokenLabel+token))
}

// SignOut deletes the session of a token. It returns nil if the session is absent.
func (s *Service) SignOut(ctx context.Context, token string) error {
	owner, err := s.findSession(ctx, token)
	if err == nil {
		err = s.DeleteSession(ctx, owner.Session.Org, owner.Session.ID)
	}
	if errors.Is(err, callwright.ErrNotFound) {
		return nil
	}
	return err
}

// Sessions returns a page of the usable sessions of an organization, newest first. limit must be 1 to MaxPage. It returns CodeNotFound if
// the organization is absent.
func (s *Service) Sessions(
	ctx context.Context, org callwright.OrgID, after callwright.Keyset, limit int,
) (callwright.Page[callwright.Session], error) {
	if _, err := s.cfg.Store.Organization(ctx, org); err != nil {
		return callwright.Page[callwright.Session]{}, err
	}
	return page(limit, func(limit int) ([]callwright.Session, error) {
		now := s.cfg.Clock.Now()
		list, err := s.cfg.Store.Sessions(ctx, org, now, SessionIdle, after, limit)
		return slices.DeleteFunc(list, func(session callwright.Session) bool { return aged(session, now) }), err // aged sessions are last in the list
	}, func(session callwright.Session) callwright.Keyset {
		return callwright.Keyset{At: session.CreatedAt, ID: session.ID}
	})
}

// DeleteSession ends a session immediately. It returns CodeNotFound if the organization does not own such a session.
func (s *Service) DeleteSession(ctx context.Context, org callwright.OrgID, id string) error {
	if err := s.cfg.Store.DeleteSession(ctx, org, id); err != nil {
		return err
	}
	s.watchers.notifyEnded(use{id, true})
	return nil
}

// sweepSessions deletes up to sweepBatch idle sessions, and returns the time to wait before the next call.
func (s *Service) sweepSessions(ctx context.Context) time.Duration {
	deleted, err := s.cfg.Store.DeleteSessions(ctx, s.cfg.Clock.Now().Add(-SessionIdle), sweepBatch)
	s.sweeping.Note(ctx, s.cfg.Logger, "idle sessions are not deleted", err)
	if deleted == sweepBatch {
		return usePause // more idle sessions may exist
	}
	return sessionSweep
}
