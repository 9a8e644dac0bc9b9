package callwrighttest

import (
	"errors"
	"fmt"
	"reflect"
	"sync"
	"testing"
	"time"

	"github.com/callwright/callwright"
)

// replacesKeyOnce checks that exactly one of several concurrent replacements of a key succeeds, while another call revokes the key.
func replacesKeyOnce(t *testing.T, s callwright.Tenants, key callwright.APIKey) {
	const tries = 5
	ends := key.CreatedAt.Add(time.Minute)
	results := make([]error, tries)
	var all sync.WaitGroup
	for i := range tries {
		all.Go(func() { results[i] = s.ReplaceKey(t.Context(), key.Org, key.ID, fmt.Sprint("new", i), ends) })
	}
	all.Go(func() {
		if err := s.RevokeKey(t.Context(), key.Org, key.ID, key.CreatedAt); err != nil {
			t.Error(err)
		}
	})
	all.Wait()
	won := ""
	for i, err := range results {
		switch {
		case err == nil && won == "":
			won = fmt.Sprint("new", i)
		case !errors.Is(err, callwright.ErrConflict):
			t.Errorf("replacing it again gave %v, want a conflict", err)
		}
	}
	want := key
	want.ReplacedBy, want.ExpiresAt, want.RevokedAt = won, &ends, &key.CreatedAt
	if got, err := s.Key(t.Context(), key.Org, key.ID); err != nil || won == "" || !reflect.DeepEqual(got, want) {
		t.Errorf("got %+v, %v; want %+v", got, err, want)
	}
}

// keepsLastUse checks which uses TouchKey stores, with an interval of one minute. The key was last used one minute after the time at.
func keepsLastUse(t *testing.T, s callwright.Tenants, at time.Time) {
	for _, step := range []struct{ use, want time.Duration }{
		{0, time.Minute},                        // before the last use
		{2*time.Minute - 1000, time.Minute},     // less than a minute after it
		{2 * time.Minute, 2 * time.Minute},      // exactly a minute after it
		{2*time.Minute + 1000, 2 * time.Minute}, // less than a minute after it
		{time.Hour, time.Hour},                  // much later
		{time.Hour - 2*time.Minute, time.Hour},  // late call of another node
	} {
		if err := s.TouchKey(t.Context(), "k1", at.Add(step.use), time.Minute); err != nil {
			t.Fatal(err)
		}
		got, err := s.Key(t.Context(), "a", "k1")
		if err != nil || got.LastUsedAt == nil || !got.LastUsedAt.Equal(at.Add(step.want)) {
			t.Errorf("after a use at %s: got %+v, %v", step.use, got, err)
		}
	}
}

// insertOrganization adds an organization, because keys and sessions require one.
func insertOrganization(t *testing.T, s callwright.Tenants, id callwright.OrgID, at time.Time) {
	t.Helper()
	org := callwright.Organization{ID: id, Entitlements: []callwright.Entitlement{}, CreatedAt: at}
	if err := s.InsertOrganization(t.Context(), org); err != nil {
		t.Fatal(err)
	}
}

// pagesTenants checks that organizations, and the keys of an organization, are listed completely in pages of several sizes.
func pagesTenants(t *testing.T, s callwright.Tenants, at time.Time) {
	times := []time.Duration{0, time.Second, time.Second, time.Second, time.Minute} // three are equal
	for i, later := range times {
		insertOrganization(t, s, callwright.OrgID(fmt.Sprint("id", i)), at.Add(later))
	}
	for i, later := range times {
		id, created := fmt.Sprint("id", i), at.Add(later)
		own := callwright.APIKey{ID: id, Org: "id0", Prefix: id, Hash: []byte{1}, CreatedAt: created}
		foreign := callwright.APIKey{ID: "x" + id, Org: "id1", Prefix: "x" + id, Hash: []byte{1}, CreatedAt: created}
		if err := errors.Join(s.InsertKey(t.Context(), own), s.InsertKey(t.Context(), foreign)); err != nil {
			t.Fatal(err)
		}
	}
	want := []string{"id4", "id3", "id2", "id1", "id0"}
	for _, size := range []int{1, 2, 5, 9} {
		var orgs, keys []string
		for after := (callwright.Keyset{}); ; {
			page, err := s.Organizations(t.Context(), after, size)
			if err != nil {
				t.Fatal(err)
			}
			for _, o := range page {
				orgs = append(orgs, string(o.ID))
				after = callwright.Keyset{At: o.CreatedAt, ID: string(o.ID)}
			}
			if len(page) < size {
				break
			}
		}
		for after := (callwright.Keyset{}); ; {
			page, err := s.Keys(t.Context(), "id0", after, size)
			if err != nil {
				t.Fatal(err)
			}
			for _, k := range page {
				keys = append(keys, k.ID)
				after = callwright.Keyset{At: k.CreatedAt, ID: k.ID}
			}
			if len(page) < size {
				break
			}
		}
		if !reflect.DeepEqual(orgs, want) || !reflect.DeepEqual(keys, want) {
			t.Errorf("pages of %d: the organizations are %v, the keys %v", size, orgs, keys)
		}
	}
}

// countsKeys checks that CountKeys counts only an organization's own keys that are neither expired nor revoked.
func countsKeys(t *testing.T, s callwright.Tenants, key callwright.APIKey) {
	forever, foreign := key, key
	forever.ID, forever.Prefix, forever.ExpiresAt = "k2", "cwk_k2", nil
	foreign.ID, foreign.Prefix, foreign.Org = "k3", "cwk_k3", "b"
	insertOrganization(t, s, foreign.Org, foreign.CreatedAt)
	if err := errors.Join(s.InsertKey(t.Context(), forever), s.InsertKey(t.Context(), foreign)); err != nil {
		t.Fatal(err)
	}
	count := func(when time.Time, want int) {
		t.Helper()
		if n, err := s.CountKeys(t.Context(), key.Org, when); err != nil || n != want {
			t.Errorf("counted %d at %s, %v; want %d", n, when, err, want)
		}
	}
	count(key.ExpiresAt.Add(-time.Second), 2)
	count(*key.ExpiresAt, 1)
	if err := s.RevokeKey(t.Context(), key.Org, "k2", key.CreatedAt); err != nil {
		t.Fatal(err)
	}
	count(*key.ExpiresAt, 0)
}
