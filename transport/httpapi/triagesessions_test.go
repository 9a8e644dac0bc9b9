package httpapi_test

import (
	"bytes"
	"encoding/json"
	"errors"
	"net/http"
	"net/http/httptest"
	"reflect"
	"strings"
	"testing"

	"github.com/callwright/callwright/triage"
)

const newSession = `{"id":"$session","issue_id":"$id","agent_profile_id":"p1","agent_name":"Log reader","status":"pending",
	"created_at":"` + opened + `","updated_at":"` + opened + `","ended_at":null}`

// session starts an agent session of an issue, and returns its path and record.
func (h *house) session(issue string) (path string, record map[string]any) {
	h.t.Helper()
	at := "/" + issue + "/agent-sessions"
	record = h.data(http.StatusCreated, "POST", at, `{"agent_name":"Log reader","agent_profile_id":"p1","detail":"Looking."}`)
	return at + "/" + record["id"].(string), record
}

func TestAgentSession(t *testing.T) {
	t.Parallel()
	h := open(t)
	id := h.issue()
	path, started := h.session(id)
	session := started["id"].(string)
	like(t, started, newSession, "$session", session, "$id", id)
	like(t, h.answer(http.StatusOK, "GET", path, ""), newSession, "$session", session, "$id", id)
	issue := h.data(http.StatusOK, "GET", "/"+id, "")
	like(t, issue["latest_agent_session"], `{"id":"$s","agent_profile_id":"p1","agent_name":"Log reader","status":"pending"}`, "$s", session)
	if issue["is_processing"] != true {
		t.Error("nobody works on the issue")
	}

	h.data(http.StatusCreated, "POST", path+"/entries", `{"type":"thought","detail":"Hm.","metadata":{"lines":[1,2]}}`)
	made := h.data(http.StatusCreated, "POST", path+"/entries", `{"type":"artifact","detail":"Found.","artifact":{"type":"report",
		"title":"Why","renderer":"markdown","payload":{"text":"Hours.","n":[1.5,null]},"external_urls":["https://a.example/b"]}}`)
	names := []string{"$id", id, "$session", session, "$entry", made["id"].(string), "$artifact", at(t, made, "artifact", "id").(string)}
	like(t, made, `{"entry_kind":"agent","id":"$entry","issue_id":"$id","type":"artifact","actor":{"kind":"agent","id":"p1",
		"label":"Log reader","avatar_url":null},"detail":"Found.","metadata":null,"agent_session":{"id":"$session",
		"agent_profile_id":"p1","agent_name":"Log reader","status":"active"},"artifact":{"id":"$artifact","type":"report","title":"Why",
		"renderer":"markdown","status":"ready","payload":{"text":"Hours.","n":[1.5,null]},"external_urls":["https://a.example/b"]},
		"created_at":"`+opened+`"}`, names...)

	pending := h.data(http.StatusCreated, "POST", path+"/entries", `{"type":"artifact","artifact":{"type":"t","title":"t","status":"pending"}}`)
	like(t, pending["artifact"], `{"id":"$a","type":"t","title":"t","renderer":null,"status":"pending","payload":null,"external_urls":[]}`,
		"$a", at(t, pending, "artifact", "id").(string))
	ready := h.data(http.StatusCreated, "POST", path+"/entries", `{"type":"artifact","artifact":{"id":"`+
		at(t, pending, "artifact", "id").(string)+`","type":"t","title":"t","payload":{}}}`)
	like(t, ready["artifact"], `{"id":"$a","type":"t","title":"t","renderer":null,"status":"ready","payload":{},"external_urls":[]}`,
		"$a", at(t, pending, "artifact", "id").(string))

	h.clock.now = h.clock.now.Add(1e9)
	h.data(http.StatusCreated, "POST", path+"/entries", `{"type":"session_stopped"}`)
	like(t, h.answer(http.StatusOK, "GET", path, ""), strings.NewReplacer(`"pending"`, `"complete"`, `"ended_at":null`,
		`"ended_at":"2026-05-04T03:02:02.123Z"`, `"updated_at":"`+opened, `"updated_at":"2026-05-04T03:02:02.123Z`).Replace(newSession),
		"$session", session, "$id", id)
	h.refused(http.StatusConflict, "invalid_state", "", "POST", path+"/entries", `{"type":"thought"}`)
	want := "session_stopped,artifact,artifact,artifact,thought,session_started,created"
	if types := strings.Join(h.types(id), ","); types != want {
		t.Errorf("the feed has %s", types)
	}
}

