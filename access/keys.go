package access

import (
	"context"
	"errors"
	"time"

	"github.com/callwright/callwright"
)

// The limits of keys.
const (
	MaxKeys     = 1000                      // keys in force per organization
	MaxLifetime = 10 * 365 * 24 * time.Hour // maximum lifetime of a key that expires
)

// NewKey is a newly created key. The key itself cannot be read again later.
type NewKey struct {
	Record callwright.APIKey
	Key    callwright.Secret
}

// CreateKey creates a key for an organization. If lifetime is 0, the key does not expire. A name must have 1 to MaxName visible characters,
// and a lifetime must be from 0 to MaxLifetime: otherwise CreateKey returns CodeBadRequest with the field name or lifetime. It returns
// CodeNotFound if the organization is absent, and CodeTooManyRequests if MaxKeys of its keys are in force. The key can't be read again,
// because only its HMAC is stored.
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

// newKey generates a key and its record, but does not store it. If lifetime is 0, the key does not expire.
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

// insertKey stores a key, or returns CodeTooManyRequests if MaxKeys keys of its organization are in force. The caller must hold the
// organization (HoldOrganization), so that concurrent inserts cannot exceed the limit.
func (s *Service) insertKey(ctx context.Context, k callwright.APIKey) error {
	count, err := s.cfg.Store.CountKeys(ctx, k.Org, k.CreatedAt)
	if err != nil {
		return err
	}
	if count >= MaxKeys {
		return callwright.Errorf(callwright.CodeTooManyRequests, "an organization may have at most %d active keys: revoke some first", MaxKeys)
	}
	return s.cfg.Store.InsertKey(ctx, k)
}

// Keys returns a page of the records of an organization's keys, newest first. limit must be 1 to MaxPage. The page includes revoked and
// expired keys. Keys returns CodeNotFound if the organization is absent.
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

// Key returns the record of one key, or CodeNotFound if the organization does not own such a key.
func (s *Service) Key(ctx context.Context, org callwright.OrgID, id string) (callwright.APIKey, error) {
	return s.cfg.Store.Key(ctx, org, id)
}

// KeyNames returns the names of up to MaxPage keys of an organization, by id. It includes revoked and expired keys, and omits absent ones.
// It returns CodeBadRequest for more than MaxPage ids.
func (s *Service) KeyNames(ctx context.Context, org callwright.OrgID, ids []string) (map[string]string, error) {
	if len(ids) > MaxPage {
		return nil, callwright.Invalid("ids", "has %d ids; at most %d are allowed", len(ids), MaxPage)
	}
	if len(ids) == 0 {
		return nil, nil
	}
	return s.cfg.Store.KeyNames(ctx, org, ids)
}

// RevokeKey revokes a key immediately, even a rotated key during its overlap. It leaves a revoked key unchanged. It returns CodeNotFound if
// the organization does not own such a key.
func (s *Service) RevokeKey(ctx context.Context, org callwright.OrgID, id string) error {
	if err := s.cfg.Store.RevokeKey(ctx, org, id, s.cfg.Clock.Now()); err != nil {
		return err
	}
	s.watchers.notifyEnded(use{id: id})
	return nil
}

// RotateKey creates a key that replaces another. The new key has the name and the lifetime of the old key; the lifetime starts now. The old
// key expires after the overlap, or at its ExpiresAt if that is earlier.
//
// RotateKey returns CodeBadRequest with the field overlap unless the overlap is from 0 to MaxOverlap. It returns CodeNotFound if the
// organization does not own such a key, and CodeInvalidState if the key is revoked, expired or already rotated. It returns
// CodeTooManyRequests if MaxKeys keys of the organization are in force; during an overlap the old key counts, too.
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
	s.watchers.notifyEnded(use{id: id}) // also during an overlap, because watchers check whether the key is still valid
	return k, nil
}

// rotatable returns CodeInvalidState for a revoked, rotated or expired key, and otherwise nil.
func rotatable(k callwright.APIKey, now time.Time) error {
	switch {
	case k.RevokedAt != nil:
		return callwright.Errorf(callwright.CodeInvalidState, "the key is revoked: create another one")
	case k.ReplacedBy != "":
		return callwright.Errorf(callwright.CodeInvalidState, "the key was already rotated: rotate its successor, %s", k.ReplacedBy)
	case !k.InForce(now):
		return callwright.Errorf(callwright.CodeInvalidState, "the key has expired: create another one")
	}
	return nil
}
