package access_test

import (
	"errors"
	"fmt"
	"log/slog"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/callwright/callwright"
	"github.com/callwright/callwright/access"
)

// wantError checks that err has the given code and, if it is a *callwright.Error, the given field.
func wantError(t *testing.T, what string, err error, code callwright.Code, field string) {
	t.Helper()
	e, _ := errors.AsType[*callwright.Error](err)
	if callwright.CodeOf(err) != code || e != nil && e.Field != field {
		t.Errorf("%s: got %v, want %s in %q", what, err, code, field)
	}
}

func TestCreateOrganizationRefuses(t *testing.T) {
	t.Parallel()
	h := newHouse(t)
	long := strings.Repeat("é", access.MaxName)
	for what, c := range map[string]struct {
		id    callwright.OrgID
		name  string
		right callwright.Entitlement
		field string
	}{
		"no name":          {"b", "", "SIP", "name"},
		"blanks":           {"b", " \u00a0", "SIP", "name"},
		"long name":        {"b", long + "x", "SIP", "name"},
		"escape sequence":  {"b", "A\x1b[31m", "SIP", "name"},
		"reversed":         {"b", "A\u202eb", "SIP", "name"},
		"no UTF-8":         {"b", "A\xff", "SIP", "name"},
		"slash in id":      {"a/b", "A", "SIP", "id"},
		"colon in id":      {"a:b", "A", "SIP", "id"},
		"hyphen first":     {"-b", "A", "SIP", "id"},
		"line end":         {"b\n", "A", "SIP", "id"},
		"long id":          {callwright.OrgID(strings.Repeat("b", 65)), "A", "SIP", "id"},
		"lower-case right": {"b", "A", "sip", "entitlements"},
		"no right":         {"b", "A", "", "entitlements"},
	} {
		_, err := h.CreateOrganization(t.Context(), c.id, c.name, c.right)
		wantError(t, what, err, callwright.CodeBadRequest, c.field)
	}
	if _, err := h.CreateOrganization(t.Context(), "b", long, "SIP", "SIP", "X_1"); err != nil {
		t.Error(err)
	}
	page, err := h.Organizations(t.Context(), callwright.Keyset{}, access.MaxPage)
	if err != nil || len(page.Items) != 2 || !slices.Equal(page.Items[0].Entitlements, []callwright.Entitlement{"SIP", "X_1"}) {
		t.Errorf("the organizations are %+v, %v", page, err)
	}
}

func TestUpdateOrganization(t *testing.T) {
	t.Parallel()
	h := newHouse(t)
	key := h.key(t, 0).Key.Reveal()
	name, mail, none := "Acme & Söhne", "noc+sip@acme.example", ""
	o, err := h.UpdateOrganization(t.Context(), h.org.ID, access.OrganizationChange{
		Name: &name, ContactEmail: &mail, Withdraw: []callwright.Entitlement{callwright.EntitlementSIP}, Grant: []callwright.Entitlement{"BETA"},
	})
	if err != nil || o.Name != name || o.ContactEmail != mail || !slices.Equal(o.Entitlements, []callwright.Entitlement{"BETA"}) || o.WebhookSecret != h.org.WebhookSecret {
		t.Errorf("got %+v, %v", o, err)
	}
	if p, err := h.CheckKey(t.Context(), key); err != nil || p.Entitled(callwright.EntitlementSIP) || !p.Entitled("BETA") {
		t.Errorf("the key has %+v, %v", p, err)
	}
	if o, err = h.UpdateOrganization(t.Context(), h.org.ID, access.OrganizationChange{ContactEmail: &none}); err != nil || o.ContactEmail != "" || o.Name != name {
		t.Errorf("got %+v, %v", o, err)
	}
	many := make([]callwright.Entitlement, access.MaxEntitlements)
	for i := range many {
		many[i] = callwright.Entitlement(fmt.Sprint("R", i))
	}
	bad := func(text string) *string { return &text }
	for field, changes := range map[string][]access.OrganizationChange{
		"name":          {{Name: bad("")}, {Name: bad("a\nb")}},
		"contact_email": {{ContactEmail: bad("noc")}, {ContactEmail: bad("Noc <noc@acme.example>")}, {ContactEmail: bad("a@b.example\r\nBcc: x@y.example")}},
		"entitlements":  {{Grant: many}, {Grant: many[:1], Withdraw: many[:1]}, {Withdraw: []callwright.Entitlement{"sip"}}},
	} {
		for _, c := range changes {
			_, err := h.UpdateOrganization(t.Context(), h.org.ID, c)
			wantError(t, fmt.Sprintf("%+v", c), err, callwright.CodeBadRequest, field)
		}
	}
	_, err = h.UpdateOrganization(t.Context(), "other", access.OrganizationChange{Name: &name})
	wantError(t, "no organization", err, callwright.CodeNotFound, "")
	if now, err := h.Organization(t.Context(), h.org.ID); err != nil || now.Name != name || len(now.Entitlements) != 1 {
		t.Errorf("refused changes made %+v, %v", now, err)
	}
}

