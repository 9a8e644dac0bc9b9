package page_test

import (
	"context"
	"html/template"
	"net/http"
	"net/http/cookiejar"
	"net/http/httptest"
	"net/url"
	"regexp"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"testing/fstest"
	"time"

	"github.com/callwright/callwright"
	"github.com/callwright/callwright/transport/dashboard/internal/chart"
	"github.com/callwright/callwright/transport/dashboard/internal/page"
	"github.com/callwright/callwright/transport/dashboard/pagetest"
)

// keys is a page.Sessions with the keys goodKey and otherKey. If revoked is set, no key or session is valid.
type keys struct {
	mu      sync.Mutex
	tokens  map[string]callwright.OrgID
	revoked bool
	sip     bool // both organizations have EntitlementSIP
	away    bool // the database is unreachable
}

// These constants are the valid keys. Each belongs to a different organization.
const (
	goodKey  = "cwk_good"
	otherKey = "cwk_other"
)

var orgs = map[string]callwright.OrgID{goodKey: "org", otherKey: "other"}

func (k *keys) SignIn(_ context.Context, key string) (string, callwright.Session, error) {
	k.mu.Lock()
	defer k.mu.Unlock()
	if orgs[key] == "" || k.revoked {
		return "", callwright.Session{}, callwright.ErrAuthFailure
	}
	token := "token-" + string(rune('a'+len(k.tokens)))
	k.tokens[token] = orgs[key]
	return token, callwright.Session{}, nil
}

func (k *keys) Session(_ context.Context, token string) (callwright.Principal, callwright.Session, error) {
	k.mu.Lock()
	defer k.mu.Unlock()
	if k.away {
		return callwright.Principal{}, callwright.Session{}, callwright.ErrUnavailable
	}
	if k.tokens[token] == "" || k.revoked {
		return callwright.Principal{}, callwright.Session{}, callwright.ErrAuthFailure
	}
	p := callwright.Principal{Org: k.tokens[token], KeyID: "key", KeyName: "<b>first key</b>"}
	if k.sip {
		p.Entitlements = []callwright.Entitlement{callwright.EntitlementSIP}
	}
	return p, callwright.Session{}, nil
}

func (k *keys) SignOut(_ context.Context, token string) error {
	k.mu.Lock()
	defer k.mu.Unlock()
	delete(k.tokens, token)
	return nil
}

// Watch returns a nil channel, as if another node ended the sessions.
func (k *keys) Watch(callwright.Session) (<-chan struct{}, func()) { return nil, func() {} }

// house is a site with two areas. Most of their pages show a live number.
type house struct {
	*httptest.Server
	keys   *keys
	site   *page.Site
	number atomic.Int64
	saved  atomic.Int64
	client *http.Client
}

var templates = fstest.MapFS{
	"_part.html": {Data: []byte(`{{define "number"}}<p id="live-number">{{.}}</p>{{end}}`)},
	"list.html": {Data: []byte(`{{define "main"}}<h1>Things</h1>{{template "number" .}}
<form method="post" action="{{path "/things"}}">{{csrf}}<input name="name" aria-label="Name"></form>{{end}}`)},
	"ask.html": {Data: []byte(`{{define "asked"}}<form id="live-asked" method="post" action="{{path "/things"}}" data-ask="Do it?">{{csrf}}
<output>{{.}}</output><input id="name" name="name" aria-label="Name"><button>Do it</button></form>{{end}}
{{define "main"}}<h1>Form</h1>{{template "asked" .}}<p>{{template "number" .}}</p>{{end}}`)},
	"times.html":  {Data: []byte(`{{define "main"}}<h1>Times</h1>{{time .At}}{{.SVG}}{{end}}`)},
	"span.html":   {Data: []byte(`{{define "span"}}<output id="live-span">{{.}}</output>{{end}}{{define "main"}}{{template "span" .}}<p><output>{{.}}</output></p>{{end}}`)},
	"broken.html": {Data: []byte(`{{define "main"}}{{.Nothing.At.All}}{{end}}`)},
}

// injection is a text that would inject events into a stream if its carriage returns were sent.
const injection = "x\r\revent: reload\rdata: \r\r\r\nevent: reload\n\n"

