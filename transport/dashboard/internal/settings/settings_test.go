package settings_test

import (
	"context"
	"html"
	"io"
	"net/http"
	"net/http/cookiejar"
	"net/http/httptest"
	"net/url"
	"regexp"
	"strings"
	"testing"

	"github.com/callwright/callwright"
	"github.com/callwright/callwright/access"
	"github.com/callwright/callwright/adapters/memstore"
	"github.com/callwright/callwright/adapters/memstore/orgstore"
	"github.com/callwright/callwright/delivery"
	"github.com/callwright/callwright/transport/dashboard"
)

type house struct {
	t      *testing.T
	access *access.Service

	deliveries *delivery.Log
	endpoints  delivery.EndpointStore
	url        string
	client     *http.Client
	own        callwright.APIKey
	other      callwright.APIKey // key of another organization
}

// noMail is a Mailer whose methods must not be called.
type noMail struct{ callwright.Mailer }

func open(t *testing.T) *house {
	t.Helper()
	memory := memstore.New()
	s, err := access.New(access.Config{
		Store: orgstore.Tenants{Store: memory}, Atomic: memory, Secret: callwright.Secret(strings.Repeat("s", 32)),
	})
	if err != nil {
		t.Fatal(err)
	}
	h := &house{t: t, access: s, endpoints: orgstore.Endpoints{Store: memory}}
	h.deliveries, err = delivery.NewLog(delivery.LogConfig{
		Store: orgstore.Deliveries{Store: memory}, Endpoints: h.endpoints, Atomic: memory, Work: memstore.NewWork(memory, nil),
		Organizations: orgstore.Tenants{Store: memory}, Mailer: noMail{},
	})
	if err != nil {
		t.Fatal(err)
	}
	var key access.NewKey
	for _, org := range []callwright.OrgID{"other", "acme"} {
		if _, err := s.CreateOrganization(t.Context(), org, "Acme <b>"); err != nil {
			t.Fatal(err)
		}
		if key, err = s.CreateKey(t.Context(), org, "<script>", 0); err != nil {
			t.Fatal(err)
		}
		h.other, h.own = h.own, key.Record
	}
	d, err := dashboard.New(dashboard.Config{Sessions: s, Access: s, Deliveries: h.deliveries})
	if err != nil {
		t.Fatal(err)
	}
	server := httptest.NewServer(d)
	t.Cleanup(server.Close)
	jar, _ := cookiejar.New(nil) // never fails without options
	h.url, h.client = server.URL, &http.Client{Transport: new(http.Transport), Jar: jar}
	h.post("/login", "/login", url.Values{"key": {key.Key.Reveal()}, "next": {"/settings"}}, http.StatusOK, "<h1>API keys</h1>")
	return h
}

func (h *house) do(method, path string, body io.Reader, status int, want ...string) string {
	h.t.Helper()
	r, err := http.NewRequestWithContext(h.t.Context(), method, h.url+path, body)
	if err != nil {
		h.t.Fatal(err)
	}
	r.Header.Set("Content-Type", "application/x-www-form-urlencoded")
	answer, err := h.client.Do(r)
	if err != nil {
		h.t.Fatal(err)
	}
	defer answer.Body.Close()
	b, err := io.ReadAll(answer.Body)
	if err != nil {
		h.t.Fatal(err)
	}
	text := string(b)
	if answer.StatusCode != status || strings.Contains(text, "<script>") {
		h.t.Errorf("%s %s: got %d, want %d\n%s", method, path, answer.StatusCode, status, text)
	}
	for _, w := range want {
		if !strings.Contains(text, w) {
			h.t.Errorf("%s %s has no %q:\n%s", method, path, w, text)
		}
	}
	return text
}

func (h *house) get(path string, want ...string) string {
	h.t.Helper()
	return h.do(http.MethodGet, path, nil, http.StatusOK, want...)
}

var (
	tokenPattern = regexp.MustCompile(`name="csrf" value="([^"]+)"`)
	secret       = regexp.MustCompile(`<pre class="once" tabindex="0">([^<]+)</pre>`)
)

func (h *house) post(from, to string, form url.Values, status int, want ...string) string {
	h.t.Helper()
	found := tokenPattern.FindStringSubmatch(h.get(from))
	if found == nil {
		h.t.Fatalf("%s has no token", from)
	}
	form.Set("csrf", found[1])
	return h.do(http.MethodPost, to, strings.NewReader(form.Encode()), status, want...)
}

// shown returns the secret that a page shows.
func (h *house) shown(text string) string {
	h.t.Helper()
	found := secret.FindStringSubmatch(text)
	if found == nil {
		h.t.Fatalf("no secret is shown:\n%s", text)
	}
	return found[1]
}