// TestPages checks that the pages of organizations add up to all of them, that keys are listed newest first, and that invalid page sizes
// are refused.
func TestPages(t *testing.T) {
	t.Parallel()
	h := newHouse(t)
	for range 4 {
		h.clock.now = h.clock.now.Add(time.Second)
		if _, err := h.CreateOrganization(t.Context(), "", "B"); err != nil {
			t.Fatal(err)
		}
		h.key(t, 0)
	}
	seen := 0
	for after := (callwright.Keyset{}); ; {
		page, err := h.Organizations(t.Context(), after, 2)
		if err != nil {
			t.Fatal(err)
		}
		if seen += len(page.Items); page.Next.IsZero() {
			break
		}
		after = page.Next
	}
	page, err := h.Keys(t.Context(), h.org.ID, callwright.Keyset{}, 4)
	if err != nil || seen != 5 || len(page.Items) != 4 || !page.Next.IsZero() || !page.Items[0].CreatedAt.After(page.Items[3].CreatedAt) {
		t.Errorf("%d organizations, the keys are %+v, %v", seen, page, err)
	}
	for _, limit := range []int{-1, 0, access.MaxPage + 1} {
		_, err := h.Organizations(t.Context(), callwright.Keyset{}, limit)
		wantError(t, "a wrong limit", err, callwright.CodeBadRequest, "limit")
	}
	_, err = h.Keys(t.Context(), "other", callwright.Keyset{}, 1)
	wantError(t, "no organization", err, callwright.CodeNotFound, "")
}

func TestCreateKeyRefuses(t *testing.T) {
	t.Parallel()
	h := newHouse(t)
	for _, name := range []string{"", " ", "a\x00", "a\u200b", strings.Repeat("n", access.MaxName+1)} {
		_, err := h.CreateKey(t.Context(), h.org.ID, name, 0)
		wantError(t, "a wrong name", err, callwright.CodeBadRequest, "name")
	}
	for _, lifetime := range []time.Duration{-1, access.MaxLifetime + 1} {
		_, err := h.CreateKey(t.Context(), h.org.ID, "ci", lifetime)
		wantError(t, "a wrong lifetime", err, callwright.CodeBadRequest, "lifetime")
	}
}

// TestKeyNames checks that KeyNames also returns the names of revoked keys, omits absent keys, and refuses more than MaxPage ids.
func TestKeyNames(t *testing.T) {
	t.Parallel()
	h := newHouse(t)
	key := h.key(t, 0)
	if err := h.RevokeKey(t.Context(), h.org.ID, key.Record.ID); err != nil {
		t.Fatal(err)
	}
	got, err := h.KeyNames(t.Context(), h.org.ID, []string{"absent", key.Record.ID})
	if err != nil || len(got) != 1 || got[key.Record.ID] != key.Record.Name {
		t.Errorf("got %v, %v", got, err)
	}
	if got, err := h.KeyNames(t.Context(), h.org.ID, nil); err != nil || len(got) != 0 {
		t.Errorf("of none: %v, %v", got, err)
	}
	_, err = h.KeyNames(t.Context(), h.org.ID, make([]string, access.MaxPage+1))
	wantError(t, "too many ids", err, callwright.CodeBadRequest, "ids")
}

func TestKeysAreBounded(t *testing.T) {
	t.Parallel()
	h := newHouse(t)
	first := h.key(t, 0)
	brief := h.key(t, time.Hour)
	for i := range access.MaxKeys - 2 {
		id := fmt.Sprint("k", i)
		if err := h.tenants.InsertKey(t.Context(), callwright.APIKey{ID: id, Prefix: id, Org: h.org.ID}); err != nil {
			t.Fatal(err)
		}
	}
	_, err := h.CreateKey(t.Context(), h.org.ID, "more", 0)
	wantError(t, "one more", err, callwright.CodeTooManyRequests, "")
	_, err = h.RotateKey(t.Context(), h.org.ID, first.Record.ID, time.Hour)
	wantError(t, "a rotation with overlap", err, callwright.CodeTooManyRequests, "")
	if _, err := h.CheckKey(t.Context(), first.Key.Reveal()); err != nil {
		t.Errorf("after a rotation that failed: %v", err)
	}
	if _, err := h.RotateKey(t.Context(), h.org.ID, first.Record.ID, 0); err != nil {
		t.Errorf("a rotation without overlap: %v", err)
	}
	h.clock.now = *brief.Record.ExpiresAt
	h.key(t, 0)
}

