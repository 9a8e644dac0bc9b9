package httpapi_test

import (
	"encoding/json"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
)

// requestLine returns the last log line about a request.
func (h *house) requestLine() map[string]any {
	h.t.Helper()
	var line map[string]any
	for text := range strings.Lines(h.log.String()) {
		var one map[string]any
		if err := json.Unmarshal([]byte(text), &one); err != nil {
			h.t.Fatalf("the log line %q: %v", text, err)
		}
		if one["msg"] == "request" {
			line = one
		}
	}
	return line
}

// TestRequestLinesName checks that the log line of a request names the client and the changed object.
func TestRequestLinesName(t *testing.T) {
	t.Parallel()
	h := open(t)
	h.attach()
	if line := h.requestLine(); line["client"] != "192.0.2.1" || at(t, line, "ids", "phone_number") != ourNumber {
		t.Errorf("attached: %v", line)
	}
	created := h.do("POST", "/v1/calls", `{"phone_number":"`+theirNumber+`","task":"Talk."}`)
	var call struct {
		ID string `json:"call_id"`
	}
	if err := json.Unmarshal(created.Body.Bytes(), &call); err != nil || call.ID == "" {
		t.Fatalf("got %s, %v", created.Body, err)
	}
	if line := h.requestLine(); at(t, line, "ids", "call_id") != call.ID {
		t.Errorf("created: %v", line)
	}
	h.do("POST", "/v1/calls/"+call.ID+"/stop", "")
	if line := h.requestLine(); at(t, line, "ids", "call_id") != call.ID || line["operation"] != "StopCall" {
		t.Errorf("stopped: %v", line)
	}
	issue := h.issue()
	if line := h.requestLine(); at(t, line, "ids", "issue_id") != issue {
		t.Errorf("opened: %v", line)
	}
	h.do("POST", "/v1/triage/issues/"+issue+"/comments", `{"detail":"x"}`)
	if line := h.requestLine(); at(t, line, "ids", "id") != issue || at(t, line, "ids", "entry_id") == "" {
		t.Errorf("commented: %v", line)
	}
	for _, method := range []string{"GET /", "POST /stop"} { // a read, and a refused change
		method, path, _ := strings.Cut(method, " /")
		h.do(method, strings.TrimSuffix("/v1/calls/secret-id/"+path, "/"), "")
		if line := h.requestLine(); line["ids"] != nil || line["status"] != 404.0 {
			t.Errorf("not found: %v", line)
		}
	}
}

// TestRequestLinesHideTokens checks that no token or query of a request is in the log.
func TestRequestLinesHideTokens(t *testing.T) {
	t.Parallel()
	h := open(t)
	for _, path := range []string{"/loa/hunter2-token-hunter2-token-hunter2", "/v1/calls/hunter2/no/such?path=hunter2", "/v1/calls?api_key=hunter2"} {
		r := httptest.NewRequestWithContext(t.Context(), http.MethodGet, path, nil)
		h.unchecked.ServeHTTP(httptest.NewRecorder(), r)
	}
	if strings.Contains(h.log.String(), "hunter2") {
		t.Errorf("the log has a secret: %s", h.log)
	}
}
