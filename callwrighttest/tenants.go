package callwrighttest

import (
	"errors"
	"maps"
	"reflect"
	"testing"
	"time"

	"github.com/callwright/callwright"
)

// RunTenants tests a callwright.Tenants. newStore must return an empty store. atRest returns everything that the store wrote outside of the
// process; it is nil if the store keeps everything in memory.
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
		keepsTenant(t, filled(t), org, key)
	})
	t.Run("encrypts secrets", func(t *testing.T) {
		t.Parallel()
		encryptsTenant(t, newStore(t), org, atRest)
	})
	t.Run("replaces an organization", func(t *testing.T) {
		t.Parallel()
		replacesOrganization(t, filled(t), org, at)
	})
	t.Run("does not find what is absent", func(t *testing.T) {
		t.Parallel()
		findsNoStranger(t, filled(t), at)
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
	t.Run("replaces a key once", func(t *testing.T) {
		t.Parallel()
		replacesKeyOnce(t, filled(t), key)
	})
	t.Run("keeps the last use", func(t *testing.T) {
		t.Parallel()
		keepsLastUse(t, filled(t), at)
	})
	t.Run("pages", func(t *testing.T) {
		t.Parallel()
		pagesTenants(t, newStore(t), at)
	})
	t.Run("counts keys in force", func(t *testing.T) {
		t.Parallel()
		countsKeys(t, filled(t), key)
	})
	runSessions(t, filled, key)
}

func revokesOnce(t *testing.T, s callwright.Tenants, at time.Time) {
	for _, when := range []time.Time{at, at.Add(time.Minute)} {
		if err := s.RevokeKey(t.Context(), "a", "k1", when); err != nil {
			t.Fatal(err)
		}
	}
	if got, _, err := s.KeyByPrefix(t.Context(), "cwk_abc"); err != nil || got.RevokedAt == nil || !got.RevokedAt.Equal(at) {
		t.Errorf("got %+v, %v; want it revoked at %s", got, err, at)
	}
}

// tenant returns an organization with a value in every field, and one of its keys, which is neither replaced nor revoked.
func tenant(at time.Time) (callwright.Organization, callwright.APIKey) {
	end, used, previousEnd := at.Add(time.Hour), at.Add(time.Minute), at.Add(24*time.Hour)
	return callwright.Organization{
			ID: "a", Name: "Acme & Söhne", Entitlements: []callwright.Entitlement{callwright.EntitlementSIP},
			WebhookSecret: "whsec_x", ContactEmail: "ops+sip@acme.example", Region: "eu1", CreatedAt: at, DefaultCountry: "US", MaxNumbers: 25,
			PreviousWebhookSecret: "whsec_w", PreviousWebhookEnds: &previousEnd,
		}, callwright.APIKey{
			ID: "k1", Org: "a", Name: "ci", Prefix: "cwk_abc", Hash: []byte{0, 1, 255}, CreatedAt: at, ExpiresAt: &end,
			LastUsedAt: &used,
		}
}

func encryptsTenant(t *testing.T, s callwright.Tenants, org callwright.Organization, atRest AtRest[callwright.Tenants]) {
	org.ID, org.WebhookSecret, org.PreviousWebhookSecret = VisibleID, "hunter2-hook", "hunter2-past"
	atRest.Check(t, s, func() error {
		return errors.Join(s.InsertOrganization(t.Context(), org), s.UpdateOrganization(t.Context(), org))
	}, "hunter2-hook", "hunter2-past")
}

func keepsTenant(t *testing.T, s callwright.Tenants, org callwright.Organization, key callwright.APIKey) {
	if got, err := s.Organization(t.Context(), "a"); err != nil || !reflect.DeepEqual(got, org) {
		t.Errorf("got %+v, %v; want %+v", got, err, org)
	}
	byPrefix, owner, err := s.KeyByPrefix(t.Context(), "cwk_abc")
	if err != nil || !reflect.DeepEqual(byPrefix, key) || !reflect.DeepEqual(owner, org) {
		t.Errorf("got %+v of %+v, %v; want %+v of %+v", byPrefix, owner, err, key, org)
	}
	if got, err := s.Key(t.Context(), "a", "k1"); err != nil || !reflect.DeepEqual(got, key) {
		t.Errorf("got %+v, %v; want %+v", got, err, key)
	}
	if got, err := s.KeyNames(t.Context(), "a", []string{"k2", "k1", "k1"}); err != nil || !maps.Equal(got, map[string]string{"k1": key.Name}) {
		t.Errorf("the names are %v, %v", got, err)
	}
}

func replacesOrganization(t *testing.T, s callwright.Tenants, org callwright.Organization, at time.Time) {
	other := org
	other.ID = "b"
	changed := callwright.Organization{
		ID: "a", Name: "Acme", Entitlements: []callwright.Entitlement{}, WebhookSecret: "whsec_y",
		ContactEmail: "noc@acme.example", CreatedAt: at.Add(time.Hour), PreviousWebhookSecret: "whsec_x", PreviousWebhookEnds: &at,
	}
	if err := errors.Join(s.InsertOrganization(t.Context(), other), s.UpdateOrganization(t.Context(), changed)); err != nil {
		t.Fatal(err)
	}
	for _, want := range []callwright.Organization{changed, other} {
		if got, err := s.Organization(t.Context(), want.ID); err != nil || !reflect.DeepEqual(got, want) {
			t.Errorf("got %+v, %v; want %+v", got, err, want)
		}
		if got, err := s.HoldOrganization(t.Context(), want.ID); err != nil || !reflect.DeepEqual(got, want) {
			t.Errorf("held is %+v, %v; want %+v", got, err, want)
		}
	}
}

func findsNoStranger(t *testing.T, s callwright.Tenants, at time.Time) {
	_, orgErr := s.Organization(t.Context(), "b")
	_, heldErr := s.HoldOrganization(t.Context(), "b")
	_, _, keyErr := s.KeyByPrefix(t.Context(), "cwk_ab")
	_, foreignErr := s.Key(t.Context(), "b", "k1")
	_, absentErr := s.Key(t.Context(), "a", "k2")
	replaceErr := s.ReplaceKey(t.Context(), "b", "k1", "k2", at)
	revokeErr := s.RevokeKey(t.Context(), "b", "k1", at)
	updateErr := s.UpdateOrganization(t.Context(), callwright.Organization{ID: "b"})
	for _, err := range []error{orgErr, heldErr, keyErr, foreignErr, absentErr, replaceErr, revokeErr, updateErr} {
		if !errors.Is(err, callwright.ErrNotFound) {
			t.Errorf("got %v, want not found", err)
		}
	}
	if names, err := s.KeyNames(t.Context(), "b", []string{"k1"}); err != nil || len(names) > 0 {
		t.Errorf("another organization sees the names %v, %v", names, err)
	}
	if keys, err := s.Keys(t.Context(), "b", callwright.Keyset{}, 10); err != nil || len(keys) > 0 {
		t.Errorf("another organization has the keys %+v, %v", keys, err)
	}
	if err := s.TouchKey(t.Context(), "k2", at, time.Minute); err != nil {
		t.Errorf("the use of an absent key gave %v", err)
	}
}