func TestRotateKey(t *testing.T) {
	t.Parallel()
	h := newHouse(t)
	works := func(what string, k access.NewKey, want bool) {
		t.Helper()
		if _, err := h.CheckKey(t.Context(), k.Key.Reveal()); (err == nil) != want {
			t.Errorf("%s gave %v", what, err)
		}
	}
	old := h.key(t, 30*24*time.Hour)
	h.clock.now = h.clock.now.Add(24 * time.Hour)
	next, err := h.RotateKey(t.Context(), h.org.ID, old.Record.ID, time.Hour)
	if err != nil || next.Record.Name != "ci" || next.Record.ExpiresAt == nil || next.Record.ExpiresAt.Sub(next.Record.CreatedAt) != 30*24*time.Hour {
		t.Fatalf("got %+v, %v", next, err)
	}
	works("the old key within the overlap", old, true)
	works("the new key", next, true)
	_, err = h.RotateKey(t.Context(), h.org.ID, old.Record.ID, time.Hour)
	wantError(t, "the same again", err, callwright.CodeInvalidState, "")
	if err == nil || !strings.Contains(err.Error(), next.Record.ID) {
		t.Errorf("%v does not name the successor", err)
	}
	third, err := h.RotateKey(t.Context(), h.org.ID, next.Record.ID, 0)
	if err != nil {
		t.Fatal(err)
	}
	works("a key without overlap", next, false)
	works("its successor", third, true)
	works("the first one", old, true)
	h.clock.now = h.clock.now.Add(time.Hour)
	works("the old key after the overlap", old, false)

	if err := h.RevokeKey(t.Context(), h.org.ID, third.Record.ID); err != nil {
		t.Fatal(err)
	}
	for what, id := range map[string]string{"a revoked key": third.Record.ID, "an expired key": next.Record.ID} {
		_, err = h.RotateKey(t.Context(), h.org.ID, id, time.Hour)
		wantError(t, what, err, callwright.CodeInvalidState, "")
	}
	works("the revoked key", third, false)

	soon := h.key(t, time.Hour)
	if _, err := h.RotateKey(t.Context(), h.org.ID, soon.Record.ID, access.MaxOverlap); err != nil {
		t.Fatal(err)
	}
	h.clock.now = *soon.Record.ExpiresAt
	works("a key that expires within the overlap", soon, false)
	if forever, err := h.RotateKey(t.Context(), h.org.ID, h.key(t, 0).Record.ID, 0); err != nil || forever.Record.ExpiresAt != nil {
		t.Errorf("the successor of a key that does not expire is %+v, %v", forever, err)
	}
}

// TestRevokedKeyStaysRevoked revokes a rotated key twice during its overlap: the key is refused, and RevokedAt keeps the time of the first
// revocation.
func TestRevokedKeyStaysRevoked(t *testing.T) {
	t.Parallel()
	h := newHouse(t)
	old := h.key(t, 0)
	if _, err := h.RotateKey(t.Context(), h.org.ID, old.Record.ID, time.Hour); err != nil {
		t.Fatal(err)
	}
	at := h.clock.now
	for range 2 {
		if err := h.RevokeKey(t.Context(), h.org.ID, old.Record.ID); err != nil {
			t.Fatal(err)
		}
		if _, err := h.CheckKey(t.Context(), old.Key.Reveal()); !errors.Is(err, callwright.ErrAuthFailure) {
			t.Errorf("the key gave %v", err)
		}
		h.clock.now = h.clock.now.Add(time.Minute)
	}
	if k, err := h.tenants.Key(t.Context(), h.org.ID, old.Record.ID); err != nil || k.RevokedAt == nil || !k.RevokedAt.Equal(at) {
		t.Errorf("the record is %+v, %v", k, err)
	}
}

