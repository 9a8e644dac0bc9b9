package settings_test

import (
	"net/http"
	"net/url"
	"slices"
	"strings"
	"testing"

	"github.com/callwright/callwright"
	"github.com/callwright/callwright/access"
)

// grant changes the organization acme, for example to grant or revoke the operator entitlement.
func (h *house) grant(change access.OrganizationChange) {
	h.t.Helper()
	if _, err := h.access.UpdateOrganization(h.t.Context(), "acme", change); err != nil {
		h.t.Fatal(err)
	}
}

var operators = []callwright.Entitlement{callwright.EntitlementOperator}

func TestOrganizations(t *testing.T) {
	t.Parallel()
	h := open(t)
	h.grant(access.OrganizationChange{Grant: operators})
	h.get("/settings", `href="/settings/organizations"`, "OPERATOR")
	list := h.get("/settings/organizations", "Acme &lt;b&gt;", "(yours)", `href="/settings/organizations/other"`, `aria-current="page">Organizations`)
	one := h.get("/settings/organizations/other", "Active API keys", "<dd>1</dd>", `aria-current="page">Organizations`)
	for _, org := range []callwright.OrgID{"acme", "other"} {
		o, err := h.access.Organization(t.Context(), org)
		if err != nil {
			t.Fatal(err)
		}
		if shown := list + one; strings.Contains(shown, o.WebhookSecret.Reveal()) || strings.Contains(shown, h.other.Prefix) {
			t.Errorf("a secret of %s is shown", org)
		}
	}

	const from, to = "/settings/organizations", "/settings/organizations/beta"
	for field, form := range map[string]url.Values{
		"id":          {"id": {"a/b"}, "name": {"Beta"}},
		"name":        {"id": {"beta"}, "name": {" "}},
		"entitlement": {"id": {"beta"}, "name": {"Beta"}, "entitlement": {"OPERATOR"}},
	} {
		h.post(from, from, form, http.StatusUnprocessableEntity, `id="fault-`+field+`"`)
	}
	key := h.shown(h.post(from, from, url.Values{"id": {"beta"}, "name": {"Beta <b>"}, "entitlement": {"SIP"}}, http.StatusOK, "never again", "Beta &lt;b&gt;"))
	if who, err := h.access.CheckKey(t.Context(), key); err != nil || who.Org != "beta" || !slices.Equal(who.Entitlements, []callwright.Entitlement{"SIP"}) {
		t.Errorf("the key is of %+v, %v", who, err)
	}
	h.post(from, from, url.Values{"id": {"beta"}, "name": {"Again"}}, http.StatusUnprocessableEntity, `id="fault-id"`)
	h.get(to, `value="SIP" checked`)
	h.post(to, to, url.Values{"name": {"Gamma"}}, http.StatusOK, "The organization is changed.", "<h1>Gamma</h1>", `value="SIP">`)
	h.post(to, to, url.Values{"name": {""}, "entitlement": {"SIP"}}, http.StatusUnprocessableEntity, `id="fault-name"`, `value="SIP" checked`)
	h.post(to, to, url.Values{"name": {"Gamma"}, "default_country": {"us"}}, http.StatusOK, `name="default_country" maxlength="2" value="US"`)
	h.post(to, to, url.Values{"name": {"Gamma"}, "default_country": {"XX"}}, http.StatusUnprocessableEntity, `id="fault-default_country"`, `value="XX"`)
	h.get(to, `name="max_numbers" inputmode="numeric" maxlength="7" value="1000"`)
	h.post(to, to, url.Values{"name": {"Gamma"}, "max_numbers": {"20"}}, http.StatusOK, `maxlength="7" value="20"`)
	for _, bad := range []string{"x", "-1", "1000001"} {
		h.post(to, to, url.Values{"name": {"Gamma"}, "max_numbers": {bad}}, http.StatusUnprocessableEntity, `id="fault-max_numbers"`)
	}
	h.post(to, "/settings/organizations/absent", url.Values{"name": {"Gamma"}}, http.StatusNotFound)
}

// TestOrganizationsAreForOperators checks that readers without the operator entitlement can neither see nor change organizations, including
// readers whose entitlement was revoked.
func TestOrganizationsAreForOperators(t *testing.T) {
	t.Parallel()
	h := open(t)
	h.get("/settings", "everything its organization may. Give each")
	try := func(when string) {
		t.Helper()
		if strings.Contains(h.get("/settings"), "/settings/organizations") {
			t.Errorf("%s the menu names organizations", when)
		}
		for _, path := range []string{"/settings/organizations", "/settings/organizations/acme", "/settings/organizations/other", "/settings/organizations/absent"} {
			h.do(http.MethodGet, path, nil, http.StatusNotFound, "Page not found")
			h.post("/settings", path, url.Values{"id": {"evil"}, "name": {"Evil"}, "entitlement": {"OPERATOR", "SIP"}}, http.StatusNotFound, "Page not found")
		}
	}
	try("before")
	h.grant(access.OrganizationChange{Grant: operators})
	h.get("/settings/organizations")
	h.do(http.MethodPost, "/settings/organizations", strings.NewReader("name=Evil"), http.StatusForbidden)
	h.post("/settings", "/settings/organizations/acme", url.Values{"name": {"Acme"}, "entitlement": {"OPERATOR"}}, http.StatusUnprocessableEntity)
	h.grant(access.OrganizationChange{Withdraw: operators})
	try("after")
	found, err := h.access.Organizations(t.Context(), callwright.Keyset{}, 10)
	if err != nil || len(found.Items) != 2 {
		t.Errorf("there are %d organizations, %v", len(found.Items), err)
	}
	for _, o := range found.Items {
		if len(o.Entitlements) > 0 || o.Name == "Evil" {
			t.Errorf("%s has become %+v", o.ID, o)
		}
	}
}

// TestOwnKey checks that a reader who revokes their own key is signed out with a notice.
func TestOwnKey(t *testing.T) {
	t.Parallel()
	h := open(t)
	h.get("/settings", "Revoke your own key", "not yet", "never")
	h.post("/settings", "/settings/keys/"+h.own.ID+"/revoke", url.Values{}, http.StatusOK, "Sign in", "Your key is revoked")
}
