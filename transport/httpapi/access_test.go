package httpapi_test

import (
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"

	"github.com/callwright/callwright"
	"github.com/callwright/callwright/transport/httpapi"
)

// sessions authenticates requests by a cookie, whose values are the keys of the map. It refuses cross-site changes, as an Authenticator
// that reads cookies must.
type sessions map[string]callwright.Principal

func (s sessions) Authenticate(r *http.Request) (callwright.Principal, error) {
	if err := new(http.CrossOriginProtection).Check(r); err != nil {
		return callwright.Principal{}, callwright.ErrForbidden.Because(err)
	}
	cookie, err := r.Cookie("session")
	if err != nil {
		return callwright.Principal{}, callwright.ErrAuthFailure.Because(err)
	}
	principal, ok := s[cookie.Value]
	if !ok {
		return callwright.Principal{}, callwright.ErrAuthFailure
	}
	return principal, nil
}

func TestSessionsOfBrowsers(t *testing.T) {
	t.Parallel()
	h := open(t, func(c *httpapi.Config) {
		c.Access = sessions{
			"ada": {Org: "rich", KeyID: "ada", KeyName: "Ada Park", Entitlements: []callwright.Entitlement{callwright.EntitlementSIP}},
			"bob": {Org: "poor", KeyID: "bob"},
		}
	})
	h.Handler = h.unchecked // an Authenticator of the embedding program may cause statuses, such as 403, that the contract does not list
	ask := func(method, target, session, site, body string) (int, string) {
		r := httptest.NewRequestWithContext(t.Context(), method, target, strings.NewReader(body))
		if session != "" {
			r.AddCookie(&http.Cookie{Name: "session", Value: session})
		}
		r.Header.Set("Sec-Fetch-Site", site)
		r.Header.Set("Content-Type", "application/json")
		answer := httptest.NewRecorder()
		h.ServeHTTP(answer, r)
		keepsContract(t, r, answer)
		return answer.Code, answer.Body.String()
	}
	// As with keys, authentication comes first, then authorization, and only then the check of the input.
	for name, c := range map[string]struct {
		method, target, session, site, body string
		status                              int
	}{
		"nobody":            {"POST", "/v1/sip/attach", "", "same-origin", "{", 401},
		"unknown":           {"POST", "/v1/sip/attach", "eve", "same-origin", "{", 401},
		"not entitled":      {"POST", "/v1/sip/attach", "bob", "same-origin", "{", 403},
		"bad body":          {"POST", "/v1/sip/attach", "ada", "same-origin", "{", 400},
		"another site":      {"POST", "/v1/triage/issues", "ada", "cross-site", `{"title":"x"}`, 403},
		"own pages":         {"POST", "/v1/triage/issues", "ada", "same-origin", `{"title":"x"}`, 201},
		"read":              {"GET", "/v1/sip/numbers", "ada", "same-origin", "", 200},
		"read, not allowed": {"GET", "/v1/sip/numbers", "bob", "same-origin", "", 403},
	} {
		if status, body := ask(c.method, c.target, c.session, c.site, c.body); status != c.status {
			t.Errorf("%s: got %d %s, want %d", name, status, body, c.status)
		}
	}
	if _, list := ask("GET", "/v1/triage/issues", "ada", "same-origin", ""); !strings.Contains(list, `"author_id":"ada"`) {
		t.Errorf("the issue's author is not who the session says: %s", list)
	}
}

// TestPrincipalsAreWhole checks that a request whose principal lacks a required field is answered with 500, and that the log names the
// field.
func TestPrincipalsAreWhole(t *testing.T) {
	t.Parallel()
	for field, principal := range map[string]callwright.Principal{
		"Org": {KeyID: "k1", KeyName: "Ada"}, "KeyID": {Org: "rich", KeyName: "Ada"},
	} {
		h := open(t, func(c *httpapi.Config) { c.Access = sessions{"ada": principal} })
		h.Handler = h.unchecked
		answer := h.do("GET", "/v1/agents", "", header{"Cookie", "session=ada"})
		if answer.Code != http.StatusInternalServerError {
			t.Errorf("without %s: %d %s", field, answer.Code, answer.Body)
		}
		if text := h.log.String(); !strings.Contains(text, "the Principal of Config.Access lacks "+field) {
			t.Errorf("without %s the log has %s", field, text)
		}
	}
}
