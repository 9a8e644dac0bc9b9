package httpapi_test

import (
	"encoding/json"
	"errors"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"time"

	v3 "github.com/pb33f/libopenapi/datamodel/high/v3"

	"github.com/callwright/callwright"
	"github.com/callwright/callwright/transport/httpapi"
)

func TestOrderOfRefusals(t *testing.T) {
	t.Parallel()
	h := open(t)
	broken := "{\"phone_number\":\"\x00\"" // violates every check of the body
	for name, c := range map[string]struct {
		target  string
		headers []header
		status  int
		code    string
	}{
		"no key":              {"/v1/sip/attach", []header{{"Authorization", ""}}, 401, "AUTH_FAILURE"},
		"unknown key":         {"/v1/sip/attach", []header{{"Authorization", "Bearer cwk_unknown"}}, 401, "AUTH_FAILURE"},
		"no entitlement":      {"/v1/sip/attach", []header{{"Authorization", h.poor}}, 403, "FEATURE_NOT_ENABLED"},
		"bad body":            {"/v1/sip/attach", nil, 400, "BAD_REQUEST"},
		"no key for a call":   {"/v1/calls", []header{{"Authorization", ""}}, 401, "AUTH_FAILURE"},
		"bearer, lower case":  {"/v1/sip/attach", []header{{"Authorization", "bearer " + h.key}}, 400, "BAD_REQUEST"},
		"bare key":            {"/v1/sip/attach", []header{{"Authorization", h.key}}, 400, "BAD_REQUEST"},
		"other scheme":        {"/v1/sip/attach", []header{{"Authorization", "Basic " + h.key}}, 401, "AUTH_FAILURE"},
		"speech, no key":      {"/v1/speak", []header{{"Authorization", ""}}, 401, "AUTH_FAILURE"},
		"no SIP, of ports":    {"/v1/sip/port/initiate", []header{{"Authorization", h.poor}}, 403, "FEATURE_NOT_ENABLED"},
		"speech, bad body":    {"/v1/speak", nil, 400, "BAD_REQUEST"},
		"entitlement not his": {"/v1/triage/issues", []header{{"Authorization", h.poor}}, 400, "bad_request"},
	} {
		answer := h.want(c.status, "POST", c.target, broken, c.headers...)
		if got := at(t, answer, "errors", 0, "error"); got != c.code || answer["data"] != nil {
			t.Errorf("%s: got %v, want %s", name, answer, c.code)
		}
	}
	unauthorized := h.want(401, "GET", "/v1/calls", "", header{"Authorization", ""})
	if at(t, unauthorized, "errors", 0, "message") != "Unauthorized" {
		t.Errorf("401 says %v", unauthorized)
	}
}

func TestTwoKeysAreNone(t *testing.T) {
	t.Parallel()
	h := open(t)
	request := httptest.NewRequestWithContext(t.Context(), "GET", "/v1/calls", nil)
	request.Header.Add("Authorization", h.key)
	request.Header.Add("Authorization", h.poor)
	answer := httptest.NewRecorder()
	h.ServeHTTP(answer, request)
	if answer.Code != http.StatusUnauthorized || answer.Header().Get("WWW-Authenticate") != "Bearer" {
		t.Errorf("got %d %v, want 401", answer.Code, answer.Header())
	}
}