// newSite returns a house that has no HTTP server.
func newSite(t *testing.T, prefix string) *house {
	t.Helper()
	h := &house{keys: &keys{tokens: map[string]callwright.OrgID{}}}
	var err error
	h.site, err = page.New(page.Config{Sessions: h.keys, Prefix: prefix, Areas: []page.Area{
		{Title: "Secret", Path: "/secret", Entitlement: callwright.EntitlementSIP, Templates: templates, Routes: []page.Route{{
			Pattern: "GET /secret", Serve: func(context.Context, *page.Request) (page.Answer, error) {
				return &page.View{Page: "list", Title: "Secret", Data: h.number.Load(), Live: []string{"number"}}, nil
			},
		}}},
		{Title: "Things", Path: "/things", Templates: templates, Funcs: template.FuncMap{}, Routes: []page.Route{
			{Pattern: "GET /things", Serve: func(context.Context, *page.Request) (page.Answer, error) {
				return &page.View{Page: "list", Title: "Things", Data: h.number.Load(), Live: []string{"number"}, Every: 10 * time.Millisecond}, nil
			}},
			{Pattern: "GET /form", Serve: func(context.Context, *page.Request) (page.Answer, error) {
				return &page.View{Page: "ask", Title: "Form", Data: h.number.Load(), Live: []string{"asked", "number"}, Every: 10 * time.Millisecond}, nil
			}},
			{Pattern: "GET /text", Serve: func(context.Context, *page.Request) (page.Answer, error) {
				return &page.View{Page: "list", Title: "Text", Data: injection, Live: []string{"number"}}, nil
			}},
			{Pattern: "POST /things", MaxBody: 2000, Serve: func(_ context.Context, r *page.Request) (page.Answer, error) {
				h.saved.Add(1)
				return page.SeeOther{To: "/things", Notice: "Saved <" + r.Field("name") + ">"}, nil
			}},
			{Pattern: "GET /times", Serve: func(context.Context, *page.Request) (page.Answer, error) {
				rang := chart.Event{At: time.Date(2026, 3, 2, 3, 0, 5, 0, time.UTC), Label: "Rang"}
				return &page.View{Page: "times", Title: "Times", Data: struct {
					chart.Event
					chart.Timeline
				}{rang, chart.Timeline{ID: "t", Title: "Times", Events: []chart.Event{rang}}}}, nil
			}},
			{Pattern: "GET /span", Serve: func(_ context.Context, r *page.Request) (page.Answer, error) {
				from, until, ok := r.Span(r.Query("at"))
				text := "no time"
				if ok {
					text = r.Zone().String() + " " + from.UTC().Format(time.RFC3339) + " " + until.UTC().Format(time.RFC3339)
				}
				return &page.View{Page: "span", Title: "Span", Data: text, Live: []string{"span"}}, nil
			}},
			{Pattern: "GET /broken", Serve: func(context.Context, *page.Request) (page.Answer, error) {
				return &page.View{Page: "broken", Data: 1}, nil
			}},
		}},
	}})
	if err != nil {
		t.Fatal(err)
	}
	return h
}

func newHouse(t *testing.T, prefix string) *house {
	t.Helper()
	h := newSite(t, prefix)
	h.Server = httptest.NewServer(h.site)
	t.Cleanup(h.Close)
	t.Cleanup(func() {
		if err := h.site.Close(context.Background()); err != nil {
			t.Error(err)
		}
	})
	jar, _ := cookiejar.New(nil) // never fails without options
	h.client = &http.Client{Transport: new(http.Transport), Jar: jar}
	return h
}

// get requests a page and returns the status, the body and the header.
func (h *house) get(t *testing.T, path string) (int, string, http.Header) {
	t.Helper()
	a := pagetest.Send(t, h.client, h.URL+path, nil)
	return a.Status, a.Body, a.Header
}

var tokenPattern = regexp.MustCompile(`name="csrf" value="([^"]+)"`)

// post sends a form to the second path, with the CSRF token of the page at the first path, and returns the status, the body and the header.
func (h *house) post(t *testing.T, from, to string, form url.Values) (int, string, http.Header) {
	t.Helper()
	_, text, _ := h.get(t, from)
	found := tokenPattern.FindStringSubmatch(text)
	if found == nil {
		t.Fatalf("%s has no token:\n%s", from, text)
	}
	form.Set("csrf", found[1])
	a := pagetest.Send(t, h.client, h.URL+to, form)
	return a.Status, a.Body, a.Header
}

func (h *house) signIn(t *testing.T, prefix string) {
	t.Helper()
	if status, text, _ := h.post(t, prefix+"/login?next=/things", prefix+"/login", url.Values{"key": {goodKey}, "next": {"/things"}}); status != http.StatusOK || !strings.Contains(text, "<h1>Things</h1>") {
		t.Fatalf("after the sign-in: %d\n%s", status, text)
	}
}

