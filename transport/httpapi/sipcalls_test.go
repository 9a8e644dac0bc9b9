package httpapi_test

import (
	"fmt"
	"net/http"
	"net/http/httptest"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	v3 "github.com/pb33f/libopenapi/datamodel/high/v3"

	"github.com/callwright/callwright"
	"github.com/callwright/callwright/adapters/memstore/sipstore"
	"github.com/callwright/callwright/sip"
	"github.com/callwright/callwright/sip/calllog"
	"github.com/callwright/callwright/sip/ladder"
)

// began is the time at which the first call of the tests' log began.
var began = time.Date(2026, 3, 2, 9, 0, 0, 120e6, time.UTC)

// logged adds a call to the log. The call started the given number of minutes after the time in the variable began. If end is nil, the call
// is still running.
func (h *house) logged(id string, minutes int, end *calllog.End, steps ...ladder.Event) {
	h.t.Helper()
	log := sipstore.CallLog{Store: h.store}
	err := log.Begin(h.t.Context(), calllog.Record{
		ID: id, Org: h.org, TrunkID: "t", Number: ourNumber, ParentID: "parent", Direction: sip.Outbound, From: ourNumber,
		To: theirNumber, Attempt: 2, Server: "pbx.example.com:5061", Source: "203.0.113.7", Node: "n1",
		StartedAt: began.Add(time.Duration(minutes) * time.Minute),
	})
	if err == nil && end != nil {
		err = log.Finish(h.t.Context(), h.org, id, *end, steps)
	}
	if err != nil {
		h.t.Fatal(err)
	}
}

func after(d time.Duration) *time.Time {
	at := began.Add(d)
	return &at
}

func TestCallLog(t *testing.T) {
	t.Parallel()
	h := open(t)
	h.attach()
	h.logged("c1", 0, &calllog.End{
		AnsweredAt: after(5 * time.Second), EndedAt: after(48200 * time.Millisecond), SIPCode: 200, Status: "200 OK", Cause: "local_hangup",
	})
	h.logged("c2", 1, &calllog.End{
		EndedAt: after(65 * time.Second), SIPCode: 503, Status: "503 Service Unavailable", Cause: "unreachable",
		Reason: "the server is out of order", Technical: true,
	})
	h.logged("c3", 2, nil)
	list := h.want(http.StatusOK, "GET", "/v1/sip/calls?phone_number="+ourNumber, "")
	for i, want := range []map[string]any{
		{"call_id": "c3", "status": nil, "sip_code": nil, "ended_at": nil, "error_message": nil, "duration_seconds": 0.0},
		{"call_id": "c2", "status": "503 Service Unavailable", "sip_code": 503.0, "duration_seconds": 0.0, "error_message": "the server is out of order"},
		{
			"call_id": "c1", "direction": "outbound", "from": ourNumber, "to": theirNumber, "status": "200 OK", "sip_code": 200.0,
			"duration_seconds": 43.0, "started_at": "2026-03-02T09:00:00.120Z", "ended_at": "2026-03-02T09:00:48.320Z",
			"source_ip": "203.0.113.7", "parent_call_id": "parent", "attempt": 2.0, "server": "pbx.example.com:5061",
		},
	} {
		for name, value := range want {
			if got := at(t, list, "data", "calls", i, name); got != value {
				t.Errorf("%s of call %d is %v, want %v", name, i, got, value)
			}
		}
	}
}

// ids returns the ids of the calls on a page of the log, separated by spaces.
func (h *house) ids(query string) string {
	h.t.Helper()
	list := h.want(http.StatusOK, "GET", "/v1/sip/calls?phone_number="+ourNumber+query, "")
	var ids []string
	for _, c := range at(h.t, list, "data", "calls").([]any) {
		ids = append(ids, at(h.t, c, "call_id").(string))
	}
	return strings.Join(ids, " ")
}

func TestCallLogPages(t *testing.T) {
	t.Parallel()
	h := open(t)
	h.attach()
	for i := range 60 {
		h.logged(fmt.Sprintf("c%02d", i), i, nil)
	}
	if first := h.ids(""); strings.Count(first, "c") != 50 || !strings.HasPrefix(first, "c59 c58") {
		t.Errorf("the first page is %s", first)
	}
	if rest := h.ids("&before=c10"); rest != "c09 c08 c07 c06 c05 c04 c03 c02 c01 c00" {
		t.Errorf("the rest is %s", rest)
	}
	if two := h.ids("&limit=2&before=2026-03-02T09:05:00.120Z"); two != "c04 c03" {
		t.Errorf("before an instant are %s", two)
	}
	for query, path := range map[string]string{
		"phone_number=%2B14155550100&limit=501":       "limit",
		"phone_number=%2B14155550100&limit=0":         "limit",
		"phone_number=%2B14155550100&before=tomorrow": "before",
		"phone_number=nobody":                         "phone_number",
		"limit=5":                                     "phone_number",
	} {
		answer := h.want(http.StatusBadRequest, "GET", "/v1/sip/calls?"+query, "")
		if got := at(t, answer, "errors", 0, "path"); got != path {
			t.Errorf("%s: path %v: %v", query, got, answer)
		}
	}
}