func TestBodiesThatMayNotPass(t *testing.T) {
	t.Parallel()
	h := open(t)
	number := `{"phone_number":"` + theirNumber + `",`
	for name, c := range map[string]struct {
		status     int
		body, want string
		headers    []header
	}{
		"unknown property":  {400, number + `"task":"x","colour":"red"}`, "colour: is not a known property", nil},
		"unknown, quoted":   {400, number + `"task":"x","a\"b":1}`, `a"b: is not a known property`, nil},
		"nested unknown":    {400, number + `"voicemail":{"action":"hangup","x":1}}`, "voicemail.x: is not a known property", nil},
		"nested missing":    {400, number + `"voicemail":{}}`, "voicemail.action: is required", nil},
		"wrong type":        {400, number + `"task":5}`, "task: must be a text of 1 to 100000 characters", nil},
		"not in the list":   {400, number + `"voicemail":{"action":"sing"}}`, "voicemail.action: must be one of hangup, leave_message, ignore", nil},
		"empty text":        {400, number + `"task":""}`, "task: has a length of 0; at least 1 is required", nil},
		"NUL byte":          {400, number + "\"task\":\"a\x00b\"}", "the body must not contain NUL characters", nil},
		"NUL escape":        {400, number + `"task":"a\u0000b"}`, "the body must not contain NUL characters", nil},
		"NUL escape, doubt": {400, number + `"task":"a\\\u0000b"}`, "the body must not contain NUL characters", nil},
		"not UTF-8":         {400, number + "\"task\":\"\xff\"}", "the body must be valid UTF-8", nil},
		"not JSON":          {400, number, "the body is not valid JSON", nil},
		"trailing data":     {400, number + `"task":"x"} {}`, "the body is not valid JSON", nil},
		"an array":          {400, `[]`, "the body must be an object", nil},
		"too deep":          {400, number + `"request_data":{"a":` + nested(63) + `}}`, "the body must have at most 64 nested levels", nil},
		"too deep, list":    {400, nested(65), "the body must have at most 64 nested levels", nil},
		"too deep, broken":  {400, strings.Repeat("[", 1<<19), "the body must have at most 64 nested levels", nil},
		"nothing":           {400, "", "a body is required", []header{{"Content-Type", "application/json"}}},
		"too large":         {413, number + `"task":"` + strings.Repeat("x", 1<<20) + `"}`, "the body is too large", nil},
		"too large, text":   {413, strings.Repeat("x", 1<<20+1), "the body is too large", nil},
		"other type":        {415, number + `"task":"x"}`, "the Content-Type must be application/json", []header{{"Content-Type", "text/plain"}}},
		"no type":           {415, number + `"task":"x"}`, "the Content-Type must be application/json", []header{{"Content-Type", ""}}},
	} {
		answer := h.want(c.status, "POST", "/v1/calls", c.body, c.headers...)
		if got := at(t, answer, "errors", 0, "message"); got != c.want || answer["message"] != c.want {
			t.Errorf("%s: got %v, want %q", name, answer, c.want)
		}
	}
	// An escaped backslash before u0000 is not a NUL, brackets in a string are not levels, and a body at the maximum depth passes.
	h.attach()
	h.want(200, "POST", "/v1/calls", number+`"task":"\"`+strings.Repeat("[{", 100)+`","request_data":{"a":`+nested(62)+`}}`)
	h.want(200, "POST", "/v1/calls", number+`"task":"a\\u0000b"}`)
}

// nested returns the JSON text of lists that are nested to the given depth.
func nested(levels int) string { return strings.Repeat("[", levels) + strings.Repeat("]", levels) }

// TestPathsWithinFreeObjects checks that the error about a number that is too large names the member of the free object that contains the
// number.
func TestPathsWithinFreeObjects(t *testing.T) {
	t.Parallel()
	h := open(t)
	h.attach()
	number := `{"phone_number":"` + theirNumber + `","task":"x",`
	for body, path := range map[string]string{
		number + `"metadata":{"a":1e999}}`:                    "/v1/calls metadata.a",
		number + `"request_data":{"a":[{"b":1e999}]}}`:        "/v1/calls request_data.a",
		`{"prompt":"x","metadata":{"a":1e999}}`:               "/v1/agents metadata.a",
		`{"pathway_id":"x","request_data":{"a":{"b":1e999}}}`: "/v1/pathway/chat/create request_data.a",
	} {
		target, want, _ := strings.Cut(path, " ")
		answer := h.want(400, "POST", target, body)
		if got := at(t, answer, "errors", 0, "path"); got != want || at(t, answer, "errors", 0, "message") != want+": must not contain a number that is too large: the limit is about 1.8e308" {
			t.Errorf("%s %s: got %v", target, body, answer)
		}
	}
}

func TestEveryFindingHasItsEntry(t *testing.T) {
	t.Parallel()
	h := open(t)
	b := h.want(400, "POST", "/v1/calls", `{"phone_number":"","task":"x","max_duration":1000,"temperature":2}`)
	list, _ := b["errors"].([]any)
	var texts []string
	for i, path := range []string{"phone_number", "max_duration", "temperature"} {
		text, _ := at(t, b, "errors", i, "message").(string)
		texts = append(texts, text)
		if at(t, b, "errors", i, "error") != "BAD_REQUEST" || at(t, b, "errors", i, "path") != path ||
			at(t, b, "errors", i, "field") != path || !strings.HasPrefix(text, path+": ") {
			t.Errorf("no entry about %s in %v", path, list)
		}
	}
	if b["status"] != "error" || b["message"] != strings.Join(texts, "\n") || len(list) != 3 || len(b) != 3 {
		t.Errorf("envelope B: %v", b)
	}
	a := h.want(400, "POST", "/v1/sip/attach", `{"phone_number":"","directions":[{"type":"x","options":{"port":0}}],"service":"sip"}`)
	for i, path := range []string{"phone_number", "directions[0].type", "directions[0].options.port"} {
		text, _ := at(t, a, "errors", i, "message").(string)
		if at(t, a, "errors", i, "path") != path || !strings.HasPrefix(text, path+": ") || strings.Contains(text, "\n") {
			t.Errorf("no entry about %s in %v", path, a)
		}
	}
}