func TestKeys(t *testing.T) {
	t.Parallel()
	h := open(t)
	h.get("/settings", "&lt;script&gt;", "(yours)", h.own.Prefix)
	const here = `<a href="/settings" aria-current="page">API keys`
	for _, c := range []struct{ field, name, lifetime, fault string }{
		{"name", "", "7", "must"},
		{"lifetime", "desk", "7x", "must be a whole number, at least 1"},
		{"lifetime", "desk", "0", "must be a whole number, at least 1"},
		{"lifetime", "desk", "4000", "must be at most 3650 days"},
		{"lifetime", "desk", "9999999999999999999", "must be at most 3650 days"},
	} {
		form := url.Values{"name": {c.name}, "lifetime": {c.lifetime}}
		h.post("/settings", "/settings/keys", form, http.StatusUnprocessableEntity, `id="fault-`+c.field+`"`, c.fault, `value="`+c.lifetime+`"`, here)
	}
	key := h.shown(h.post("/settings", "/settings/keys", url.Values{"name": {"desk"}, "lifetime": {"7"}}, http.StatusOK, "never again"))
	who, err := h.access.CheckKey(t.Context(), key)
	if err != nil || who.Org != "acme" {
		t.Fatalf("the key is of %+v, %v", who, err)
	}
	if strings.Contains(h.get("/settings", "desk"), key) {
		t.Error("the key is shown again")
	}
	second := h.shown(h.post("/settings", "/settings/keys/"+who.KeyID+"/rotate", url.Values{}, http.StatusOK))
	h.get("/settings", "rotated", `data-ask="Rotate the key “desk”? It ends in 24 hours."`, `data-ask="Revoke the key “desk”? Programs`,
		`data-ask="Revoke your own key, “&lt;script&gt;”?`)
	h.post("/settings", "/settings/keys/"+who.KeyID+"/rotate", url.Values{}, http.StatusConflict, "already rotated")
	next, err := h.access.CheckKey(t.Context(), second)
	if err != nil {
		t.Fatal(err)
	}
	h.post("/settings", "/settings/keys/"+next.KeyID+"/revoke", url.Values{}, http.StatusOK, "The key is revoked", "revoked")
	if _, err := h.access.CheckKey(t.Context(), second); err == nil {
		t.Error("a revoked key is in force")
	}
	for _, do := range []string{"/rotate", "/revoke"} {
		h.post("/settings", "/settings/keys/"+h.other.ID+do, url.Values{}, http.StatusNotFound)
	}
}

// TestKeyPages checks the links between the pages of a long list of keys, including the links below a form with a fault.
func TestKeyPages(t *testing.T) {
	t.Parallel()
	h := open(t)
	for range 50 {
		if _, err := h.access.CreateKey(t.Context(), "acme", "many", 0); err != nil {
			t.Fatal(err)
		}
	}
	next := regexp.MustCompile(`href="([^"]+)" rel="next"`)
	for path, text := range map[string]string{
		"/settings":      h.get("/settings"),
		"/settings/keys": h.post("/settings", "/settings/keys", url.Values{"name": {""}}, http.StatusUnprocessableEntity),
	} {
		found := next.FindStringSubmatch(text)
		if found == nil {
			t.Fatalf("there is no next page:\n%s", text)
		}
		to, err := (&url.URL{Path: path}).Parse(html.UnescapeString(found[1]))
		if err != nil {
			t.Fatal(err)
		}
		h.get(to.String(), "<h1>API keys</h1>", "(yours)")
	}
}

func TestSessions(t *testing.T) {
	t.Parallel()
	h := open(t)
	h.get("/settings/sessions", "&lt;script&gt;", "(this one)", "You are signed out")
	h.post("/settings/sessions", "/settings/sessions/none/end", url.Values{}, http.StatusNotFound)
	found, err := h.access.Sessions(context.Background(), "acme", callwright.Keyset{}, 10)
	if err != nil || len(found.Items) != 1 {
		t.Fatalf("%d sessions, %v", len(found.Items), err)
	}
	h.post("/settings/sessions", "/settings/sessions/"+found.Items[0].ID+"/end", url.Values{}, http.StatusOK, "Sign in")
}

func TestWebhooks(t *testing.T) {
	t.Parallel()
	h := open(t)
	before, err := h.access.Organization(t.Context(), "acme")
	if err != nil {
		t.Fatal(err)
	}
	if strings.Contains(h.get("/settings/webhooks", "Acme &lt;b&gt;", "with 0 it stops at once."), before.WebhookSecret.Reveal()) {
		t.Error("the secret is shown")
	}
	for overlap, fault := range map[string]string{
		"": "is required", "x": "must be a whole number", "-1": "at least 0", "721": "must be from 0 to 720 hours",
		"9999999999999999999": "must be from 0 to 720 hours",
	} {
		h.post("/settings/webhooks", "/settings/webhooks/secret", url.Values{"overlap": {overlap}}, http.StatusUnprocessableEntity,
			`id="fault-overlap"`, fault, `value="`+overlap+`"`, `<a href="/settings/webhooks" aria-current="page">`)
	}
	made := h.shown(h.post("/settings/webhooks", "/settings/webhooks/secret", url.Values{"overlap": {"2"}}, http.StatusOK))
	after, err := h.access.Organization(t.Context(), "acme")
	if err != nil || after.WebhookSecret.Reveal() != strings.ReplaceAll(made, "&#43;", "+") || after.WebhookSecret == before.WebhookSecret {
		t.Errorf("%q is shown, %v", made, err)
	}
	h.get("/settings/webhooks", "also signs until")
	h.post("/settings/webhooks", "/settings/webhooks/secret", url.Values{"overlap": {"2"}}, http.StatusUnprocessableEntity, "previous webhook secret is valid until")
	h.get("/settings/about", "Go")
}
