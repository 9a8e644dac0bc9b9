// Package access makes organizations and their API keys, checks keys, reads them from requests, and signs people in with them.
//
// A Service may share its store with others, such as that of a running server. Its changes take effect immediately.
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
	Secret callwright.Secret  `required:"always"` // keys the HMAC under which keys and sessions are stored: at least 32 bytes, the same on every node

	callwright.Runtime
}

// minSecret is the least length of a Secret, in bytes.
const minSecret = 32

// Service makes organizations and API keys, checks keys, and keeps sessions.
type Service struct {
	cfg  Config           // without its Secret
	mac  func() hash.Hash // under the Secret, which fmt would print if it were a field that is not exported
	uses *uses

	watchers *watchers

	writing, sweeping callwright.Outage // of uses, of idle sessions
}

// New checks the configuration.
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

// keyStart begins every key, so that scanners for secrets find leaked keys.
const keyStart = "cwk_"

// A key is keyStart, then 12 characters by which its record is found, then 32 secret ones. 9 and 24
// random bytes make them.
const prefixLen = len(keyStart) + 12

// Authenticate returns the principal of a request: see httpapi.Authenticator. It reads the key from the header Authorization, after
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

// CheckKey returns the principal of a key and records the use of the key. Every reason to refuse it, unknown, wrong, expired or
// revoked, gives the same CodeAuthFailure.
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

// randomText returns random bytes in base64 for the path of a URL.
func randomText(bytes int) string { return base64.RawURLEncoding.EncodeToString(randomBytes(bytes)) }

func randomBytes(n int) []byte {
	b := make([]byte, n)
	_, _ = rand.Read(b) // crypto/rand never fails: it ends the program instead
	return b
}