// TestFindingsAreBounded checks that an answer lists at most 50 errors, and counts the others.
func TestFindingsAreBounded(t *testing.T) {
	t.Parallel()
	h := open(t)
	numbers := `"` + strings.Repeat(`","`, 79) + `"`
	a := h.want(400, "POST", "/v1/sip/attach", `{"phone_numbers":[`+numbers+`],"directions":[{"type":"inbound"}],"service":"sip"}`)
	list, _ := a["errors"].([]any)
	if len(list) != 51 || at(t, a, "errors", 50, "message") != "and 30 more" {
		t.Errorf("%d entries: %v", len(list), list[len(list)-1])
	}
}

func TestParametersThatMayNotPass(t *testing.T) {
	t.Parallel()
	h := open(t)
	for target, path := range map[string]string{
		"/v1/calls?limit=0": "limit", "/v1/calls?limit=1001": "limit", "/v1/calls?limit=many": "limit",
		"/v1/calls?completed=perhaps": "completed", "/v1/calls?start_date=yesterday": "start_date",
		"/v1/calls?cursor=%21": "cursor",
	} {
		answer := h.want(400, "GET", target, "")
		if text, _ := at(t, answer, "errors", 0, "message").(string); !strings.HasPrefix(text, path+": ") {
			t.Errorf("%s: %v", target, answer)
		}
	}
	missing := h.want(400, "GET", "/v1/sip", "")
	if at(t, missing, "errors", 0, "path") != "phone_number" || at(t, missing, "errors", 0, "message") != "phone_number: is required" {
		t.Errorf("missing: %v", missing)
	}
	for _, target := range []string{
		"/v1/calls/a%00b", "/v1/calls?from_number=%00", "/v1/calls?x%00=1", "/v1/calls?to_number=%ff", "/v1/calls/%ff",
	} {
		if answer := h.want(400, "GET", target, ""); at(t, answer, "errors", 0, "error") != "BAD_REQUEST" {
			t.Errorf("%s: %v", target, answer)
		}
	}
}

func TestPathsAndMethodsThatAreNotThere(t *testing.T) {
	t.Parallel()
	h := open(t)
	for _, target := range []string{"/", "/v1", "/v1/nothing", "/v1/calls/c1/", "/v2/calls", "//v1/calls", "/metrics"} {
		answer := h.want(404, "GET", target, "")
		if at(t, answer, "errors", 0, "error") != "NOT_FOUND" {
			t.Errorf("%s: %v", target, answer)
		}
	}
	answer := h.do("DELETE", "/v1/calls", "")
	if answer.Code != 405 || answer.Header().Get("Allow") != "GET, HEAD, POST" || !strings.Contains(answer.Body.String(), "METHOD_NOT_ALLOWED") {
		t.Errorf("DELETE: %d %v %s", answer.Code, answer.Header(), answer.Body)
	}
	if answer := h.do("POST", "/healthz", "{}"); answer.Code != 405 || answer.Header().Get("Allow") != "GET, HEAD" {
		t.Errorf("POST /healthz: %d %v", answer.Code, answer.Header())
	}
}

func TestForeignThingsAreAbsent(t *testing.T) {
	t.Parallel()
	h := open(t)
	h.ended("c1", time.Now().UTC())
	_, other := h.tenant("other", "SIP")
	for method, suffix := range map[string]string{"GET": "", "POST": "/stop"} {
		foreign := h.want(404, method, "/v1/calls/c1"+suffix, "", header{"Authorization", other})
		absent := h.want(404, method, "/v1/calls/c2"+suffix, "")
		if at(t, foreign, "errors", 0, "message") != at(t, absent, "errors", 0, "message") ||
			at(t, foreign, "errors", 0, "error") != "NOT_FOUND" {
			t.Errorf("%s: foreign %v, absent %v", method, foreign, absent)
		}
	}
	h.want(404, "GET", "/v1/recordings/c1", "", header{"Authorization", other})
	list := h.want(200, "GET", "/v1/calls", "", header{"Authorization", other})
	if list["count"] != 0.0 {
		t.Errorf("list %v", list)
	}
}

// lockedDoor is an Authenticator that always returns err, or panics if err is nil.
type lockedDoor struct{ err error }

func (d lockedDoor) Authenticate(*http.Request) (callwright.Principal, error) {
	if d.err == nil {
		panic("the door fell down")
	}
	return callwright.Principal{}, d.err
}

