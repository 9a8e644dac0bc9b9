package access_test

import (
	"bytes"
	"errors"
	"fmt"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"time"

	"github.com/callwright/callwright"
	"github.com/callwright/callwright/access"
	"github.com/callwright/callwright/adapters/memstore"
	"github.com/callwright/callwright/adapters/memstore/orgstore"
)

// clock is a Clock that a test sets.
type clock struct{ now time.Time }

func (c *clock) Now() time.Time { return c.now }

type house struct {
	*access.Service
	tenants orgstore.Tenants
	clock   *clock
	org     callwright.Organization
}

func newHouse(t *testing.T) *house {
	t.Helper()
	store := memstore.New()
	h := &house{tenants: orgstore.Tenants{Store: store}, clock: &clock{time.Date(2026, 1, 1, 0, 0, 0, 0, time.UTC)}}
	var err error
	h.Service, err = access.New(access.Config{
		Store: h.tenants, Atomic: store, Secret: callwright.Secret(bytes.Repeat([]byte{7}, 32)), Runtime: callwright.Runtime{Clock: h.clock},
	})
	if err != nil {
		t.Fatal(err)
	}
	if h.org, err = h.CreateOrganization(t.Context(), "", "Acme", callwright.EntitlementSIP); err != nil {
		t.Fatal(err)
	}
	return h
}

func (h *house) key(t *testing.T, lifetime time.Duration) access.NewKey {
	t.Helper()
	key, err := h.CreateKey(t.Context(), h.org.ID, "ci", lifetime)
	if err != nil {
		t.Fatal(err)
	}
	return key
}

func TestCheckKey(t *testing.T) {
	t.Parallel()
	h := newHouse(t)
	key := h.key(t, 0)
	p, err := h.CheckKey(t.Context(), key.Key.Reveal())
	if err != nil || p.Org != h.org.ID || p.KeyID != key.Record.ID || !p.Entitled(callwright.EntitlementSIP) {
		t.Errorf("got %+v, %v", p, err)
	}
	if p.Entitled("OTHER") {
		t.Error("entitled to everything")
	}
}

func TestCheckKeyRefuses(t *testing.T) {
	t.Parallel()
	h := newHouse(t)
	good := h.key(t, 0).Key.Reveal()
	short := h.key(t, time.Hour)
	revoked := h.key(t, 0)
	if err := h.RevokeKey(t.Context(), h.org.ID, revoked.Record.ID); err != nil {
		t.Fatal(err)
	}
	h.clock.now = h.clock.now.Add(time.Hour)
	last := good[len(good)-1]
	for name, key := range map[string]string{
		"nothing":      "",
		"no such key":  "cwk_" + strings.Repeat("A", 44),
		"prefix alone": good[:16],
		"changed":      good[:len(good)-1] + string(last^1),
		"longer":       good + "A",
		"shorter":      good[:len(good)-1],
		"other case":   strings.ToUpper(good),
		"expired":      short.Key.Reveal(),
		"revoked":      revoked.Key.Reveal(),
		"odd bytes":    "cwk_\x00\xff" + good[6:],
	} {
		if p, err := h.CheckKey(t.Context(), key); !errors.Is(err, callwright.ErrAuthFailure) || p.Org != "" {
			t.Errorf("%s: got %+v, %v", name, p, err)
		}
	}
	if _, err := h.CheckKey(t.Context(), good); err != nil {
		t.Errorf("the good key: %v", err)
	}
}

// TestAuthenticate checks that a key is accepted with and without "Bearer", and that another scheme, a missing or empty header and more
// than one header are refused.
func TestAuthenticate(t *testing.T) {
	t.Parallel()
	h := newHouse(t)
	key, other := h.key(t, 0).Key.Reveal(), h.key(t, 0).Key.Reveal()
	for name, c := range map[string]struct {
		headers []string
		good    bool
	}{
		"bearer": {[]string{"Bearer " + key}, true}, "lower case": {[]string{"bearer " + key}, true}, "bare": {[]string{key}, true},
		"blanks": {[]string{" Bearer  " + key + " "}, true}, "none": {nil, false}, "empty": {[]string{""}, false},
		"scheme alone": {[]string{"Bearer"}, false}, "other scheme": {[]string{"Basic " + key}, false},
		"two": {[]string{key, other}, false}, "twice the same": {[]string{key, key}, false},
	} {
		r := httptest.NewRequestWithContext(t.Context(), http.MethodGet, "/v1/calls", nil)
		for _, header := range c.headers {
			r.Header.Add("Authorization", header)
		}
		p, err := h.Authenticate(r)
		if good := err == nil && p.Org == h.org.ID; good != c.good || !good && !errors.Is(err, callwright.ErrAuthFailure) {
			t.Errorf("%s: got %+v, %v", name, p, err)
		}
	}
}

func TestKeyIsShownOnce(t *testing.T) {
	t.Parallel()
	h := newHouse(t)
	key := h.key(t, 0)
	stored, _, err := h.tenants.KeyByPrefix(t.Context(), key.Record.Prefix)
	if err != nil {
		t.Fatal(err)
	}
	secret := strings.TrimPrefix(key.Key.Reveal(), key.Record.Prefix)
	for _, text := range []string{fmt.Sprintf("%+v %s %q", stored, stored.Hash, stored.Hash), fmt.Sprintf("%v %+v %#v", key, key, key)} {
		if strings.Contains(text, secret) {
			t.Errorf("the key can be read in %q", text)
		}
	}
	if other := h.key(t, 0); other.Key == key.Key || other.Record.Prefix == key.Record.Prefix {
		t.Error("two keys are alike")
	}
}

func TestForeignOrganizations(t *testing.T) {
	t.Parallel()
	h := newHouse(t)
	key := h.key(t, 0)
	if err := h.RevokeKey(t.Context(), "other", key.Record.ID); !errors.Is(err, callwright.ErrNotFound) {
		t.Errorf("revoking another organization's key gave %v", err)
	}
	if _, err := h.CreateKey(t.Context(), h.org.ID, "x", -time.Hour); callwright.CodeOf(err) != callwright.CodeBadRequest {
		t.Errorf("a negative lifetime gave %v", err)
	}
	if _, err := h.CreateKey(t.Context(), "other", "x", 0); !errors.Is(err, callwright.ErrNotFound) {
		t.Errorf("a key for no organization gave %v", err)
	}
	if _, err := h.CreateOrganization(t.Context(), h.org.ID, "again"); !errors.Is(err, callwright.ErrConflict) {
		t.Errorf("the same organization again gave %v", err)
	}
}

func TestNewChecksItsConfig(t *testing.T) {
	t.Parallel()
	store := memstore.New()
	tenants, secret := orgstore.Tenants{Store: store}, callwright.Secret(strings.Repeat("s", 32))
	s, err := access.New(access.Config{Store: tenants, Atomic: store, Secret: secret})
	if text := fmt.Sprintf("%v %+v", s, s); err != nil || strings.Contains(text, "115 115") || strings.Contains(text, "ssss") {
		t.Errorf("the service shows its secret: %s, %v", text, err)
	}
	for want, c := range map[string]access.Config{
		"access: Config.Store is required":                  {Atomic: store, Secret: secret},
		"access: Config.Atomic is required":                 {Store: tenants, Secret: secret},
		"access: Config.Secret must have at least 32 bytes": {Store: tenants, Atomic: store, Secret: secret[1:]},
	} {
		if _, err := access.New(c); err == nil || err.Error() != want {
			t.Errorf("got %v, want %s", err, want)
		}
	}
	if _, err := access.New(access.Config{}); err == nil {
		t.Error("an empty configuration was accepted")
	}
}