// TestSignInAgain checks that a second sign-in ends the browser's first session.
func TestSignInAgain(t *testing.T) {
	t.Parallel()
	h := newHouse(t, "")
	h.signIn(t, "")
	h.signIn(t, "")
	h.keys.mu.Lock()
	defer h.keys.mu.Unlock()
	if len(h.keys.tokens) != 1 {
		t.Errorf("there are %d sessions", len(h.keys.tokens))
	}
}

func TestSignIn(t *testing.T) {
	t.Parallel()
	for _, prefix := range []string{"", "/ops"} {
		h := newHouse(t, prefix)
		if status, text, _ := h.get(t, prefix+"/things?a=b"); status != http.StatusOK || !strings.Contains(text, `value="/things?a=b"`) {
			t.Errorf("without a session: %d\n%s", status, text)
		}
		if status, text, _ := h.post(t, prefix+"/login", prefix+"/login", url.Values{"key": {"cwk_bad"}}); status != http.StatusUnauthorized || !strings.Contains(text, "unknown, revoked or expired") {
			t.Errorf("with a wrong key: %d\n%s", status, text)
		}
		h.signIn(t, prefix)
		_, text, header := h.get(t, prefix+"/things")
		if !strings.Contains(text, "&lt;b&gt;first key") || !strings.Contains(text, `aria-current="page">Things`) {
			t.Errorf("the page is\n%s", text)
		}
		if csp := header.Get("Content-Security-Policy"); !strings.HasPrefix(csp, "default-src 'none';") || strings.Contains(csp, "unsafe") {
			t.Errorf("the policy is %q", csp)
		}
		h.post(t, prefix+"/things", prefix+"/logout", url.Values{})
		if _, text, _ := h.get(t, prefix+"/things"); !strings.Contains(text, "Sign in") {
			t.Errorf("after the sign-out:\n%s", text)
		}
	}
}

func TestForms(t *testing.T) {
	t.Parallel()
	h := newHouse(t, "")
	h.signIn(t, "")
	if status, text, _ := h.post(t, "/things", "/things", url.Values{"name": {"<script>"}}); status != http.StatusOK || !strings.Contains(text, "Saved &lt;&lt;script&gt;&gt;") {
		t.Errorf("a form gives %d\n%s", status, text)
	}
	if _, text, _ := h.get(t, "/things"); strings.Contains(text, "Saved") {
		t.Error("the notice is shown twice")
	}
	other := newHouse(t, "")
	other.signIn(t, "")
	_, foreign, _ := other.get(t, "/things")
	for name, form := range map[string]url.Values{
		"no token":        {"name": {"x"}},
		"a wrong token":   {"csrf": {"AAAA"}, "name": {"x"}},
		"another's token": {"csrf": {tokenPattern.FindStringSubmatch(foreign)[1]}, "name": {"x"}},
	} {
		if a := pagetest.Send(t, h.client, h.URL+"/things", form); a.Status != http.StatusForbidden || !strings.Contains(a.Body, "This form has expired") {
			t.Errorf("%s: %d\n%s", name, a.Status, a.Body)
		}
	}
	if status, _, _ := h.post(t, "/things", "/things", url.Values{"name": {strings.Repeat("x", 3000)}}); status != http.StatusRequestEntityTooLarge {
		t.Errorf("a large form gives %d", status)
	}
	for _, path := range []string{"/login", "/logout"} { // TestForgedTokens in package dashboard tests the forms of areas
		if a := pagetest.Send(t, h.client, h.URL+path, url.Values{"csrf": {"AAAA"}, "key": {goodKey}}); a.Status != http.StatusForbidden {
			t.Errorf("%s with a wrong token: %d\n%s", path, a.Status, a.Body)
		}
	}
	if n := h.saved.Load(); n != 1 {
		t.Errorf("%d forms were taken, want 1", n)
	}
}

