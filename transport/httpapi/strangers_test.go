package httpapi_test

import (
	"context"
	"errors"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"

	"github.com/callwright/callwright"
	"github.com/callwright/callwright/transport/httpapi"
)

// TestStrangersAreCounted checks that the log contains only one line for many requests without a valid key from one address, but a line for
// each request with a valid key.
func TestStrangersAreCounted(t *testing.T) {
	t.Parallel()
	h := open(t)
	for _, target := range []string{"/v1/calls", "/nothing", "/docs"} {
		for range 100 {
			r := httptest.NewRequestWithContext(t.Context(), http.MethodGet, target, nil)
			if target == "/v1/calls" {
				r.Header.Set("Authorization", "Bearer cwk_wrong")
			}
			h.ServeHTTP(httptest.NewRecorder(), r)
		}
	}
	if n := strings.Count(h.log.String(), `"msg":"request"`); n != 1 || !strings.Contains(h.log.String(), `"client":"192.0.2.1"`) {
		t.Errorf("%d lines in %s", n, h.log)
	}
	for range 3 {
		h.want(http.StatusOK, "GET", "/v1/calls", "")
	}
	if n := strings.Count(h.log.String(), `"msg":"request"`); n != 4 {
		t.Errorf("%d lines in %s", n, h.log)
	}
}

// TestProbesAreQuiet checks that probes and scrapes log nothing at the default level, except one line when a node becomes unready, and one
// when it becomes ready again.
func TestProbesAreQuiet(t *testing.T) {
	t.Parallel()
	var down error
	h := open(t, func(c *httpapi.Config) {
		c.Metrics = http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
			w.Header().Set("Content-Type", "text/plain; version=0.0.4")
			_, _ = w.Write([]byte("up 1\n"))
		})
		c.Ready = func(context.Context) error { return down }
	})
	probe := func() {
		for _, target := range []string{"/healthz", "/readyz", "/metrics"} {
			for range 10 {
				h.do("GET", target, "")
			}
		}
	}
	probe()
	if h.log.Len() > 0 {
		t.Errorf("logged %s", h.log)
	}
	down = errors.New("the database is away")
	probe()
	down = nil
	probe()
	down = callwright.Errorf(callwright.CodeUnavailable, "the server is stopping").Because(httpapi.ErrStopping)
	probe()
	if n := strings.Count(h.log.String(), "\n"); n != 2 || !strings.Contains(h.log.String(), "the database is away") || !strings.Contains(h.log.String(), "over: the node is not ready") {
		t.Errorf("logged %s", h.log)
	}
}