// TestQuestionOfAnAgent checks the entries of a session in which an agent asks, a person answers, and the session is stopped.
func TestQuestionOfAnAgent(t *testing.T) {
	t.Parallel()
	h := open(t)
	path, _ := h.session(h.issue())
	post := func(body string) map[string]any {
		t.Helper()
		return h.data(http.StatusCreated, "POST", path+"/entries", body)
	}
	asked := post(`{"type":"response","detail":"Which day?","session_status":"awaiting_input"}`)
	answered := post(`{"type":"prompt","detail":"Sunday."}`)
	stopped := post(`{"type":"session_stopped","detail":"Enough.","session_status":"cancelled"}`)
	for n, c := range []struct {
		entry                     map[string]any
		kind, label, status, text string
	}{
		{asked, "agent", "Log reader", "awaiting_input", "Which day?"},
		{answered, "user", "test", "active", "Sunday."},
		{stopped, "user", "test", "cancelled", "Enough."},
	} {
		if at(t, c.entry, "actor", "kind") != c.kind || at(t, c.entry, "actor", "label") != c.label || c.entry["detail"] != c.text ||
			at(t, c.entry, "agent_session", "status") != c.status {
			t.Errorf("entry %d is %v", n, c.entry)
		}
	}
	if got := h.data(http.StatusOK, "GET", path, ""); got["status"] != "cancelled" || got["ended_at"] == nil {
		t.Errorf("the session is %v", got)
	}
}

func TestAgentEntriesThatMayNotPass(t *testing.T) {
	t.Parallel()
	h := open(t)
	path, _ := h.session(h.issue())
	artifact := func(more string) string { return `{"type":"artifact","artifact":{"type":"t","title":"t"` + more + `}}` }
	for body, field := range map[string]string{
		`{"type":"session_started"}`:                                       "type",
		`{"type":"thought","detail":"` + strings.Repeat("x", 65537) + `"}`: "detail",
		`{"type":"thought","detail":"` + strings.Repeat("ü", 65537) + `"}`: "detail",
		`{"type":"prompt","detail":"` + strings.Repeat("x", 16385) + `"}`:  "detail",
		`{"type":"prompt"}`: "detail",
		`{"type":"prompt","detail":"x","metadata":{"a":1}}`:                                           "metadata",
		`{"type":"prompt","detail":"x","session_status":"complete"}`:                                  "session_status",
		`{"type":"session_stopped","session_status":"cancelled","artifact":{"type":"t","title":"t"}}`: "artifact",
		`{"type":"session_stopped","session_status":"active"}`:                                        "session_status",
		`{"type":"thought","metadata":{"a":"` + strings.Repeat("x", 16<<10) + `"}}`:                   "metadata",
		`{"type":"thought","metadata":{"a":[1e400]}}`:                                                 "metadata.a",
		`{"type":"artifact"}`: "artifact",
		`{"type":"thought","artifact":{"type":"t","title":"t"}}`:                                 "artifact",
		artifact(`,"id":"nothing"`):                                                              "artifact.id",
		artifact(`,"payload":[]`):                                                                "artifact.payload",
		artifact(`,"payload":{"a":"` + strings.Repeat("x", 256<<10) + `"}`):                      "artifact.payload",
		artifact(`,"external_urls":["https://a.example","ftp://a.example"]`):                     "artifact.external_urls[1]",
		artifact(`,"external_urls":[` + strings.Repeat(`"https://a.b",`, 20) + `"https://a.b"]`): "artifact.external_urls",
		artifact(`,"title":"` + strings.Repeat("x", 301) + `"`):                                  "artifact.title",
	} {
		t.Log(body[:min(100, len(body))])
		h.refused(http.StatusBadRequest, "bad_request", field, "POST", path+"/entries", body)
	}
	if types := h.types(strings.Split(path, "/")[1]); len(types) != 2 {
		t.Errorf("something of what was refused was written: %v", types)
	}
	h.data(http.StatusCreated, "POST", path+"/entries", `{"type":"thought","detail":"`+strings.Repeat("x", 65536)+`"}`)
	h.data(http.StatusCreated, "POST", path+"/entries", artifact(`,"payload":{"a":"`+strings.Repeat("<", 256<<10-8)+`"}`))
	h.refused(http.StatusConflict, "invalid_state", "session_status", "POST", path+"/entries", `{"type":"thought","session_status":"pending"}`)
}

