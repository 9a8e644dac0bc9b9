package httpapi_test

import (
	"net/http"
	"strings"
	"testing"
	"time"
)

// until polls a path until wanted returns true, and returns that answer. It fails the test after 20 seconds.
func (h *house) until(path string, wanted func(answer map[string]any) bool) map[string]any {
	h.t.Helper()
	for deadline := time.Now().Add(20 * time.Second); ; {
		answer := h.want(http.StatusOK, "GET", path, "")
		if wanted(answer) {
			return answer
		}
		if time.Now().After(deadline) {
			h.t.Fatalf("%s stays %v", path, answer)
		}
		select {
		case <-h.t.Context().Done():
		case <-time.After(20 * time.Millisecond):
		}
	}
}

func TestDiscovery(t *testing.T) {
	t.Parallel()
	h := open(t)
	const body = `{"host":"PBX.example.com"}`
	started := h.want(http.StatusOK, "POST", "/v1/sip/discover", body)
	id, _ := at(t, started, "data", "discovery_id").(string)
	if !strings.HasPrefix(id, "disc_") || at(t, started, "data", "status") != "running" || at(t, started, "data", "recommended") != nil ||
		at(t, started, "data", "completed_at") != nil || at(t, started, "data", "host") != "pbx.example.com" {
		t.Errorf("started %v", started)
	}
	second := h.want(http.StatusConflict, "POST", "/v1/sip/discover", `{"host":"other.example.com"}`)
	if at(t, second, "errors", 0, "error") != "DISCOVERY_IN_PROGRESS" {
		t.Errorf("second %v", second)
	}
	h.looker.answer()
	path := "/v1/sip/discover/status?discovery_id=" + id
	done := h.until(path, func(answer map[string]any) bool { return at(t, answer, "data", "status") != "running" })
	for name, want := range map[string]any{
		"status": "completed", "discovery_id": id, "error": nil,
	} {
		if got := at(t, done, "data", name); got != want {
			t.Errorf("%s is %v", name, got)
		}
	}
	recommended := at(t, done, "data", "recommended")
	if at(t, recommended, "port") != 5061.0 || at(t, recommended, "transport") != "tls" || at(t, recommended, "detected_system") != "Asterisk" ||
		at(t, recommended, "user_agent") != "Asterisk PBX 20.5" || at(t, recommended, "methods", 0) != "INVITE" {
		t.Errorf("recommended %v", recommended)
	}
	if at(t, done, "data", "resolved_addresses", 0) != "203.0.113.7" || at(t, done, "data", "srv_records", 0, "service") != "_sips._tcp" ||
		at(t, done, "data", "srv_records", 0, "port") != 5061.0 {
		t.Errorf("records %v", done)
	}
	answered, silent := 0, 0
	for _, a := range at(t, done, "data", "attempts").([]any) {
		if at(t, a, "response_code") == 200.0 && at(t, a, "response_time_ms") == 31.0 && at(t, a, "tls", "version") == "TLS 1.3" &&
			at(t, a, "tls", "trusted") == true && at(t, a, "tls", "name_matches") == false && at(t, a, "error") == nil {
			answered++
		}
		if at(t, a, "response_code") == nil && at(t, a, "response_time_ms") == nil && at(t, a, "error") != nil && at(t, a, "tls") == nil {
			silent++
		}
	}
	if answered == 0 || silent == 0 {
		t.Errorf("attempts %v", at(t, done, "data", "attempts"))
	}
	if again := h.want(http.StatusOK, "POST", "/v1/sip/discover", body); at(t, again, "data", "discovery_id") != id {
		t.Errorf("asked again: %v", again)
	}
	_, other := h.tenant("other", "SIP")
	h.want(http.StatusNotFound, "GET", path, "", header{"Authorization", other})
	h.want(http.StatusNotFound, "GET", "/v1/sip/discover/status?discovery_id=disc_0", "")
}

func TestDiscoveryOfNothing(t *testing.T) {
	t.Parallel()
	h := open(t)
	h.looker.answer()
	started := h.want(http.StatusOK, "POST", "/v1/sip/discover", `{"host":"nowhere.example.com"}`)
	path := "/v1/sip/discover/status?discovery_id=" + at(t, started, "data", "discovery_id").(string)
	done := h.until(path, func(answer map[string]any) bool { return at(t, answer, "data", "status") != "running" })
	if at(t, done, "data", "status") != "failed" || at(t, done, "data", "error") == nil || at(t, done, "data", "recommended") != nil {
		t.Errorf("got %v", done)
	}
}

func TestDiscoveriesThatAreRefused(t *testing.T) {
	t.Parallel()
	h := open(t)
	for body, path := range map[string]string{
		`{"host":"not a host"}`:                     "host",
		`{"host":"127.0.0.1"}`:                      "host",
		`{"host":"a.example","port":0}`:             "port",
		`{"host":"a.example","transport":"pigeon"}`: "transport",
		`{"port":5060}`:                             "host",
		`{"host":"a.example","depth":9}`:            "depth",
		`{"host":"sip:a.example;transport=tls"}`:    "host",
	} {
		answer := h.want(http.StatusBadRequest, "POST", "/v1/sip/discover", body)
		if got := at(t, answer, "errors", 0, "path"); got != path {
			t.Errorf("%s: path %v: %v", body, got, answer)
		}
	}
}
