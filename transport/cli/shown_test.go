package cli_test

import (
	"bytes"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"

	"github.com/callwright/callwright/transport/cli"
)

// TestShownToPeople checks the text that commands print: minutes are rounded, texts keep their lines, an issue is found by its readable
// name, and a call is placed with a web agent.
func TestShownToPeople(t *testing.T) {
	t.Parallel()
	var asked []string
	s := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		body, err := io.ReadAll(r.Body)
		if err != nil {
			t.Error(err)
		}
		asked = append(asked, strings.TrimSpace(fmt.Sprintf("%s %s %s", r.Method, r.URL.RequestURI(), body)))
		w.Header().Set("Content-Type", "application/json")
		answer := map[string]string{
			"/v1/calls":            `{"calls":[{"call_id":"c1","call_length":0.18333333333333332}]}`,
			"/v1/calls/c1":         `{"call_id":"c1","call_length":12.5,"transcripts":[{"user":"assistant","text":"One.\nTwo."}]}`,
			"/v1/triage/issues":    `{"data":{"items":[{"id":"other","triage_id":"T-10011"},{"id":"i1","triage_id":"T-1001"}]},"errors":null}`,
			"/v1/triage/issues/i1": `{"data":{"id":"i1","triage_id":"T-1001","description":"First line.\r\nSecond line."},"errors":null}`,
		}[r.URL.Path]
		if r.Method == http.MethodPost {
			answer = `{"status":"success","message":"Queued.","call_id":"c2"}`
		}
		_, _ = io.WriteString(w, answer)
	}))
	defer s.Close()
	env := map[string]string{"SERVICE_BASE_URL": s.URL, "SERVICE_API_KEY": "cwk_test"}
	run := func(args ...string) string {
		t.Helper()
		var out, errs bytes.Buffer
		if code := cli.Run(t.Context(), cli.Config{}, args, func(name string) string { return env[name] }, &out, &errs); code != 0 {
			t.Errorf("callwright %s: %d, %s", strings.Join(args, " "), code, errs.String())
		}
		return out.String()
	}
	if out := run("calls", "list"); !strings.Contains(out, " 0.18 ") || strings.Contains(out, "0.1833") {
		t.Errorf("the list of calls is\n%s", out)
	}
	for _, shown := range []struct{ of, want string }{
		{run("calls", "show", "c1"), "assistant  One.\n           Two.\n"},
		{run("issues", "show", "T-1001"), "Description  First line.\n             Second line.\n"},
	} {
		if !strings.Contains(shown.of, shown.want) {
			t.Errorf("it is shown as\n%s\nwant\n%s", shown.of, shown.want)
		}
	}
	run("calls", "place", "+14155550123", "--agent", "a1")
	want := []string{
		"GET /v1/calls", "GET /v1/calls/c1", "GET /v1/triage/issues?search=T-1001", "GET /v1/triage/issues/i1",
		`POST /v1/calls {"phone_number":"+14155550123","agent_id":"a1"}`,
	}
	if strings.Join(asked, "\n") != strings.Join(want, "\n") {
		t.Errorf("the API was asked\n%s\nwant\n%s", strings.Join(asked, "\n"), strings.Join(want, "\n"))
	}
}