func TestRotateKeyRefuses(t *testing.T) {
	t.Parallel()
	h := newHouse(t)
	id := h.key(t, 0).Record.ID
	other, err := h.CreateOrganization(t.Context(), "other", "Other")
	if err != nil {
		t.Fatal(err)
	}
	for _, org := range []callwright.OrgID{other.ID, "absent"} {
		_, err := h.RotateKey(t.Context(), org, id, 0)
		wantError(t, "another organization's key", err, callwright.CodeNotFound, "")
		if err == nil || err.Error() != "API key not found" {
			t.Errorf("another organization's key gave %v", err)
		}
	}
	_, err = h.RotateKey(t.Context(), h.org.ID, "absent", 0)
	wantError(t, "an absent key", err, callwright.CodeNotFound, "")
	for _, overlap := range []time.Duration{-1, access.MaxOverlap + 1} {
		_, err := h.RotateKey(t.Context(), h.org.ID, id, overlap)
		wantError(t, "a wrong overlap", err, callwright.CodeBadRequest, "overlap")
		_, err = h.RotateWebhookSecret(t.Context(), h.org.ID, overlap)
		wantError(t, "a wrong overlap", err, callwright.CodeBadRequest, "overlap")
	}
	_, err = h.RotateWebhookSecret(t.Context(), "absent", 0)
	wantError(t, "an absent organization", err, callwright.CodeNotFound, "")
}

func TestRotateWebhookSecret(t *testing.T) {
	t.Parallel()
	h := newHouse(t)
	first := h.org.WebhookSecret
	signs := func(what string, want ...callwright.Secret) {
		t.Helper()
		o, err := h.Organization(t.Context(), h.org.ID)
		if got := o.WebhookSecrets(h.clock.now); err != nil || !slices.Equal(got, want) {
			t.Errorf("%s: %d secrets sign, %v", what, len(got), err)
		}
	}
	signs("before", first)
	o, err := h.RotateWebhookSecret(t.Context(), h.org.ID, time.Hour)
	if err != nil || o.WebhookSecret == first || !strings.HasPrefix(o.WebhookSecret.Reveal(), "whsec_") || o.Name != h.org.Name {
		t.Fatalf("got %+v, %v", o, err)
	}
	second := o.WebhookSecret
	signs("within the overlap", second, first)
	_, err = h.RotateWebhookSecret(t.Context(), h.org.ID, time.Hour)
	wantError(t, "again within the overlap", err, callwright.CodeInvalidState, "")
	signs("after the refusal", second, first)
	h.clock.now = h.clock.now.Add(time.Hour)
	signs("after the overlap", second)
	if o, err = h.RotateWebhookSecret(t.Context(), h.org.ID, time.Hour); err != nil {
		t.Fatal(err)
	}
	signs("a second rotation", o.WebhookSecret, second)
	if o, err = h.RotateWebhookSecret(t.Context(), h.org.ID, 0); err != nil || o.PreviousWebhookSecret != "" || o.PreviousWebhookEnds != nil {
		t.Fatalf("got %+v, %v", o, err)
	}
	signs("without an overlap", o.WebhookSecret)
}

// TestNothingShowsSecrets checks that neither formatted output nor the log contains a key or a webhook secret.
func TestNothingShowsSecrets(t *testing.T) {
	t.Parallel()
	h := newHouse(t)
	k, keyErr := h.RotateKey(t.Context(), h.org.ID, h.key(t, 0).Record.ID, time.Hour)
	o, secretErr := h.RotateWebhookSecret(t.Context(), h.org.ID, time.Hour)
	if err := errors.Join(keyErr, secretErr); err != nil {
		t.Fatal(err)
	}
	var log strings.Builder
	logger := slog.New(slog.NewJSONHandler(&log, nil))
	logger.InfoContext(t.Context(), "made", "key", k, "organization", o, "secret", o.WebhookSecret)
	logger = slog.New(slog.NewTextHandler(&log, nil))
	logger.InfoContext(t.Context(), "made", "key", k, "organization", o, "secret", o.WebhookSecret)
	for _, format := range []string{"%v", "%+v", "%#v", "%s", "%q", "%x", "%d"} {
		_, _ = fmt.Fprintf(&log, format+format+format, k, o, h.Service)
	}
	for _, secret := range []string{strings.TrimPrefix(k.Key.Reveal(), k.Record.Prefix), o.WebhookSecret.Reveal(), o.PreviousWebhookSecret.Reveal()} {
		if strings.Contains(log.String(), secret) || strings.Contains(log.String(), fmt.Sprintf("%x", secret)) {
			t.Errorf("%s is shown", secret)
		}
	}
}