func TestCallTimeline(t *testing.T) {
	t.Parallel()
	h := open(t)
	h.attach()
	h.logged("c1", 0, &calllog.End{EndedAt: after(time.Second), SIPCode: 486},
		ladder.Event{At: began, Attempt: 1, Note: "resolved", Detail: "203.0.113.7:5061"},
		ladder.Event{At: began, Attempt: 1, Sent: true, Method: "INVITE", CSeq: 1, Transport: "TLS 1.3", Peer: "203.0.113.7:5061", Branch: "z9hG4bK", Body: "PCMU; sendrecv"},
		ladder.Event{At: began, Attempt: 1, Method: "INVITE", Status: 486, Reason: "Busy Here", CSeq: 1, Retransmit: true},
	)
	answer := h.want(http.StatusOK, "GET", "/v1/sip/calls/c1/timeline", "")
	for i, want := range []map[string]any{
		{"note": "resolved", "detail": "203.0.113.7:5061", "method": nil, "cseq": nil, "sent": false, "attempt": 1.0},
		{"note": nil, "method": "INVITE", "status": nil, "sent": true, "cseq": 1.0, "transport": "TLS 1.3", "body": "PCMU; sendrecv"},
		{"method": "INVITE", "status": 486.0, "reason": "Busy Here", "retransmission": true, "sent": false},
	} {
		for name, value := range want {
			if got := at(t, answer, "data", "timeline", i, name); got != value {
				t.Errorf("%s of step %d is %v, want %v", name, i, got, value)
			}
		}
	}
	_, other := h.tenant("other", "SIP")
	h.want(http.StatusNotFound, "GET", "/v1/sip/calls/c1/timeline", "", header{"Authorization", other})
	h.want(http.StatusNotFound, "GET", "/v1/sip/calls/c2/timeline", "")
}

// tested waits for the end of a test call, and returns its status.
func (h *house) tested(id string) map[string]any {
	h.t.Helper()
	return h.until("/v1/sip/test-call/status?call_id="+id, func(answer map[string]any) bool {
		return at(h.t, answer, "data", "result") != "pending"
	})
}

func TestTestCall(t *testing.T) {
	t.Parallel()
	h := open(t)
	h.attach()
	started := h.want(http.StatusOK, "POST", "/v1/sip/test-call", `{"phone_number":"`+ourNumber+`"}`)
	id, _ := at(t, started, "data", "call_id").(string)
	answer := h.tested(id)
	if !strings.HasPrefix(id, "tc_") || at(t, answer, "data", "status") != "completed" || at(t, answer, "data", "result") != "connected" {
		t.Errorf("%s: %v", id, answer)
	}
	var events []string
	for _, e := range at(t, answer, "data", "timeline").([]any) {
		events = append(events, at(t, e, "event").(string))
	}
	if !slices.Equal(events, []string{"initiated", "connected", "ringing", "answered", "completed"}) ||
		at(t, answer, "data", "timeline", 3, "detail") != "PCMU, AES_CM_128_HMAC_SHA1_80, TLS 1.3" ||
		at(t, answer, "data", "timeline", 0, "detail") != nil {
		t.Errorf("timeline %v", at(t, answer, "data", "timeline"))
	}
	_, other := h.tenant("other", "SIP")
	h.want(http.StatusNotFound, "GET", "/v1/sip/test-call/status?call_id="+id, "", header{"Authorization", other})
	h.want(http.StatusNotFound, "GET", "/v1/sip/test-call/status?call_id=tc_0", "")
}

// TestEleventhTestCall checks that the eleventh test call is refused with Retry-After.
func TestEleventhTestCall(t *testing.T) {
	t.Parallel()
	h := open(t)
	h.attach()
	h.line.busy = true
	for range 10 {
		started := h.want(http.StatusOK, "POST", "/v1/sip/test-call", `{"phone_number":"`+ourNumber+`"}`)
		if answer := h.tested(at(t, started, "data", "call_id").(string)); at(t, answer, "data", "status") != "busy" {
			t.Fatalf("got %v", answer)
		}
	}
	answer := h.do("POST", "/v1/sip/test-call", `{"phone_number":"`+ourNumber+`"}`)
	wait, err := strconv.Atoi(answer.Header().Get("Retry-After"))
	if answer.Code != http.StatusTooManyRequests || err != nil || wait < 800 || wait > 900 ||
		!strings.Contains(answer.Body.String(), `"TOO_MANY_REQUESTS"`) {
		t.Errorf("got %d, Retry-After %d, %v: %s", answer.Code, wait, err, answer.Body)
	}
}

func TestTestCallsThatAreRefused(t *testing.T) {
	t.Parallel()
	h := open(t)
	for _, number := range []string{"nobody", "+14155550999"} {
		answer := h.want(http.StatusBadRequest, "POST", "/v1/sip/test-call", `{"phone_number":"`+number+`"}`)
		if at(t, answer, "errors", 0, "path") != "phone_number" {
			t.Errorf("%s: %v", number, answer)
		}
	}
}

// TestSIPIsForThoseWhoHaveIt checks that every operation of the area refuses an organization without the entitlement.
func TestSIPIsForThoseWhoHaveIt(t *testing.T) {
	t.Parallel()
	h := open(t)
	asked := 0
	every(func(method, path string, op *v3.Operation) {
		if !slices.Contains(op.Tags, "Sip") {
			return
		}
		asked++
		r := request(t, method, path, op)
		r.Header.Set("Authorization", h.poor)
		answer := httptest.NewRecorder()
		h.ServeHTTP(answer, r)
		keepsContract(t, r, answer)
		if answer.Code != http.StatusForbidden || !strings.Contains(answer.Body.String(), string(callwright.CodeFeatureNotEnabled)) {
			t.Errorf("%s: %d %s", op.OperationId, answer.Code, answer.Body)
		}
	})
	if asked < 16 {
		t.Errorf("only %d operations were asked", asked)
	}
}
