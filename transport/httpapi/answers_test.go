package httpapi_test

import (
	"io"
	"net/http"
	"net/http/httptest"
	"slices"
	"strings"
	"testing"
	"time"

	v3 "github.com/pb33f/libopenapi/datamodel/high/v3"
)

// TestNoAnswerIsGuessedAt checks that all answers contain X-Content-Type-Options: nosniff. Without it, a browser may render a text as a
// page.
func TestNoAnswerIsGuessedAt(t *testing.T) {
	t.Parallel()
	h := open(t)
	h.triage.Close() // streams end immediately
	h.areas.tests.Close()
	check := func(r *http.Request) {
		t.Helper()
		answer := httptest.NewRecorder()
		h.unchecked.ServeHTTP(answer, r)
		if got := answer.Header().Values("X-Content-Type-Options"); !slices.Equal(got, []string{"nosniff"}) {
			t.Errorf("%s %s: %d with X-Content-Type-Options %q", r.Method, r.URL, answer.Code, got)
		}
	}
	for _, target := range []string{
		"/healthz", "/readyz", "/metrics", "/openapi.yaml", "/docs", "/docs/", "/docs/start.js", "/docs/swagger-ui.css", "/docs/swagger-ui-bundle.js",
		"/docs/nothing", "/", "/v1/nothing",
	} {
		for _, method := range []string{"GET", "HEAD", "POST", "OPTIONS"} {
			check(httptest.NewRequestWithContext(t.Context(), method, target, nil))
		}
	}
	every(func(method, path string, op *v3.Operation) {
		r := request(t, method, path, op)
		check(r) // without a key
		r = plain(t, h, method, path, op)
		check(r)
		check(httptest.NewRequestWithContext(t.Context(), "TRACE", r.URL.String(), nil))
	})
}

// TestHeadIsAnsweredWhereverGetIs checks that the answer to HEAD has no body, and has the status and the main header fields of the answer
// to GET.
func TestHeadIsAnsweredWhereverGetIs(t *testing.T) {
	t.Parallel()
	h := open(t)
	h.ended("c1", time.Now().UTC())
	issue := h.issue()
	server := httptest.NewServer(h.unchecked)
	defer server.Close()
	ask := func(method string, r *http.Request) (status int, header http.Header, body string) {
		t.Helper()
		target := server.URL + r.URL.String()
		again := must(http.NewRequestWithContext(t.Context(), method, target, nil))
		again.Header = r.Header
		client := http.Client{CheckRedirect: func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse }}
		answer, err := client.Do(again)
		if err != nil {
			t.Fatal(err)
		}
		defer func() { _ = answer.Body.Close() }()
		return answer.StatusCode, answer.Header, string(must(io.ReadAll(answer.Body)))
	}
	check := func(r *http.Request) {
		t.Helper()
		status, got, body := ask("HEAD", r)
		wanted, want, _ := ask("GET", r)
		if status != wanted || body != "" {
			t.Errorf("HEAD %s: %d %q; GET gives %d", r.URL, status, body, wanted)
		}
		for _, name := range []string{"Content-Type", "Cache-Control", "Content-Disposition", "Location", "Www-Authenticate"} {
			if !slices.Equal(got[name], want[name]) {
				t.Errorf("HEAD %s: %s is %q; GET gives %q", r.URL, name, got[name], want[name])
			}
		}
	}
	for _, target := range []string{"/healthz", "/readyz", "/metrics", "/openapi.yaml", "/docs", "/docs/", "/docs/start.js", "/docs/swagger-ui.css", "/nothing"} {
		check(httptest.NewRequestWithContext(t.Context(), "GET", target, nil))
	}
	every(func(method, path string, op *v3.Operation) {
		if method == "GET" {
			check(request(t, method, path, op)) // without a key
			check(plain(t, h, method, path, op))
		}
	})
	for _, target := range []string{"/v1/calls/c1", "/v1/triage/issues/" + issue, "/v1/triage/issues/" + issue + "/activity"} {
		r := httptest.NewRequestWithContext(t.Context(), "GET", target, nil)
		r.Header.Set("Authorization", h.key)
		check(r)
		if status, _, _ := ask("HEAD", r); status != http.StatusOK {
			t.Errorf("HEAD %s: %d", target, status)
		}
	}
}

// TestHeadOpensNoStream checks that HEAD requests do not count toward the limit of an organization's open streams.
func TestHeadOpensNoStream(t *testing.T) {
	t.Parallel()
	h := open(t)
	target := "/v1/triage/issues/" + h.issue() + "/activity/stream"
	for range 200 {
		answer := h.do("HEAD", target, "")
		if answer.Code != http.StatusOK || answer.Header().Get("Content-Type") != "text/event-stream" || answer.Body.Len() > 0 {
			t.Fatalf("HEAD %s: %d %v %q", target, answer.Code, answer.Header(), answer.Body)
		}
	}
	if answer := h.do("HEAD", strings.Replace(target, "/issues/", "/issues/0", 1), ""); answer.Code != http.StatusNotFound {
		t.Errorf("HEAD of a stream of no issue: %d", answer.Code)
	}
}
