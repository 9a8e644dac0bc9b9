package httpapi_test

import (
	"net/http"
	"strings"
	"testing"
	"time"

	"github.com/callwright/callwright/delivery"
)

// TestPausedWebhooks checks that an organization can list and resume its paused hosts, and that it can neither see nor resume another
// organization's host.
func TestPausedWebhooks(t *testing.T) {
	t.Parallel()
	h := open(t)
	paused := time.Date(2026, 3, 2, 9, 2, 12, 345678000, time.UTC)
	since, last, trial := paused.Add(-time.Hour), paused.Add(time.Minute), paused.Add(31*time.Minute)
	for _, e := range []delivery.Endpoint{
		{Org: h.org, Host: "hooks.example.com:8443", PausedAt: &paused, TrialAt: &trial},
		{Org: h.org, Host: "fails.example.com"}, // fails, but is not paused
		{Org: "poor", Host: "foreign.example.com", PausedAt: &paused},
	} {
		e.Since, e.Failures, e.Failure, e.Last = since, 61, "no answer within 10s", last
		if err := h.endpoints().StoreEndpoint(t.Context(), e); err != nil {
			t.Fatal(err)
		}
	}
	got := h.do("GET", "/v1/webhooks/paused", "").Body.String()
	const want = `{"data":[{"host":"hooks.example.com:8443","failing_since":"2026-03-02T08:02:12.345Z","failures":61,` +
		`"last_failure":"no answer within 10s","last_attempt_at":"2026-03-02T09:03:12.345Z","paused_at":"2026-03-02T09:02:12.345Z",` +
		`"next_attempt_at":"2026-03-02T09:33:12.345Z"}],"errors":null}`
	if strings.TrimSpace(got) != want {
		t.Errorf("got  %s\nwant %s", got, want)
	}
	for _, host := range []string{"foreign.example.com", "fails.example.com", "nowhere.example.com"} {
		h.want(http.StatusNotFound, "POST", "/v1/webhooks/resume", `{"host":"`+host+`"}`)
	}
	for _, body := range []string{`{}`, `{"host":""}`, `{"host":7}`, `{"hosts":["a"]}`} {
		h.want(http.StatusBadRequest, "POST", "/v1/webhooks/resume", body)
	}
	h.want(http.StatusOK, "POST", "/v1/webhooks/resume", `{"host":"hooks.example.com:8443"}`)
	h.want(http.StatusNotFound, "POST", "/v1/webhooks/resume", `{"host":"hooks.example.com:8443"}`)
	if got := h.do("GET", "/v1/webhooks/paused", "").Body.String(); strings.Contains(got, "example.com") {
		t.Errorf("after the host is resumed: %s", got)
	}
	if foreign, err := h.areas.webhooks.Paused(t.Context(), "poor"); err != nil || len(foreign) != 1 {
		t.Errorf("another organization's host: %v %v", foreign, err)
	}
}