// FuzzAgentEntry checks that no body causes a server error, and that the feed shows each accepted entry. An entry that cannot be shown
// would hide all earlier ones.
func FuzzAgentEntry(f *testing.F) {
	for _, body := range []string{
		`{"type":"thought","detail":"\ud800 \u00e9","metadata":{"a":[1e308,-0,12345678901234567890],"":{"<":null}}}`,
		`{"type":"artifact","artifact":{"type":"t","title":"t","renderer":null,"payload":{"a" : [1,` + "\r\n" + `{"b":"\ud800\\"}],"a":1.50}}}`,
		`{"type":"artifact","artifact":{"type":"t","title":"t","payload":{"a":1e400},"external_urls":["https://x/%zz"]}}`,
		`{"type":"thought","metadata":{"a":1e400}}`, `{"type":"prompt","detail":"` + "\u2028" + `"}`, `{"type":"thought"`,
	} {
		f.Add(body)
	}
	f.Fuzz(func(t *testing.T, body string) {
		h := open(t)
		issue := h.issue()
		path, _ := h.session(issue)
		ask := func(method, target, body string) (int, string) {
			r := httptest.NewRequestWithContext(t.Context(), method, "/v1/triage/issues"+target, strings.NewReader(body))
			r.Header.Set("Authorization", h.key)
			r.Header.Set("Content-Type", "application/json")
			answer := httptest.NewRecorder() // not validated, because the validator accepts no number beyond a float64
			h.ServeHTTP(answer, r)
			return answer.Code, answer.Body.String()
		}
		status, answer := ask("POST", path+"/entries", body)
		if status >= http.StatusInternalServerError {
			t.Errorf("%q: %d %s", body, status, answer)
		}
		if status != http.StatusCreated {
			return
		}
		var made struct {
			Data json.RawMessage `json:"data"`
		}
		var feed struct {
			Data struct {
				Items []json.RawMessage `json:"items"`
			} `json:"data"`
		}
		status, page := ask("GET", "/"+issue+"/activity", "")
		err := errors.Join(json.Unmarshal([]byte(answer), &made), json.Unmarshal([]byte(page), &feed))
		if err != nil || status != http.StatusOK || !sameJSON(made.Data, feed.Data.Items[0]) {
			t.Errorf("%q was answered with %s, and the feed has %d %s, %v", body, answer, status, page, err)
		}
	})
}

// sameJSON reports whether two texts contain the same JSON, with numbers spelled alike.
func sameJSON(a, b []byte) bool {
	var values [2]any
	for i, text := range [][]byte{a, b} {
		d := json.NewDecoder(bytes.NewReader(text))
		d.UseNumber()
		if d.Decode(&values[i]) != nil {
			return false
		}
	}
	return reflect.DeepEqual(values[0], values[1])
}

func TestAnalysis(t *testing.T) {
	t.Parallel()
	h := open(t)
	id := h.issue()
	session := h.data(http.StatusAccepted, "POST", "/"+id+"/analysis", `{"prompt":"Why a Sunday?"}`)
	like(t, session, strings.NewReplacer(`"p1"`, `null`, "Log reader", "Analyst").Replace(newSession), "$session", session["id"].(string), "$id", id)
	feed := h.data(http.StatusOK, "GET", "/"+id+"/activity", "")
	if at(t, feed, "items", 0, "type") != "prompt" || at(t, feed, "items", 0, "detail") != "Why a Sunday?" || at(t, feed, "items", 1, "type") != "session_started" {
		t.Errorf("the feed is %v", feed)
	}
	h.refused(http.StatusBadRequest, "bad_request", "prompt", "POST", "/"+id+"/analysis", `{"prompt":"`+strings.Repeat("x", 16385)+`"}`)
	nobody := h.again(func(c *triage.Config) { c.Analyst = nil })
	nobody.refused(http.StatusNotImplemented, "not_implemented", "", "POST", "/"+id+"/analysis", `{}`)
}
