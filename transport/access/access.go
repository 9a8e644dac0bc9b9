// Package access says who makes a request: it makes, checks and revokes the API keys of organizations.
package access

import (
	"context"
	"crypto/hmac"
	"crypto/rand"
	"crypto/sha256"
	"encoding/base64"
	"errors"
	"strings"
	"time"

	"github.com/callwright/callwright"
)

// Config is what a Service needs.
type Config struct {
	Store  callwright.Tenants
	Atomic callwright.Atomic
	Secret []byte           // keys the HMAC under which keys are stored: at least 32 bytes, the same on every node
	Clock  callwright.Clock // nil: the machine's
	IDs    callwright.IDs   // nil: UUIDs
}

// Service makes and checks API keys.
type Service struct{ Config }

// New checks the configuration.
func New(c Config) (*Service, error) {
	if c.Store == nil || c.Atomic == nil {
		return nil, errors.New("access: Store and Atomic are required")
	}
	if len(c.Secret) < 32 {
		return nil, errors.New("access: Secret must have at least 32 bytes")
	}
	if c.Clock == nil {
		c.Clock = callwright.SystemClock{}
	}
	if c.IDs == nil {
		c.IDs = new(callwright.UUIDs)
	}
	return &Service{Config: c}, nil
}

// keyStart begins every key, so that a leaked one is found by those who search for leaks.
const keyStart = "cwk_"

// A key is keyStart, then 12 characters by which its record is found, then 32 that nobody but its owner knows. 9 and 24
// random bytes make them.
const prefixLen = len(keyStart) + 12

// CreateOrganization makes an organization with a webhook secret of its own. An empty id makes a fresh one; CodeConflict
// when the id is taken.
func (s *Service) CreateOrganization(
	ctx context.Context, id callwright.OrgID, name string, entitlements ...callwright.Entitlement,
) (callwright.Organization, error) {
	if id == "" {
		id = callwright.OrgID(s.IDs.New())
	}
	o := callwright.Organization{
		ID:            id,
		Name:          name,
		Entitlements:  entitlements,
		WebhookSecret: callwright.Secret("whsec_" + base64.StdEncoding.EncodeToString(randomBytes(24))),
		CreatedAt:     s.Clock.Now(),
	}
	return o, s.Store.InsertOrganization(ctx, o)
}

// NewKey is what making a key shows once.
type NewKey struct {
	Record callwright.APIKey
	Key    callwright.Secret
}

// CreateKey makes a key for an organization; a zero lifetime never ends. The key can't be had again: only its HMAC is
// kept.
func (s *Service) CreateKey(
	ctx context.Context, org callwright.OrgID, name string, lifetime time.Duration,
) (NewKey, error) {
	random := base64.RawURLEncoding.EncodeToString(randomBytes(9 + 24))
	key := keyStart + random
	now := s.Clock.Now()
	record := callwright.APIKey{
		ID: s.IDs.New(), Org: org, Name: name, Prefix: key[:prefixLen], Hash: s.hash(key), CreatedAt: now,
	}
	if lifetime > 0 {
		end := now.Add(lifetime)
		record.ExpiresAt = &end
	}
	err := s.Atomic.Do(ctx, func(ctx context.Context) error {
		if _, err := s.Store.Organization(ctx, org); err != nil {
			return err
		}
		return s.Store.InsertKey(ctx, record)
	})
	return NewKey{Record: record, Key: callwright.Secret(key)}, err
}

// RevokeKey ends a key at once.
func (s *Service) RevokeKey(ctx context.Context, org callwright.OrgID, id string) error {
	return s.Store.RevokeKey(ctx, org, id, s.Clock.Now())
}

// Authenticate says whose key this is. Every reason to refuse it, unknown, wrong, expired or revoked, gives the same
// CodeAuthFailure.
func (s *Service) Authenticate(ctx context.Context, key string) (callwright.Principal, error) {
	if len(key) < prefixLen || !strings.HasPrefix(key, keyStart) {
		return callwright.Principal{}, callwright.ErrAuthFailure
	}
	record, err := s.Store.KeyByPrefix(ctx, key[:prefixLen])
	if errors.Is(err, callwright.ErrNotFound) {
		return callwright.Principal{}, callwright.ErrAuthFailure.Because(err)
	}
	if err != nil {
		return callwright.Principal{}, err
	}
	expired := record.ExpiresAt != nil && !s.Clock.Now().Before(*record.ExpiresAt)
	if !hmac.Equal(record.Hash, s.hash(key)) || expired || record.RevokedAt != nil {
		return callwright.Principal{}, callwright.ErrAuthFailure
	}
	org, err := s.Store.Organization(ctx, record.Org)
	if err != nil {
		return callwright.Principal{}, err
	}
	return callwright.Principal{Org: org.ID, KeyID: record.ID, KeyName: record.Name, Entitlements: org.Entitlements}, nil
}

func (s *Service) hash(key string) []byte {
	mac := hmac.New(sha256.New, s.Secret)
	mac.Write([]byte(key))
	return mac.Sum(nil)
}

func randomBytes(n int) []byte {
	b := make([]byte, n)
	_, _ = rand.Read(b) // crypto/rand never fails: it ends the program instead
	return b
}
