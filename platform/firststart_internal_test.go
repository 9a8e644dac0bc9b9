package platform

import (
	"errors"
	"os"
	"strings"
	"testing"

	"github.com/callwright/callwright"
	"github.com/callwright/callwright/access"
	"github.com/callwright/callwright/adapters/memstore"
	"github.com/callwright/callwright/adapters/memstore/orgstore"
)

// TestFirstStart starts with the same data folder on two databases. The key file must always contain the key for the newest database, and
// the older key must be kept in another file.
func TestFirstStart(t *testing.T) {
	t.Parallel()
	c := Config{Data: t.TempDir()}
	start := func(d database) string {
		t.Helper()
		if _, err := firstStart(t.Context(), c, secrets{}, d.keys, d.store); err != nil {
			t.Fatal(err)
		}
		return readKey(t, c)
	}
	first, second := newTenants(t), newTenants(t)
	key := start(first)
	if again := start(first); again != key {
		t.Errorf("the second start made another key")
	}
	other := start(second)
	if p, err := second.keys.CheckKey(t.Context(), other); err != nil || p.Org != FirstOrganization || !p.Entitled(callwright.EntitlementOperator) {
		t.Errorf("the key to the new database gives %+v, %v", p, err)
	}
	if old, err := os.ReadFile(apiKeyFile(c) + ".old"); err != nil || strings.TrimSpace(string(old)) != key {
		t.Errorf("the key to the first database is %q, %v", old, err)
	}
}

// TestKeyOfNewOrganizationOnly checks that a start with an empty folder writes no key if the database already contains the organization.
func TestKeyOfNewOrganizationOnly(t *testing.T) {
	t.Parallel()
	d := newTenants(t)
	for i := range 3 {
		c := Config{Data: t.TempDir()}
		if _, err := firstStart(t.Context(), c, secrets{}, d.keys, d.store); err != nil {
			t.Fatal(err)
		}
		if _, err := os.Stat(apiKeyFile(c)); (err == nil) != (i == 0) {
			t.Errorf("start %d: %v", i, err)
		}
	}
}

// TestNoOrganizationWithoutKey checks that a first start that cannot write the files creates no organization, so that the next start
// creates both.
func TestNoOrganizationWithoutKey(t *testing.T) {
	t.Parallel()
	d, c, full := newTenants(t), Config{Data: t.TempDir()}, errors.New("no space left on device")
	_, err := firstStart(t.Context(), c, secrets{Store: func() error { return full }}, d.keys, d.store)
	if !errors.Is(err, full) {
		t.Errorf("started with %v", err)
	}
	if _, err := firstStart(t.Context(), c, secrets{}, d.keys, d.store); err != nil {
		t.Fatal(err)
	}
	if p, err := d.keys.CheckKey(t.Context(), readKey(t, c)); err != nil || p.Org != FirstOrganization {
		t.Errorf("the key gives %+v, %v", p, err)
	}
}

func readKey(t *testing.T, c Config) string {
	t.Helper()
	key, err := os.ReadFile(apiKeyFile(c))
	if err != nil {
		t.Fatal(err)
	}
	return strings.TrimSpace(string(key))
}

// TestWriteWebhookSecret checks that the file contains the secret of this database's webhooks, and that only its owner can read it.
func TestWriteWebhookSecret(t *testing.T) {
	t.Parallel()
	c := Config{Data: t.TempDir()}
	for _, secret := range []callwright.Secret{"whsec_MQ==", "whsec_Mg=="} {
		tenants := orgstore.Tenants{Store: memstore.New()}
		if err := tenants.InsertOrganization(t.Context(), callwright.Organization{ID: FirstOrganization, WebhookSecret: secret}); err != nil {
			t.Fatal(err)
		}
		if err := writeWebhookSecret(t.Context(), c, tenants); err != nil {
			t.Fatal(err)
		}
		kept, err := os.ReadFile(webhookSecretFile(c))
		if err != nil || strings.TrimSpace(string(kept)) != secret.Reveal() {
			t.Errorf("the file holds %q, %v", kept, err)
		}
		if info, err := os.Stat(webhookSecretFile(c)); err != nil || info.Mode().Perm() != 0o600 {
			t.Errorf("the file's mode is %v, %v", info.Mode(), err)
		}
	}
}

// TestSetContact checks that the flag sets the organization's contact, and that a start without the flag keeps it.
func TestSetContact(t *testing.T) {
	t.Parallel()
	keys := newTenants(t).keys
	if _, err := keys.CreateOrganization(t.Context(), FirstOrganization, "x"); err != nil {
		t.Fatal(err)
	}
	for _, given := range []string{"ops@example.com", "", "ops@example.com"} {
		if err := setContact(t.Context(), Config{ContactEmail: given}, keys); err != nil {
			t.Fatal(err)
		}
		if o, err := keys.Organization(t.Context(), FirstOrganization); err != nil || o.ContactEmail != "ops@example.com" || o.Name != "x" {
			t.Errorf("after %q it is %+v, %v", given, o, err)
		}
	}
}

// database is an empty database with an access service.
type database struct {
	store *memstore.Store
	keys  *access.Service
}

func newTenants(t *testing.T) database {
	t.Helper()
	store := memstore.New()
	s, err := access.New(access.Config{Store: orgstore.Tenants{Store: store}, Atomic: store, Secret: callwright.Secret(make([]byte, 32))})
	if err != nil {
		t.Fatal(err)
	}
	return database{store, s}
}
