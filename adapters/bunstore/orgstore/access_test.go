package orgstore_test

import (
	"errors"
	"fmt"
	"slices"
	"sync"
	"testing"
	"time"

	"github.com/callwright/callwright"
	"github.com/callwright/callwright/access"
	"github.com/callwright/callwright/adapters/bunstore"
	"github.com/callwright/callwright/adapters/bunstore/internal/storetest"
	"github.com/callwright/callwright/adapters/bunstore/orgstore"
)

// together calls f concurrently, the given number of times, and returns the results.
func together(times int, f func(i int) error) []error {
	results := make([]error, times)
	var all sync.WaitGroup
	for i := range times {
		all.Go(func() { results[i] = f(i) })
	}
	all.Wait()
	return results
}

// wantOne checks that exactly one call succeeded, and that the others returned CodeInvalidState.
func wantOne(t *testing.T, what string, results []error) {
	t.Helper()
	won := 0
	for _, err := range results {
		if err == nil {
			won++
		} else if !errors.Is(err, callwright.ErrInvalidState) {
			t.Errorf("%s: got %v", what, err)
		}
	}
	if won != 1 {
		t.Errorf("%s: %d of %d have won", what, won, len(results))
	}
}

// TestAccessRaces changes one organization and its keys concurrently from two services, as two processes would: only one rotation succeeds,
// and no change is lost.
func TestAccessRaces(t *testing.T) {
	t.Parallel()
	storetest.OnEach(t, func(t *testing.T, open func(*testing.T) *bunstore.DB) {
		const times = 6
		db := open(t)
		services := make([]*access.Service, 2)
		for i := range services {
			var err error
			services[i], err = access.New(access.Config{Store: orgstore.Tenants{DB: db}, Atomic: db, Secret: callwright.Secret(make([]byte, 32))})
			if err != nil {
				t.Fatal(err)
			}
		}
		s := services[0]
		org, err := s.CreateOrganization(t.Context(), "o", "Acme")
		if err != nil {
			t.Fatal(err)
		}
		key, err := s.CreateKey(t.Context(), org.ID, "ci", 0)
		if err != nil {
			t.Fatal(err)
		}
		made := make([]access.NewKey, times)
		wantOne(t, "rotations of a key", together(times, func(i int) (err error) {
			made[i], err = services[i%2].RotateKey(t.Context(), org.ID, key.Record.ID, time.Hour)
			return err
		}))
		page, err := s.Keys(t.Context(), org.ID, callwright.Keyset{}, 10)
		if err != nil || len(page.Items) != 2 {
			t.Errorf("the keys are %+v, %v", page.Items, err)
		}
		for _, k := range slices.Concat(made, []access.NewKey{key}) {
			if k.Key == "" {
				continue // this rotation was refused
			}
			if _, err := s.CheckKey(t.Context(), k.Key.Reveal()); err != nil {
				t.Errorf("a key after the rotation: %v", err)
			}
		}
		wantOne(t, "rotations of a webhook secret", together(times, func(i int) error {
			_, err := services[i%2].RotateWebhookSecret(t.Context(), org.ID, time.Hour)
			return err
		}))
		for _, err := range together(times, func(i int) error {
			_, err := services[i%2].UpdateOrganization(t.Context(), org.ID, access.OrganizationChange{
				Grant: []callwright.Entitlement{callwright.Entitlement(fmt.Sprint("R", i))},
			})
			return err
		}) {
			if err != nil {
				t.Error(err)
			}
		}
		now, err := s.Organization(t.Context(), org.ID)
		if err != nil || len(now.Entitlements) != times || now.PreviousWebhookSecret != org.WebhookSecret {
			t.Errorf("the organization has the entitlements %v, %v", now.Entitlements, err)
		}
	})
}

// TestSignInsAtOnce signs in concurrently with one key from two services, as two nodes would: the key never has more than
// access.MaxSessions sessions.
func TestSignInsAtOnce(t *testing.T) {
	t.Parallel()
	storetest.OnEach(t, func(t *testing.T, open func(*testing.T) *bunstore.DB) {
		const times = 12
		db := open(t)
		services := make([]*access.Service, 2)
		for i := range services {
			var err error
			services[i], err = access.New(access.Config{Store: orgstore.Tenants{DB: db}, Atomic: db, Secret: callwright.Secret(make([]byte, 32))})
			if err != nil {
				t.Fatal(err)
			}
		}
		org, err := services[0].CreateOrganization(t.Context(), "o", "Acme")
		if err != nil {
			t.Fatal(err)
		}
		key, err := services[0].CreateKey(t.Context(), org.ID, "ci", 0)
		if err != nil {
			t.Fatal(err)
		}
		old := time.Now().Add(-time.Hour)
		for i := range access.MaxSessions {
			id := fmt.Sprint("s", i)
			err := orgstore.Tenants{DB: db}.InsertSession(t.Context(), callwright.Session{
				ID: id, Org: org.ID, KeyID: key.Record.ID, Hash: []byte(id), CreatedAt: old, UsedAt: old,
			})
			if err != nil {
				t.Fatal(err)
			}
		}
		for _, err := range together(times, func(i int) error {
			token, _, err := services[i%2].SignIn(t.Context(), key.Key.Reveal())
			if err != nil {
				return err
			}
			_, _, err = services[(i+1)%2].Session(t.Context(), token)
			return err
		}) {
			if err != nil {
				t.Error(err)
			}
		}
		page, err := services[0].Sessions(t.Context(), org.ID, callwright.Keyset{}, access.MaxPage)
		if err != nil || len(page.Items) != access.MaxSessions {
			t.Errorf("there are %d sessions, %v", len(page.Items), err)
		}
	})
}

// TestKeyTakesOneStatement checks that a request with a key, and a request with a session, needs only one statement.
func TestKeyTakesOneStatement(t *testing.T) {
	t.Parallel()
	storetest.OnEach(t, func(t *testing.T, open func(*testing.T) *bunstore.DB) {
		db := open(t)
		s, err := access.New(access.Config{Store: orgstore.Tenants{DB: db}, Atomic: db, Secret: callwright.Secret(make([]byte, 32))})
		if err != nil {
			t.Fatal(err)
		}
		org, err := s.CreateOrganization(t.Context(), "o", "Acme", callwright.EntitlementSIP)
		if err != nil {
			t.Fatal(err)
		}
		key, err := s.CreateKey(t.Context(), org.ID, "ci", 0)
		if err != nil {
			t.Fatal(err)
		}
		var statements []string
		db.Core().Watch(func(statement string) { statements = append(statements, statement) })
		p, err := s.CheckKey(t.Context(), key.Key.Reveal())
		if err != nil || p.Org != org.ID || !p.Entitled(callwright.EntitlementSIP) || len(statements) != 1 {
			t.Errorf("got %+v, %v with %q", p, err, statements)
		}
		token, session, err := s.SignIn(t.Context(), key.Key.Reveal())
		if err != nil {
			t.Fatal(err)
		}
		statements = nil
		p, found, err := s.Session(t.Context(), token)
		if err != nil || found.ID != session.ID || p.Org != org.ID || !p.Entitled(callwright.EntitlementSIP) || len(statements) != 1 {
			t.Errorf("got %+v of %+v, %v with %q", p, found, err, statements)
		}
	})
}
