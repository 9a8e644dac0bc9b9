// Package access makes, checks and revokes the API keys of organizations, and reads them from requests.
package access

import (
	"context"
	"crypto/hmac"
	"crypto/rand"
	"crypto/sha256"
	"encoding/base64"
	"errors"
	"fmt"
	"hash"
	"net/http"
	"strings"
	"time"

	"github.com/callwright/callwright"
)

// Config configures a Service. Store, Atomic and Secret are required.
type Config struct {
	Store  callwright.Tenants
	Atomic callwright.Atomic
	Secret callwright.Secret // keys the HMAC under which keys are stored: at least 32 bytes, the same on every node

	Clock callwright.Clock // nil: the machine's
	IDs   callwright.IDs   // nil: UUIDs
}

// minSecret is the least length of a Secret, in bytes.
const minSecret = 32

// Service makes and checks API keys.
type Service struct {
	cfg Config           // without its Secret
	mac func() hash.Hash // under the Secret, which fmt would print if it were a field that is not exported
}

// New checks the configuration.
func New(c Config) (*Service, error) {
	switch {
	case c.Store == nil:
		return nil, errors.New("access: Config.Store is required")
	case c.Atomic == nil:
		return nil, errors.New("access: Config.Atomic is required")
	case len(c.Secret) < minSecret:
		return nil, fmt.Errorf("access: Config.Secret must have at least %d bytes", minSecret)
	}
	if c.Clock == nil {
		c.Clock = callwright.SystemClock{}
	}
	if c.IDs == nil {
		c.IDs = new(callwright.UUIDs)
	}
	secret := []byte(c.Secret.Reveal())
	c.Secret = ""
	return &Service{cfg: c, mac: func() hash.Hash { return hmac.New(sha256.New, secret) }}, nil
}

// keyStart begins every key, so that a leaked one is found by those who search for leaks.
const keyStart = "cwk_"

// A key is keyStart, then 12 characters by which its record is found, then 32 that nobody but its owner knows. 9 and 24
// random bytes make them.
const prefixLen = len(keyStart) + 12

// CreateOrganization stores an organization with a webhook secret of its own. Without an id it gets a new one; CodeConflict
// when the id is taken.
func (s *Service) CreateOrganization(
	ctx context.Context, id callwright.OrgID, name string, entitlements ...callwright.Entitlement,
) (callwright.Organization, error) {
	if id == "" {
		id = callwright.OrgID(s.cfg.IDs.New())
	}
	o := callwright.Organization{
		ID:            id,
		Name:          name,
		Entitlements:  entitlements,
		WebhookSecret: callwright.Secret("whsec_" + base64.StdEncoding.EncodeToString(randomBytes(24))),
		CreatedAt:     s.cfg.Clock.Now(),
	}
	return o, s.cfg.Store.InsertOrganization(ctx, o)
}

// NewKey is a key that was just made. Nothing shows the key itself again.
type NewKey struct {
	Record callwright.APIKey
	Key    callwright.Secret
}

// CreateKey makes a key for an organization. A key without a lifetime does not expire; a negative one is CodeBadRequest, an
// unknown organization CodeNotFound. The key can't be read again: only its HMAC is kept.
func (s *Service) CreateKey(
	ctx context.Context, org callwright.OrgID, name string, lifetime time.Duration,
) (NewKey, error) {
	if lifetime < 0 {
		return NewKey{}, callwright.Invalid("lifetime", "must not be negative")
	}
	random := base64.RawURLEncoding.EncodeToString(randomBytes(9 + 24))
	key := keyStart + random
	now := s.cfg.Clock.Now()
	record := callwright.APIKey{
		ID: s.cfg.IDs.New(), Org: org, Name: name, Prefix: key[:prefixLen], Hash: s.hash(key), CreatedAt: now,
	}
	if lifetime > 0 {
		end := now.Add(lifetime)
		record.ExpiresAt = &end
	}
	err := s.cfg.Atomic.Do(ctx, func(ctx context.Context) error {
		if _, err := s.cfg.Store.Organization(ctx, org); err != nil {
			return err
		}
		return s.cfg.Store.InsertKey(ctx, record)
	})
	return NewKey{Record: record, Key: callwright.Secret(key)}, err
}

// RevokeKey revokes a key at once.
func (s *Service) RevokeKey(ctx context.Context, org callwright.OrgID, id string) error {
	return s.cfg.Store.RevokeKey(ctx, org, id, s.cfg.Clock.Now())
}

// Authenticate returns who makes a request: see httpapi.Authenticator. The key stands in the header Authorization, after
// "Bearer", whose case does not matter (RFC 9110, section 11.1), or alone. Of two such headers neither counts.
func (s *Service) Authenticate(r *http.Request) (callwright.Principal, error) {
	headers := r.Header.Values("Authorization")
	if len(headers) != 1 {
		return callwright.Principal{}, callwright.ErrAuthFailure
	}
	key := strings.TrimSpace(headers[0])
	if scheme, rest, ok := strings.Cut(key, " "); ok && strings.EqualFold(scheme, "Bearer") {
		key = strings.TrimSpace(rest)
	}
	return s.CheckKey(r.Context(), key)
}

// CheckKey returns whose key this is. Every reason to refuse it, unknown, wrong, expired or revoked, gives the same
// CodeAuthFailure.
func (s *Service) CheckKey(ctx context.Context, key string) (callwright.Principal, error) {
	if len(key) < prefixLen || !strings.HasPrefix(key, keyStart) {
		return callwright.Principal{}, callwright.ErrAuthFailure
	}
	record, err := s.cfg.Store.KeyByPrefix(ctx, key[:prefixLen])
	if errors.Is(err, callwright.ErrNotFound) {
		return callwright.Principal{}, callwright.ErrAuthFailure.Because(err)
	}
	if err != nil {
		return callwright.Principal{}, err
	}
	expired := record.ExpiresAt != nil && !s.cfg.Clock.Now().Before(*record.ExpiresAt)
	if !hmac.Equal(record.Hash, s.hash(key)) || expired || record.RevokedAt != nil {
		return callwright.Principal{}, callwright.ErrAuthFailure
	}
	org, err := s.cfg.Store.Organization(ctx, record.Org)
	if err != nil {
		return callwright.Principal{}, err
	}
	return callwright.Principal{Org: org.ID, KeyID: record.ID, KeyName: record.Name, Entitlements: org.Entitlements}, nil
}

func (s *Service) hash(key string) []byte {
	mac := s.mac()
	mac.Write([]byte(key))
	return mac.Sum(nil)
}

func randomBytes(n int) []byte {
	b := make([]byte, n)
	_, _ = rand.Read(b) // crypto/rand never fails: it ends the program instead
	return b
}
