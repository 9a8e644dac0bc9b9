package callwrighttest

import (
	"errors"
	"reflect"
	"testing"
	"time"

	"github.com/callwright/callwright"
)

// RunTenants tests a callwright.Tenants. newStore gives an empty one, and atRest what that has written to a disk or a
// server; nil: it writes nothing.
func RunTenants(
	t *testing.T, newStore func(t *testing.T) callwright.Tenants, atRest AtRest[callwright.Tenants],
) {
	t.Helper()
	at := time.Date(2026, 5, 4, 3, 2, 1, 123456000, time.UTC)
	org, key := tenant(at)
	filled := func(t *testing.T) callwright.Tenants {
		t.Helper()
		s := newStore(t)
		if err := errors.Join(s.InsertOrganization(t.Context(), org), s.InsertKey(t.Context(), key)); err != nil {
			t.Fatal(err)
		}
		return s
	}
	t.Run("keeps every field", func(t *testing.T) {
		t.Parallel()
		s := filled(t)
		if got, err := s.Organization(t.Context(), "a"); err != nil || !reflect.DeepEqual(got, org) {
			t.Errorf("got %+v, %v; want %+v", got, err, org)
		}
		if got, err := s.KeyByPrefix(t.Context(), "cwk_abc"); err != nil || !reflect.DeepEqual(got, key) {
			t.Errorf("got %+v, %v; want %+v", got, err, key)
		}
	})
	t.Run("encrypts secrets", func(t *testing.T) {
		t.Parallel()
		encryptsTenant(t, newStore(t), org, atRest)
	})
	t.Run("replaces an organization", func(t *testing.T) {
		t.Parallel()
		s := filled(t)
		other := org
		other.ID = "b"
		changed := callwright.Organization{
			ID: "a", Name: "Acme", Entitlements: []callwright.Entitlement{}, WebhookSecret: "whsec_y",
			ContactEmail: "noc@acme.example", CreatedAt: at.Add(time.Hour),
		}
		if err := errors.Join(s.InsertOrganization(t.Context(), other), s.UpdateOrganization(t.Context(), changed)); err != nil {
			t.Fatal(err)
		}
		for _, want := range []callwright.Organization{changed, other} {
			if got, err := s.Organization(t.Context(), want.ID); err != nil || !reflect.DeepEqual(got, want) {
				t.Errorf("got %+v, %v; want %+v", got, err, want)
			}
		}
	})
	t.Run("does not find what is absent", func(t *testing.T) {
		t.Parallel()
		s := filled(t)
		_, orgErr := s.Organization(t.Context(), "b")
		_, keyErr := s.KeyByPrefix(t.Context(), "cwk_ab")
		revokeErr := s.RevokeKey(t.Context(), "b", "k1", at)
		updateErr := s.UpdateOrganization(t.Context(), callwright.Organization{ID: "b"})
		for _, err := range []error{orgErr, keyErr, revokeErr, updateErr} {
			if !errors.Is(err, callwright.ErrNotFound) {
				t.Errorf("got %v, want not found", err)
			}
		}
	})
	t.Run("refuses what is taken", func(t *testing.T) {
		t.Parallel()
		s := filled(t)
		samePrefix, sameID := key, key
		samePrefix.ID, sameID.Prefix = "k2", "cwk_xyz"
		for _, err := range []error{
			s.InsertOrganization(t.Context(), org),
			s.InsertKey(t.Context(), samePrefix), s.InsertKey(t.Context(), sameID),
		} {
			if !errors.Is(err, callwright.ErrConflict) {
				t.Errorf("got %v, want a conflict", err)
			}
		}
	})
	t.Run("revokes once", func(t *testing.T) {
		t.Parallel()
		revokesOnce(t, filled(t), at)
	})
}

func revokesOnce(t *testing.T, s callwright.Tenants, at time.Time) {
	for _, when := range []time.Time{at, at.Add(time.Minute)} {
		if err := s.RevokeKey(t.Context(), "a", "k1", when); err != nil {
			t.Fatal(err)
		}
	}
	if got, err := s.KeyByPrefix(t.Context(), "cwk_abc"); err != nil || got.RevokedAt == nil || !got.RevokedAt.Equal(at) {
		t.Errorf("got %+v, %v; want it revoked at %s", got, err, at)
	}
}

// tenant returns an organization and a key of it, with something in every field.
func tenant(at time.Time) (callwright.Organization, callwright.APIKey) {
	end := at.Add(time.Hour)
	return callwright.Organization{
			ID: "a", Name: "Acme & Söhne", Entitlements: []callwright.Entitlement{callwright.EntitlementSIP},
			WebhookSecret: "whsec_x", ContactEmail: "ops+sip@acme.example", Region: "eu1", CreatedAt: at,
		}, callwright.APIKey{
			ID: "k1", Org: "a", Name: "ci", Prefix: "cwk_abc", Hash: []byte{0, 1, 255}, CreatedAt: at, ExpiresAt: &end,
		}
}

func encryptsTenant(t *testing.T, s callwright.Tenants, org callwright.Organization, atRest AtRest[callwright.Tenants]) {
	org.ID, org.WebhookSecret = VisibleID, "hunter2-hook"
	atRest.Check(t, s, func() error {
		return errors.Join(s.InsertOrganization(t.Context(), org), s.UpdateOrganization(t.Context(), org))
	}, "hunter2-hook")
}