// TestNoTexts checks that queries, paths and forms with invalid UTF-8 or NUL characters are refused, because no database can store such
// text.
func TestNoTexts(t *testing.T) {
	t.Parallel()
	h := newHouse(t, "")
	h.signIn(t, "")
	for _, bad := range []string{"a\x00b", "a\xffb", "\xed\xa0\x80"} {
		if status, text, _ := h.get(t, "/things?name="+url.QueryEscape(bad)); status != http.StatusBadRequest || !strings.Contains(text, "<code>name</code>: must be UTF-8") {
			t.Errorf("an address with %q gives %d\n%s", bad, status, text)
		}
		if status, _, _ := h.get(t, "/things/"+url.PathEscape(bad)); status != http.StatusNotFound {
			t.Errorf("a path with %q gives %d", bad, status)
		}
		for _, form := range []url.Values{{"name": {bad}}, {"name": {"a", bad}}, {bad: {"a"}}} {
			if status, text, _ := h.post(t, "/things", "/things", form); status != http.StatusBadRequest || !strings.Contains(text, "UTF-8") {
				t.Errorf("the form %q gives %d\n%s", form, status, text)
			}
		}
	}
	if n := h.saved.Load(); n > 0 {
		t.Errorf("%d forms were taken", n)
	}
}

// TestOtherSites checks that a form from another site is refused, even with a valid CSRF token.
func TestOtherSites(t *testing.T) {
	t.Parallel()
	h := newHouse(t, "")
	h.signIn(t, "")
	_, text, _ := h.get(t, "/things")
	form := url.Values{"csrf": {tokenPattern.FindStringSubmatch(text)[1]}}
	r, err := http.NewRequestWithContext(t.Context(), http.MethodPost, h.URL+"/things", strings.NewReader(form.Encode()))
	if err != nil {
		t.Fatal(err)
	}
	r.Header.Set("Content-Type", "application/x-www-form-urlencoded")
	r.Header.Set("Sec-Fetch-Site", "cross-site")
	if a := pagetest.Do(t, h.client, r); a.Status != http.StatusForbidden || h.saved.Load() != 0 {
		t.Errorf("it is answered %d, and %d forms were taken", a.Status, h.saved.Load())
	}
}

func TestFailures(t *testing.T) {
	t.Parallel()
	h := newHouse(t, "")
	h.signIn(t, "")
	for path, want := range map[string]struct {
		status int
		text   string
	}{
		"/nothing": {http.StatusNotFound, "Page not found"},
		"/secret":  {http.StatusForbidden, "SIP is not enabled for this organization"},
		"/broken":  {http.StatusInternalServerError, "The cause is in the server&#39;s log"},
	} {
		status, text, header := h.get(t, path)
		if id := header.Get("X-Request-ID"); status != want.status || !strings.Contains(text, want.text) || id == "" || !strings.Contains(text, id) {
			t.Errorf("%s gives %d\n%s", path, status, text)
		}
	}
}

func TestNextIsLocal(t *testing.T) {
	t.Parallel()
	h := newHouse(t, "")
	for _, next := range []string{"//evil.example", "https://evil.example/", `/\evil.example`, "javascript:alert(1)", "/a\nb"} {
		h.client.CheckRedirect = func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse }
		if status, _, header := h.post(t, "/login", "/login", url.Values{"key": {goodKey}, "next": {next}}); status != http.StatusSeeOther || header.Get("Location") != "/" {
			t.Errorf("next %q leads to %q (%d)", next, header.Get("Location"), status)
		}
	}
}

// TestMenu checks that the navigation contains only the areas for which the organization has the entitlement.
func TestMenu(t *testing.T) {
	t.Parallel()
	for path, entitled := range map[string]bool{"/things": false, "/secret": true} {
		h := newHouse(t, "")
		h.keys.sip = entitled
		h.signIn(t, "")
		_, text, _ := h.get(t, path)
		if !strings.Contains(text, `href="/things"`) || strings.Contains(text, `href="/secret"`) != entitled {
			t.Errorf("entitled %t: the menu of %s is\n%s", entitled, path, text)
		}
	}
}

// TestAssetsAreSmall checks that the style, the script and the icon together have at most 16,000 bytes, uncompressed.
func TestAssetsAreSmall(t *testing.T) {
	t.Parallel()
	h := newHouse(t, "/ops")
	_, text, _ := h.get(t, "/ops/login")
	size := 0
	for _, link := range regexp.MustCompile(`"(/ops/static/[^"]+)"`).FindAllStringSubmatch(text, -1) {
		status, asset, _ := h.get(t, link[1])
		if status != http.StatusOK {
			t.Errorf("%s gives %d", link[1], status)
		}
		size += len(asset)
	}
	if size < 5_000 || size > 16_000 {
		t.Errorf("they have %d bytes", size)
	}
}
