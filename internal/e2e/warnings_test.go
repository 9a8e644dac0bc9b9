package e2e_test

import (
	"bytes"
	"encoding/json"
	"io"
	"net/http"
	"strings"
	"testing"

	"github.com/callwright/callwright/internal/e2e/server"
)

// TestServerWithoutAModelWarns checks the warnings of a server without a language model wherever a task is set or shown. They must state
// that the server cannot follow free text and does not analyze calls. A task of rules, and a server with a model, must cause no warning.
func TestServerWithoutAModelWarns(t *testing.T) {
	t.Parallel()
	s := start(t, "")
	checkWarnings(t, s, "Ask whether the parcel came, and be kind.", "a free task is not followed")
	checkWarnings(t, s, `when "yes": say "Thank you." and end`, "")

	s.AttachOutbound(t, ours.String(), "sip:127.0.0.1:9;transport=tls")
	k := newToolkit(t, s)
	placed := string(k.run("", "calls", "place", theirs.String(), "--from", ours.String(), "--task", "Talk freely."))
	if !strings.Contains(placed, "a free task is not followed") {
		t.Errorf("callwright calls place prints %q", placed)
	}
	call, _ := write(t, s, http.MethodPost, "/calls", map[string]any{
		"phone_number": theirs, "from": ours, "task": "Talk freely.", "summary_prompt": "In one line.", "dispositions": []string{"sold"},
	})["call_id"].(string)
	if shown := string(k.run("", "calls", "show", call)); !strings.Contains(shown, "a free task is not followed") || !strings.Contains(shown, "gets no analysis") {
		t.Errorf("callwright calls show prints %q", shown)
	}
	p := signIn(t, s)
	p.Go(t, s.Dashboard+"/calls/new")
	if text := p.Text(t, "#limits"); !strings.Contains(text, "a free task is not followed") {
		t.Errorf("the form says %q", text)
	}
	p.Go(t, s.Dashboard+"/calls/"+call)
	if text := p.Text(t, "#live-facts"); !strings.Contains(text, "a free task is not followed") || !strings.Contains(text, "gets no analysis") {
		t.Errorf("the call's page says %q", text)
	}

	checkWarnings(t, start(t, "", "--llm-base-url", newModels(t), "--llm-model", "small", "--llm-api-key", "our-key"), "Talk freely.", "")
}

// checkWarnings sets a task in every place where the API accepts a task, and reads it again. Each answer must contain one warning with the
// text want, or no warning if want is empty.
func checkWarnings(t *testing.T, s *server.Server, task, want string) {
	t.Helper()
	check := func(what string, answer map[string]any) map[string]any {
		t.Helper()
		list, _ := answer["warnings"].([]any)
		if len(list) == 0 && want == "" {
			return answer
		}
		if text, _ := append(list, "")[0].(string); want == "" || len(list) != 1 || !strings.Contains(text, want) {
			t.Errorf("%s, %q: the warnings are %v", what, task, list)
		}
		return answer
	}
	agent, _ := check("POST /v1/agents", exchange(t, s, http.MethodPost, "/agents", map[string]any{"prompt": task}))["agent"].(map[string]any)
	id, _ := agent["agent_id"].(string)
	check("POST /v1/agents/{id}", exchange(t, s, http.MethodPost, "/agents/"+id, map[string]any{"prompt": task}))
	check("GET /v1/agents/{id}", exchange(t, s, http.MethodGet, "/agents/"+id, nil))

	persona, _ := check("POST /v1/personas", exchange(t, s, http.MethodPost, "/personas", map[string]any{"name": "P", "orchestration_prompt": task}))["data"].(map[string]any)
	who, _ := persona["id"].(string)
	check("PATCH /v1/personas/{id}", exchange(t, s, http.MethodPatch, "/personas/"+who, map[string]any{"orchestration_prompt": task}))
	check("GET /v1/personas/{id}", exchange(t, s, http.MethodGet, "/personas/"+who, nil))

	number := "+14155550" + map[bool]string{true: "161", false: "162"}[want == ""]
	s.AttachInbound(t, number)
	check("POST /v1/inbound/{number}", exchange(t, s, http.MethodPost, "/inbound/"+number, map[string]any{"prompt": task}))
	check("GET /v1/inbound/{number}", exchange(t, s, http.MethodGet, "/inbound/"+number, nil))

	s.AttachOutbound(t, number, "sip:127.0.0.1:9;transport=tls")
	call, _ := check("POST /v1/calls", exchange(t, s, http.MethodPost, "/calls", map[string]any{"phone_number": theirs, "from": number, "task": task}))["call_id"].(string)
	check("GET /v1/calls/{id}", exchange(t, s, http.MethodGet, "/calls/"+call, nil))
}

// exchange sends a request to the API and returns the whole answer. path is relative to /v1.
func exchange(t *testing.T, s *server.Server, method, path string, body any) (answer map[string]any) {
	t.Helper()
	text, err := json.Marshal(body)
	if err != nil {
		t.Fatal(err)
	}
	r, err := http.NewRequestWithContext(t.Context(), method, s.URL+"/v1"+path, bytes.NewReader(text))
	if err != nil {
		t.Fatal(err)
	}
	r.Header.Set("Authorization", "Bearer "+s.Key)
	r.Header.Set("Content-Type", "application/json")
	got, err := http.DefaultClient.Do(r)
	if err != nil {
		t.Fatal(err)
	}
	defer got.Body.Close()
	said, err := io.ReadAll(got.Body)
	if err != nil {
		t.Fatal(err)
	}
	if err := json.Unmarshal(said, &answer); err != nil || got.StatusCode >= http.StatusMultipleChoices {
		t.Fatalf("%s %s: %d %s", method, path, got.StatusCode, said)
	}
	return answer
}
