// Package access creates organizations and their API keys, reads keys from requests and checks them, and signs people in with them.
//
// A Service may share its store with other processes, such as a running server. Changes by the Service take effect in these processes
// immediately.
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

// Config configures a Service.
type Config struct {
	Store  callwright.Tenants `required:"always"`
	Atomic callwright.Atomic  `required:"always"`
	Secret callwright.Secret  `required:"always"` // key of the HMACs of stored keys and sessions: at least 32 bytes, the same on every node

	callwright.Runtime
}

// minSecret is the minimum length of Config.Secret, in bytes.
const minSecret = 32

// Service manages organizations and API keys, checks keys, and manages sessions.
type Service struct {
	cfg  Config           // its Secret is empty
	mac  func() hash.Hash // uses the Secret: a closure, because fmt prints unexported fields
	uses *uses

	watchers *watchers

	writing, sweeping callwright.Outage // log failures to write uses and to delete idle sessions
}

// New returns a Service. It returns an error if a required field of c is missing or the Secret is shorter than 32 bytes.
func New(c Config) (*Service, error) {
	if err := callwright.PrepareConfig(&c); err != nil {
		return nil, err
	}
	if len(c.Secret) < minSecret {
		return nil, fmt.Errorf("access: Config.Secret must have at least %d bytes", minSecret)
	}
	secret := []byte(c.Secret.Reveal())
	c.Secret = ""
	return &Service{cfg: c, mac: func() hash.Hash { return hmac.New(sha256.New, secret) }, uses: newUses(), watchers: newWatchers()}, nil
}

// keyStart is the beginning of every key. It enables secret scanners to find leaked keys.
const keyStart = "cwk_"

// prefixLen is the length of a key's prefix. A key consists of keyStart, 12 characters that identify its record, and 32 secret characters.
// The characters encode 9 and 24 random bytes.
const prefixLen = len(keyStart) + 12

// Authenticate returns the principal of a request and implements httpapi.Authenticator. It reads the key from the header Authorization,
// with or without the scheme Bearer, whose case is ignored (RFC 9110, section 11.1). A request without exactly one such header is refused
// with CodeAuthFailure.
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

// CheckKey returns the principal of a key and records the use of the key. It returns the same CodeAuthFailure for an unknown, wrong,
// expired or revoked key, so that callers cannot distinguish the reasons.
func (s *Service) CheckKey(ctx context.Context, key string) (callwright.Principal, error) {
	if len(key) < prefixLen || !strings.HasPrefix(key, keyStart) {
		return callwright.Principal{}, callwright.ErrAuthFailure
	}
	record, org, err := s.cfg.Store.KeyByPrefix(ctx, key[:prefixLen])
	if errors.Is(err, callwright.ErrNotFound) {
		return callwright.Principal{}, callwright.ErrAuthFailure.Because(err)
	}
	if err != nil {
		return callwright.Principal{}, err
	}
	now := s.cfg.Clock.Now()
	if !hmac.Equal(record.Hash, s.hash(key)) || !record.InForce(now) {
		return callwright.Principal{}, callwright.ErrAuthFailure
	}
	return s.principal(record, org, now), nil
}

// principal returns the principal of a key and records the use of the key.
func (s *Service) principal(k callwright.APIKey, org callwright.Organization, now time.Time) callwright.Principal {
	s.uses.note(use{id: k.ID}, k.LastUsedAt, now)
	p := callwright.Principal{Org: org.ID, KeyID: k.ID, KeyName: k.Name, Entitlements: org.Entitlements}
	if k.ExpiresAt != nil {
		p.ExpiresAt = *k.ExpiresAt
	}
	return p
}

func (s *Service) hash(text string) []byte {
	mac := s.mac()
	mac.Write([]byte(text))
	return mac.Sum(nil)
}

// randomText returns the given number of random bytes in unpadded base64url.
func randomText(bytes int) string { return base64.RawURLEncoding.EncodeToString(randomBytes(bytes)) }

func randomBytes(n int) []byte {
	b := make([]byte, n)
	_, _ = rand.Read(b) // crypto/rand never returns an error: it crashes the program instead
	return b
}
