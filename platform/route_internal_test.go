package platform

import (
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"

	"github.com/callwright/callwright"
	"github.com/callwright/callwright/transport/dashboard"
	"github.com/callwright/callwright/transport/httpapi"
)

// noKey is an authenticator that rejects every request.
type noKey struct{}

func (noKey) Authenticate(*http.Request) (callwright.Principal, error) {
	return callwright.Principal{}, callwright.ErrAuthFailure
}

// TestProgramsAreNotSentToTheSignIn checks that programs that request an unknown path, and all requests for unknown paths of the API, get
// the API's error in JSON. Other requests get the dashboard's sign-in.
func TestProgramsAreNotSentToTheSignIn(t *testing.T) {
	t.Parallel()
	pages, err := dashboard.New(dashboard.Config{Authenticator: noKey{}})
	if err != nil {
		t.Fatal(err)
	}
	api, err := httpapi.New(httpapi.Config{Access: noKey{}})
	if err != nil {
		t.Fatal(err)
	}
	h := route(api, http.NotFoundHandler(), pages)
	const browser = "text/html,application/xhtml+xml,application/xml;q=0.9,*/*;q=0.8"
	for _, c := range []struct {
		method, path, accept, key string
		want                      int
		json                      bool
	}{
		{"GET", "/v2/calls", "", "Bearer cw_1", 404, true},
		{"GET", "/v1", "*/*", "cw_1", 404, true},
		{"POST", "/api/calls", "application/json", "", 404, true},
		{"DELETE", "/nowhere/1", "application/json, text/plain, */*", "", 404, true},
		{"GET", "/v1/nothing", browser, "", 404, true},
		{"GET", "/nothing", browser, "", 401, false},
		{"GET", "/nothing", browser, "Basic eDp5", 401, false},
		{"GET", "/nothing", "", "", 401, false},
		{"GET", "/", "application/json", "", 401, false}, // a known page
		{"CONNECT", "", "", "", 405, true},
		{"CONNECT", "/v1/calls", "", "", 405, true},
	} {
		r := httptest.NewRequestWithContext(t.Context(), c.method, "http://x/"+strings.TrimPrefix(c.path, "/"), nil)
		r.URL.Path = c.path
		if c.accept != "" {
			r.Header.Set("Accept", c.accept)
		}
		if c.key != "" {
			r.Header.Set("Authorization", c.key)
		}
		answer := httptest.NewRecorder()
		h.ServeHTTP(answer, r)
		if json := strings.HasPrefix(answer.Header().Get("Content-Type"), "application/json"); answer.Code != c.want || json != c.json {
			t.Errorf("%s %s, Accept %q, key %q: %d %v %s", c.method, c.path, c.accept, c.key, answer.Code, answer.Header(), answer.Body)
		}
		if c.want == 405 && !strings.Contains(answer.Header().Get("Allow"), "GET") {
			t.Errorf("Allow %q", answer.Header().Get("Allow"))
		}
	}
}
