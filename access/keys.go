package access

import (
	"context"
	"errors"
	"time"

	"github.com/callwright/callwright"
)

// The bounds of keys.
const (
	MaxKeys     = 1000                      // in force of an organization
	MaxLifetime = 10 * 365 * 24 * time.Hour // of a key that expires
)

// NewKey is a key that was just made. Nothing shows the key itself again.
type NewKey struct {
	Record callwright.APIKey
	Key    callwright.Secret
}

// CreateKey makes a key for an organization. A key without a lifetime does not expire. CodeBadRequest names the field name or
// lifetime: a name has 1 to MaxName characters that can be seen, and a lifetime is at most MaxLifetime. CodeNotFound: the
// organization is absent. CodeTooManyRequests: it has MaxKeys keys in force. The key can't be read again: only its HMAC is
// kept.
func (s *Service) CreateKey(
	ctx context.Context, org callwright.OrgID, name string, lifetime time.Duration,
) (NewKey, error) {
	if err := checkName(name); err != nil {
		return NewKey{}, err
	}
	switch {
	case lifetime < 0:
		return NewKey{}, callwright.Invalid("lifetime", "must not be negative")
	case lifetime > MaxLifetime:
		return NewKey{}, callwright.Invalid("lifetime", "must be at most %d days", MaxLifetime/(24*time.Hour))
	}
	k := s.newKey(org, name, lifetime)
	err := s.cfg.Atomic.Do(ctx, func(ctx context.Context) error {
		if _, err := s.cfg.Store.HoldOrganization(ctx, org); err != nil {
			return err
		}
		return s.insertKey(ctx, k.Record)
	})
	if err != nil {
		return NewKey{}, err
	}
	return k, nil
}

// newKey makes a key that is not stored.
func (s *Service) newKey(org callwright.OrgID, name string, lifetime time.Duration) NewKey {
	key := keyStart + randomText(9+24)
	k := NewKey{Key: callwright.Secret(key), Record: callwright.APIKey{
		ID: s.cfg.IDs.New(), Org: org, Name: name, Prefix: key[:prefixLen], Hash: s.hash(key), CreatedAt: s.cfg.Clock.Now(),
	}}
	if lifetime > 0 {
		end := k.Record.CreatedAt.Add(lifetime)
		k.Record.ExpiresAt = &end
	}
	return k
}

// insertKey stores a key of an organization that is held.
func (s *Service) insertKey(ctx context.Context, k callwright.APIKey) error {
	count, err := s.cfg.Store.CountKeys(ctx, k.Org, k.CreatedAt)
	if err != nil {
		return err
	}
	if count >= MaxKeys {
		return callwright.Errorf(callwright.CodeTooManyRequests, "an organization has at most %d active keys: revoke some first", MaxKeys)
	}
	return s.cfg.Store.InsertKey(ctx, k)
}

// Keys returns a page of the records of an organization's keys, the newest first, of 1 to MaxPage. It includes revoked and expired
// keys. CodeNotFound: the organization is absent.
func (s *Service) Keys(
	ctx context.Context, org callwright.OrgID, after callwright.Keyset, limit int,
) (callwright.Page[callwright.APIKey], error) {
	if _, err := s.cfg.Store.Organization(ctx, org); err != nil {
		return callwright.Page[callwright.APIKey]{}, err
	}
	return page(limit, func(limit int) ([]callwright.APIKey, error) {
		return s.cfg.Store.Keys(ctx, org, after, limit)
	}, func(k callwright.APIKey) callwright.Keyset { return callwright.Keyset{At: k.CreatedAt, ID: k.ID} })
}

// Key returns the record of one key. CodeNotFound: the organization has no such key.
func (s *Service) Key(ctx context.Context, org callwright.OrgID, id string) (callwright.APIKey, error) {
	return s.cfg.Store.Key(ctx, org, id)
}

// KeyNames returns the names of some of an organization's keys by their ids, at most MaxPage of them. Absent keys are omitted;
// revoked and expired keys are not.
func (s *Service) KeyNames(ctx context.Context, org callwright.OrgID, ids []string) (map[string]string, error) {
	if len(ids) > MaxPage {
		return nil, callwright.Invalid("ids", "has %d ids; at most %d are allowed", len(ids), MaxPage)
	}
	if len(ids) == 0 {
		return nil, nil
	}
	return s.cfg.Store.KeyNames(ctx, org, ids)
}

// RevokeKey revokes a key immediately, even a rotated one during its overlap. It does not change a revoked
// key. CodeNotFound: the organization has no such key.
func (s *Service) RevokeKey(ctx context.Context, org callwright.OrgID, id string) error {
	if err := s.cfg.Store.RevokeKey(ctx, org, id, s.cfg.Clock.Now()); err != nil {
		return err
	}
	s.watchers.notifyEnded(use{id: id})
	return nil
}

// RotateKey makes a key in the place of another, with its name and its lifetime, counted from now. The old one ends when the
// overlap has passed, or when it would have expired. CodeBadRequest with the field overlap unless that is from 0 to
// MaxOverlap; CodeNotFound when the organization has no such key; CodeInvalidState when the key is revoked, has expired, or
// was rotated already. CodeTooManyRequests: the organization has MaxKeys keys in force, and the old one stays valid beside
// the new one.
func (s *Service) RotateKey(
	ctx context.Context, org callwright.OrgID, id string, overlap time.Duration,
) (k NewKey, err error) {
	if err := checkOverlap(overlap); err != nil {
		return NewKey{}, err
	}
	err = s.cfg.Atomic.Do(ctx, func(ctx context.Context) error {
		if _, err := s.cfg.Store.HoldOrganization(ctx, org); errors.Is(err, callwright.ErrNotFound) {
			return callwright.NotFound("API key")
		} else if err != nil {
			return err
		}
		old, err := s.cfg.Store.Key(ctx, org, id)
		if err != nil {
			return err
		}
		now := s.cfg.Clock.Now()
		if err := rotatable(old, now); err != nil {
			return err
		}
		lifetime := time.Duration(0)
		if old.ExpiresAt != nil {
			lifetime = old.ExpiresAt.Sub(old.CreatedAt)
		}
		k = s.newKey(org, old.Name, lifetime)
		ends := now.Add(overlap)
		if old.ExpiresAt != nil && old.ExpiresAt.Before(ends) {
			ends = *old.ExpiresAt
		}
		if err := s.cfg.Store.ReplaceKey(ctx, org, id, k.Record.ID, ends); err != nil {
			return err
		}
		return s.insertKey(ctx, k.Record)
	})
	if err != nil {
		return NewKey{}, err
	}
	s.watchers.notifyEnded(use{id: id}) // with an overlap the key stays valid: watchers ask for its state
	return k, nil
}

// rotatable returns CodeInvalidState for a key that cannot be rotated.
func rotatable(k callwright.APIKey, now time.Time) error {
	switch {
	case k.RevokedAt != nil:
		return callwright.Errorf(callwright.CodeInvalidState, "the key is revoked: create another one")
	case k.ReplacedBy != "":
		return callwright.Errorf(callwright.CodeInvalidState, "the key was rotated already: rotate its successor, %s", k.ReplacedBy)
	case !k.InForce(now):
		return callwright.Errorf(callwright.CodeInvalidState, "the key has expired: create another one")
	}
	return nil
}
