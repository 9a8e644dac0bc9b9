package main

import (
	"os"
	"strings"
	"testing"

	"github.com/callwright/callwright/adapters/memstore"
	"github.com/callwright/callwright/transport/access"
)

// TestFirstStart has one data folder meet two databases: whichever it is, the key in the folder opens it at first.
func TestFirstStart(t *testing.T) {
	t.Parallel()
	c := config{Data: t.TempDir()}
	start := func(s *access.Service) string {
		t.Helper()
		if err := firstStart(t.Context(), c, s); err != nil {
			t.Fatal(err)
		}
		key, err := os.ReadFile(apiKeyFile(c))
		if err != nil {
			t.Fatal(err)
		}
		return strings.TrimSpace(string(key))
	}
	first, second := newTenants(t), newTenants(t)
	key := start(first)
	if again := start(first); again != key {
		t.Errorf("the second start made another key")
	}
	other := start(second)
	if p, err := second.Authenticate(t.Context(), other); err != nil || p.Org != firstOrg {
		t.Errorf("the key to the new database gives %+v, %v", p, err)
	}
	if old, err := os.ReadFile(apiKeyFile(c) + ".old"); err != nil || strings.TrimSpace(string(old)) != key {
		t.Errorf("the key to the first database is %q, %v", old, err)
	}
}

func newTenants(t *testing.T) *access.Service {
	t.Helper()
	store := memstore.New()
	s, err := access.New(access.Config{Store: memstore.Tenants{Store: store}, Atomic: store, Secret: make([]byte, 32)})
	if err != nil {
		t.Fatal(err)
	}
	return s
}
