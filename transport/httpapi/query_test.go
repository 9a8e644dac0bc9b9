package httpapi_test

import (
	"encoding/json"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"time"

	v3 "github.com/pb33f/libopenapi/datamodel/high/v3"
)

func answerTo(server http.Handler, r *http.Request) *httptest.ResponseRecorder {
	answer := httptest.NewRecorder()
	server.ServeHTTP(answer, r)
	return answer
}

// TestUnknownParametersAreRefused checks that every implemented operation, except the signing pages under /loa/, refuses a parameter that
// it does not declare.
func TestUnknownParametersAreRefused(t *testing.T) {
	t.Parallel()
	h := open(t)
	every(func(method, path string, op *v3.Operation) {
		r := plain(t, h, method, path, op)
		r.URL.RawQuery += "&colour=red"
		answer := answerTo(h, r)
		if answer.Code == http.StatusNotImplemented || strings.HasPrefix(path, "/loa/") {
			return
		}
		var body map[string]any
		if err := json.Unmarshal(answer.Body.Bytes(), &body); err != nil || answer.Code != http.StatusBadRequest ||
			at(t, body, "errors", 0, "path") != "colour" || at(t, body, "errors", 0, "message") != "colour: is not a known parameter" {
			t.Errorf("%s: %d %s", op.OperationId, answer.Code, answer.Body)
		}
	})
}

func TestUnknownParametersAreNamed(t *testing.T) {
	t.Parallel()
	h := open(t)
	for target, want := range map[string]string{
		"/v1/calls?lmit=5":           `lmit: is not a known parameter; did you mean "limit"?`,
		"/v1/calls?startDate=x":      `startDate: is not a known parameter; did you mean "start_date"?`,
		"/v1/calls?Limit=5":          `Limit: is not a known parameter; did you mean "limit"?`,
		"/v1/calls?page=2":           "page: is not a known parameter",
		"/v1/agents/a1?limit=5":      "limit: is not a known parameter",
		"/v1/calls/c1?call_id=c1":    "call_id: is not a known parameter", // declared only in the path
		"/v1/calls?=5":               "each parameter of the query must have a name",
		"/v1/calls?limit=5;offset=2": "the query of the URL is malformed: it must be name=value pairs, separated by &, with other special characters escaped",
		"/v1/calls?limit=%zz":        "the query of the URL is malformed: it must be name=value pairs, separated by &, with other special characters escaped",
	} {
		if got := at(t, h.want(400, "GET", target, ""), "errors", 0, "message"); got != want {
			t.Errorf("%s: got %q, want %q", target, got, want)
		}
	}
	two := h.want(400, "GET", "/v1/calls?b=1&a=2&limit=5", "")
	if at(t, two, "errors", 0, "path") != "a" || at(t, two, "errors", 1, "path") != "b" {
		t.Errorf("two: %v", two)
	}
	long := h.want(400, "GET", "/v1/calls?"+strings.Repeat("x", 3000)+"=1", "")
	if path, _ := at(t, long, "errors", 0, "path").(string); len(path) > 500 {
		t.Errorf("the path has %d bytes", len(path))
	}
}

func TestTimeFiltersTakeDates(t *testing.T) {
	t.Parallel()
	h := open(t)
	h.ended("early", time.Date(2026, 3, 1, 23, 59, 59, 0, time.UTC))
	h.ended("first", time.Date(2026, 3, 2, 0, 0, 0, 0, time.UTC))
	h.ended("last", time.Date(2026, 3, 2, 23, 59, 59, 0, time.UTC))
	h.ended("late", time.Date(2026, 3, 3, 0, 0, 0, 0, time.UTC))
	for query, want := range map[string]string{
		"start_date=2026-03-02":                                                "late last first",
		"end_date=2026-03-02":                                                  "last first early",
		"start_date=2026-03-02&end_date=2026-03-02":                            "last first",
		"start_date=2026-03-02T00:00:00Z&end_date=2026-03-03T00:00:00.000Z":    "last first",
		"start_date=2026-03-02T02:00:00%2B02:00&end_date=2026-03-02T00:00:01Z": "first",
		"start_date=2026-03-02T02:00:00+02:00&end_date=2026-03-02T00:00:01Z":   "first", // an unescaped plus
	} {
		var got []string
		list, _ := h.want(200, "GET", "/v1/calls?"+query, "")["calls"].([]any)
		for i := range list {
			got = append(got, at(t, list, i, "call_id").(string))
		}
		if strings.Join(got, " ") != want {
			t.Errorf("%s: got %v, want %s", query, got, want)
		}
	}
	for _, text := range []string{"yesterday", "2026-3-2", "2026-02-30", "2026-03-02T09:00", "0000-01-01"} {
		answer := h.want(400, "GET", "/v1/calls?end_date="+text, "")
		if at(t, answer, "errors", 0, "message") !=
			"end_date: must be a date such as 2026-03-02 or a date-time such as 2026-03-02T09:15:00Z" {
			t.Errorf("%s: %v", text, answer)
		}
	}
	h.attach()
	h.want(200, "GET", "/v1/sip/calls?phone_number=%2B14155550100&before=2026-03-02", "")
}

// TestUpperCaseIDsAreTheSame checks that ids in upper case are accepted in paths, queries and bodies.
func TestUpperCaseIDsAreTheSame(t *testing.T) {
	t.Parallel()
	h := open(t)
	h.attach()
	pathway := h.drawn()
	up := strings.ToUpper
	if id := h.want(200, "GET", "/v1/pathway/"+up(pathway), "")["id"]; id != nil && id != pathway {
		t.Errorf("the pathway %s is %v", pathway, id)
	}
	agent := at(t, h.want(201, "POST", "/v1/agents", `{"prompt":"x"}`), "agent", "agent_id").(string)
	if got := at(t, h.want(200, "GET", "/v1/agents/"+up(agent), ""), "agent", "agent_id"); got != agent {
		t.Errorf("the agent %s is %v", agent, got)
	}
	created := h.want(200, "POST", "/v1/calls", `{"phone_number":"`+theirNumber+`","agent_id":"`+up(agent)+`",
		"metadata":{"order":"`+up(agent)+`"}}`)
	id := created["call_id"].(string)
	call := h.want(200, "GET", "/v1/calls/"+up(id), "")
	if call["call_id"] != id || at(t, call, "metadata", "order") != up(agent) {
		t.Errorf("the call %s is %v", id, call)
	}
	h.want(201, "POST", "/v1/pathway/chat/create", `{"pathway_id":"`+up(pathway)+`","pathway_version":0}`)
	inbound := "/v1/inbound/" + ourNumber[1:]
	if got := at(t, h.want(200, "POST", inbound, `{"pathway_id":"`+up(pathway)+`","pathway_version":0}`), "updates", "pathway_id"); got != pathway {
		t.Errorf("the number's pathway is %v", got)
	}
	if list := h.want(200, "GET", "/v1/calls?pathway_id="+up(pathway), ""); list["count"] == nil {
		t.Errorf("list %v", list)
	}
	one, other := h.issue(), h.issue()
	h.data(http.StatusCreated, "POST", "/"+up(one)+"/relations",
		`{"related_issue_id":"`+up(other)+`","relation_type":"related_to"}`)
}