func TestErrorsByTheirCode(t *testing.T) {
	t.Parallel()
	secret := errors.New("pq: password=hunter2")
	for name, c := range map[string]struct {
		err    error
		status int
		code   string
		retry  string
	}{
		"rate":          {&callwright.Error{Code: callwright.CodeTooManyRequests, Message: "slow", RetryAfter: 1500 * time.Millisecond}, 429, "TOO_MANY_REQUESTS", "2"},
		"rate, no time": {callwright.ErrTooManyRequests, 429, "TOO_MANY_REQUESTS", "1"},
		"down":          {callwright.ErrUnavailable.Because(secret), 503, "SERVICE_UNAVAILABLE", ""},
		"forbidden":     {callwright.ErrForbidden, 403, "FORBIDDEN", ""},
		"conflict":      {callwright.ErrConflict, 409, "CONFLICT", ""},
		"state":         {callwright.ErrInvalidState, 409, "INVALID_STATE", ""},
		"media":         {callwright.ErrUnsupportedMedia, 415, "UNSUPPORTED_MEDIA", ""},
		"uncoded":       {secret, 500, "INTERNAL_SERVER_ERROR", ""},
		"unknown code":  {&callwright.Error{Code: "WHAT", Message: "hunter2"}, 500, "INTERNAL_SERVER_ERROR", ""},
		"internal":      {&callwright.Error{Code: callwright.CodeInternal, Message: "hunter2"}, 500, "INTERNAL_SERVER_ERROR", ""},
		"panic":         {nil, 500, "INTERNAL_SERVER_ERROR", ""},
	} {
		h := open(t, func(config *httpapi.Config) { config.Access = lockedDoor{c.err} })
		h.Handler = h.unchecked // the contract does not list all of these errors for the operation
		answer := h.do("GET", "/v1/agents", "", header{"X-Request-ID", "trace-7"})
		text := answer.Body.String()
		if answer.Code != c.status || !strings.Contains(text, `"`+c.code+`"`) || answer.Header().Get("Retry-After") != c.retry {
			t.Errorf("%s: got %d %v %s", name, answer.Code, answer.Header(), text)
		}
		if strings.Contains(text, "hunter2") || strings.Contains(text, "fell down") {
			t.Errorf("%s: the answer gives away %s", name, text)
		}
		if line := h.log.String(); !strings.Contains(line, `"request_id":"trace-7"`) ||
			c.status == 500 && !strings.Contains(line, "hunter2") && !strings.Contains(line, "fell down") {
			t.Errorf("%s: the log has %s", name, line)
		}
	}
}

func TestRequestIDs(t *testing.T) {
	t.Parallel()
	h := open(t)
	for given, kept := range map[string]bool{
		"abc-1.2_3": true, strings.Repeat("x", 64): true,
		"": false, "a b": false, "a\"b": false, "-a": false, strings.Repeat("x", 65): false,
	} {
		got := h.do("GET", "/healthz", "", header{"X-Request-ID", given}).Header().Get("X-Request-ID")
		if (got == given) != kept || got == "" {
			t.Errorf("%q became %q", given, got)
		}
	}
	h.log.Reset()
	h.do("GET", "/v1/calls/secret-id", "", header{"X-Request-ID", "r1"})
	var entry map[string]any
	if err := json.Unmarshal(h.log.Bytes(), &entry); err != nil {
		t.Fatal(err)
	}
	if entry["request_id"] != "r1" || entry["status"] != 404.0 || entry["route"] != "/v1/calls/{call_id}" ||
		entry["operation"] != "GetCall" || entry["org"] != string(h.org) || strings.Contains(h.log.String(), "secret-id") {
		t.Errorf("log %v", entry)
	}
}

func TestMissingEngineIsSaid(t *testing.T) {
	t.Parallel()
	h := open(t)
	h.attach()
	h.ready = callwright.Errorf(callwright.CodeUnavailable, "no speech engine: install flite")
	answer := h.want(503, "POST", "/v1/calls", `{"phone_number":"`+theirNumber+`","task":"x"}`)
	if answer["message"] != "no speech engine: install flite" || at(t, answer, "errors", 0, "error") != "SERVICE_UNAVAILABLE" {
		t.Errorf("answer %v", answer)
	}
}

// TestErrorsHaveTheEnvelopeOfTheirOperation sends each operation, except for the pages for signers, a request that the operation must
// refuse. The method do checks the envelope of the answer.
func TestErrorsHaveTheEnvelopeOfTheirOperation(t *testing.T) {
	t.Parallel()
	h := open(t)
	every(func(method, path string, op *v3.Operation) {
		if strings.HasPrefix(path, "/loa/") {
			return
		}
		// Every operation that parses its query refuses a NUL there. The requests for the others lack a body or a parameter.
		answer := h.do(method, strings.NewReplacer("{", "", "}", "").Replace(path)+"?x=%00", "")
		if answer.Code < 400 {
			t.Errorf("%s: %d %s", op.OperationId, answer.Code, answer.Body)
		}
	})
}
