package httpapi_test

import (
	"fmt"
	"net/http"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/callwright/callwright"
	"github.com/callwright/callwright/porting"
	"github.com/callwright/callwright/porting/loa"
)

// portBody returns the body of a request to port the given numbers, which are separated by spaces. The parameter more holds additional
// members.
func portBody(numbers string, more ...string) string {
	return `{"phone_numbers":["` + strings.ReplaceAll(numbers, " ", `","`) + `"],"losing_carrier_information":{"customer_type":"business",
		"business_name":"Acme Bakery","first_name":"Robin","last_name":"Doe","account_number":"88231","pin":"4711",
		"authorized_representative_email":"robin@example.com","notification_emails":["ops@example.com"],
		"address":{"street":"1 Main Street","city":"Oakland","state":"CA","zip":"94607","country":"US"}},
		"documents":["doc_1"]` + strings.Join(append([]string{""}, more...), ",") + `}`
}

// port starts a port request, and returns its id.
func (h *house) port(numbers string, more ...string) string {
	h.t.Helper()
	id, _ := at(h.t, h.want(http.StatusCreated, "POST", "/v1/sip/port/initiate", portBody(numbers, more...)), "data", "port_request_id").(string)
	return id
}

// portRequest returns the record of a port request.
func (h *house) portRequest(id string) any {
	h.t.Helper()
	return at(h.t, h.want(http.StatusOK, "GET", "/v1/sip/port/"+id, ""), "data", "port_request")
}

// changed stores a change of a port request, as durable work would.
func (h *house) changed(id string, change func(r *porting.Request)) {
	h.t.Helper()
	r, err := h.porting.Store.Request(h.t.Context(), h.org, id)
	if err != nil {
		h.t.Fatal(err)
	}
	change(&r)
	if err := h.porting.Store.UpdateRequest(h.t.Context(), r); err != nil {
		h.t.Fatal(err)
	}
}

// portRefused makes a request that is refused, and checks the code and the path of the first error.
func (h *house) portRefused(status int, code, path, method, target, body string) {
	h.t.Helper()
	answer := h.want(status, method, target, body)
	if got, _ := at(h.t, answer, "errors", 0, "path").(string); at(h.t, answer, "errors", 0, "error") != code || got != path {
		h.t.Errorf("%s %s: got %v, want %s about %q", method, target, answer, code, path)
	}
}

func TestPortRequest(t *testing.T) {
	t.Parallel()
	h := open(t)
	started := at(t, h.want(http.StatusCreated, "POST", "/v1/sip/port/initiate", portBody("+14155550100 14155550101",
		`"number_pins":[{"phone_number":"+14155550101","pin":"0815"}],"webhook_url":"https://hooks.example.com/ports?token=hidden"`)), "data")
	id, _ := at(t, started, "port_request_id").(string)
	if at(t, started, "status") != "waiting_for_signature" || at(t, started, "phone_numbers", 1) != "+14155550101" ||
		!strings.HasPrefix(at(t, started, "signature_url").(string), "https://voice.example.com/loa/") {
		t.Errorf("started: %v", started)
	}
	stored, err := h.porting.Store.Request(t.Context(), h.org, id)
	if err != nil || stored.Numbers[0].PIN != "4711" || stored.Numbers[1].PIN != "0815" || stored.Webhook.Reveal() != "https://hooks.example.com/ports?token=hidden" {
		t.Errorf("stored: %+v, %v", stored, err)
	}
	record := h.portRequest(id)
	for name, want := range map[string]any{
		"status": "waiting_for_signature", "status_detail": "awaiting_signature", "account_number": "***31",
		"authorized_rep_email": "robin@example.com", "failure_reason": nil, "failure_code": nil, "who_must_act": "signer",
		"signed_at": nil, "cancel_requested_at": nil, "ended_at": nil, "foc_date": nil,
	} {
		if got := at(t, record, name); got != want {
			t.Errorf("%s is %v, want %v", name, got, want)
		}
	}
	number, _ := at(t, record, "phone_numbers", 0).(map[string]any)
	if number["number"] != "+14155550100" || number["status"] != "pending" || number["pin_provided"] != true || number["inbound"] != nil {
		t.Errorf("a number: %v", number)
	}
	entry, _ := at(t, record, "history", 0).(map[string]any)
	if entry["event"] != "initiated" || entry["from"] != nil || entry["to"] != "waiting_for_signature" || entry["actor"] != "api" {
		t.Errorf("the history begins with %v", entry)
	}
	if text := h.do("GET", "/v1/sip/port/"+id, "").Body.String(); strings.Contains(text, "4711") || strings.Contains(text, "0815") || strings.Contains(text, "hidden") || strings.Contains(text, "88231") {
		t.Errorf("a secret is shown: %s", text)
	}
}

// TestPortRequestShowsFailures checks that customers see the meaning of a failure, but not the carrier's words.
func TestPortRequestShowsFailures(t *testing.T) {
	t.Parallel()
	h := open(t)
	id := h.port("+14155550100 +14155550101")
	foc := time.Date(2026, 4, 1, 16, 0, 0, 0, time.UTC)
	h.changed(id, func(r *porting.Request) {
		r.State, r.SignedAt, r.EndedAt, r.DueAt = porting.Completed, foc, foc, time.Time{}
		r.Numbers[0].State, r.Numbers[0].PortedAt, r.Numbers[0].FOC, r.Numbers[0].Inbound = porting.NumberPorted, foc, foc, porting.RegistrationTaken
		r.Numbers[1].State, r.Numbers[1].Failure = porting.NumberRejected, &porting.Failure{Code: porting.AddressMismatch, Raw: "raw words"}
		r.Failure = &porting.Failure{Code: porting.PortFreeze, Raw: "raw words"}
	})
	record := h.portRequest(id)
	ported, rejected := at(t, record, "phone_numbers", 0), at(t, record, "phone_numbers", 1)
	for _, c := range []struct {
		of         any
		name, want string
	}{
		{record, "status_detail", "partially_ported"}, {record, "failure_code", "port_freeze"}, {record, "who_must_act", "customer"},
		{record, "failure_reason", porting.PortFreeze.Remedy().Text}, {record, "ended_at", "2026-04-01T16:00:00.000Z"},
		{ported, "inbound", "conflict"}, {ported, "ported_at", "2026-04-01T16:00:00.000Z"}, {ported, "foc_date", "2026-04-01T16:00:00.000Z"},
		{rejected, "reason", porting.AddressMismatch.Remedy().Text}, {rejected, "reason_code", "address_mismatch"}, {rejected, "who_must_act", "customer"},
	} {
		if got := at(t, c.of, c.name); got != c.want {
			t.Errorf("%s is %v, want %s", c.name, got, c.want)
		}
	}
	if text := h.do("GET", "/v1/sip/port", "").Body.String(); strings.Contains(text, "raw words") {
		t.Errorf("the words of the carrier are shown: %s", text)
	}
}

func TestPortRequestIsRefused(t *testing.T) {
	t.Parallel()
	h := open(t)
	const initiate = "/v1/sip/port/initiate"
	for path, body := range map[string]string{
		"phone_numbers[1]":               portBody("+14155550100 +19005550100"),
		"number_pins[0].phone_number":    portBody("+14155550100", `"number_pins":[{"phone_number":"+14155550199","pin":"1"}]`),
		"number_pins[1].phone_number":    portBody("+14155550100", `"number_pins":[{"phone_number":"+14155550100","pin":"1"},{"phone_number":"14155550100","pin":"2"}]`),
		"documents[1]":                   strings.Replace(portBody("+14155550100"), `["doc_1"]`, `["doc_1","d2"]`, 1),
		"webhook_url":                    portBody("+14155550100", `"webhook_url":"http://hooks.example.com"`),
		"target_port_date":               portBody("+14155550100", `"target_port_date":"2020-01-01T00:00:00Z"`),
		"losing_carrier_information.pin": strings.Replace(portBody("+14155550100"), `"4711"`, `4711`, 1),
		"color":                          portBody("+14155550100", `"color":"red"`),
	} {
		h.portRefused(http.StatusBadRequest, "BAD_REQUEST", path, "POST", initiate, body)
	}
	all := h.want(http.StatusBadRequest, "POST", initiate, portBody("415 +19005550100 +14155550100 +14155550100"))
	if errs, _ := all["errors"].([]any); len(errs) != 3 {
		t.Errorf("of three wrong numbers are named: %v", errs)
	}
	h.port("+14155550100")
	h.portRefused(http.StatusConflict, "CONFLICT", "phone_numbers[1]", "POST", initiate, portBody("+14155550102 +14155550100"))
	_, stranger := h.tenant("stranger", callwright.EntitlementSIP)
	answer := h.want(http.StatusConflict, "POST", initiate, portBody("+14155550100"), header{"Authorization", stranger})
	if strings.Contains(fmt.Sprint(answer), "rich") {
		t.Errorf("a conflict names the other organization: %v", answer)
	}
	one := h.withPorts(func(c *porting.Config, _ *loa.Config) { c.MaxOpen = 1 })
	one.portRefused(http.StatusTooManyRequests, "TOO_MANY_REQUESTS", "", "POST", initiate, portBody("+14155550103"))
}

func TestPortRequestIsStartedOnce(t *testing.T) {
	t.Parallel()
	h := open(t)
	key := header{"Idempotency-Key", "k1"}
	first := h.want(http.StatusCreated, "POST", "/v1/sip/port/initiate", portBody("+14155550100"), key)
	again := h.want(http.StatusCreated, "POST", "/v1/sip/port/initiate", portBody("+14155550100"), key)
	if at(t, first, "data", "port_request_id") != at(t, again, "data", "port_request_id") {
		t.Errorf("first %v, again %v", first, again)
	}
	other := h.want(http.StatusConflict, "POST", "/v1/sip/port/initiate", portBody("+14155550101"), key)
	if at(t, other, "errors", 0, "error") != "IDEMPOTENCY_CONFLICT" {
		t.Errorf("another body: %v", other)
	}
}

func TestPortRequestsComeInPages(t *testing.T) {
	t.Parallel()
	h := open(t)
	var want []string
	for i := range 5 {
		want = append(want, h.port(fmt.Sprintf("+1415555%04d", 100+i)))
	}
	slices.Reverse(want)
	h.want(http.StatusOK, "DELETE", "/v1/sip/port/"+want[1], "")
	walk := func(query string) (got []string) {
		t.Helper()
		for cursor, pages := "", 0; pages < 10; pages++ {
			page := at(t, h.want(http.StatusOK, "GET", "/v1/sip/port?limit=2&cursor="+cursor+query, ""), "data")
			for _, r := range at(t, page, "port_requests").([]any) {
				id, _ := at(t, r, "id").(string)
				got = append(got, id)
				if at(t, r, "history") != nil {
					t.Errorf("a list has a history: %v", r)
				}
			}
			if cursor, _ = at(t, page, "next_cursor").(string); cursor == "" {
				return got
			}
		}
		t.Fatal("the pages do not end")
		return nil
	}
	if got := walk(""); !slices.Equal(got, want) {
		t.Errorf("got %v, want %v", got, want)
	}
	if got := walk("&status=canceled"); !slices.Equal(got, want[1:2]) {
		t.Errorf("canceled are %v, want %v", got, want[1:2])
	}
	if got := walk("&status=canceled&status=waiting_for_signature"); !slices.Equal(got, want) {
		t.Errorf("in two states are %v, want %v", got, want)
	}
	whole := at(t, h.want(http.StatusOK, "GET", "/v1/sip/port", ""), "data")
	if n := len(at(t, whole, "port_requests").([]any)); n != 5 || at(t, whole, "next_cursor") != nil {
		t.Errorf("without parameters: %d requests, next %v", n, at(t, whole, "next_cursor"))
	}
	for query, path := range map[string]string{"limit=0": "limit", "limit=101": "limit", "cursor=x": "cursor", "status=lost": "status[0]"} {
		h.portRefused(http.StatusBadRequest, "BAD_REQUEST", path, "GET", "/v1/sip/port?"+query, "")
	}
}

func TestPortRequestIsCanceled(t *testing.T) {
	t.Parallel()
	h := open(t)
	waiting := "/v1/sip/port/" + h.port("+14155550100")
	for range 2 {
		if answer := h.want(http.StatusOK, "DELETE", waiting, ""); at(t, answer, "data", "canceled") != true {
			t.Errorf("canceled: %v", answer)
		}
	}
	sent := h.port("+14155550101")
	h.changed(sent, func(r *porting.Request) { r.State, r.Sending = porting.Submitted, true })
	first := h.want(http.StatusAccepted, "DELETE", "/v1/sip/port/"+sent, "")
	again := h.want(http.StatusAccepted, "DELETE", "/v1/sip/port/"+sent, "")
	since := at(t, first, "data", "cancel_requested_at")
	if at(t, first, "data", "canceled") != false || since == nil || at(t, again, "data", "cancel_requested_at") != since ||
		at(t, h.portRequest(sent), "cancel_requested_at") != since || at(t, h.portRequest(sent), "status_detail") != "cancel_requested" {
		t.Errorf("first %v, again %v", first, again)
	}
	for i, change := range []func(r *porting.Request){
		func(r *porting.Request) { r.State, r.EndedAt = porting.Completed, time.Now().UTC() },
		func(r *porting.Request) { r.State, r.Numbers[0].State = porting.InProgress, porting.NumberPorted },
		func(r *porting.Request) {
			r.State, r.Numbers[0].State, r.Numbers[0].FOC = porting.InProgress, porting.NumberConfirmed, time.Now().UTC().Add(time.Hour)
		},
	} {
		id := h.port(fmt.Sprintf("+1415555%04d", 110+i))
		h.changed(id, change)
		h.portRefused(http.StatusConflict, "INVALID_STATE", "", "DELETE", "/v1/sip/port/"+id, "")
	}
	h.portRefused(http.StatusNotFound, "NOT_FOUND", "", "DELETE", "/v1/sip/port/port_0", "")
}

func TestLetterIsMailedAgain(t *testing.T) {
	t.Parallel()
	h := open(t)
	id := h.port("+14155550100")
	target := "/v1/sip/port/" + id + "/letter/resend"
	links := map[any]bool{}
	for range loa.MaxResends {
		answer := at(t, h.want(http.StatusOK, "POST", target, ""), "data")
		links[at(t, answer, "signature_url")] = true
		if at(t, answer, "port_request_id") != id || at(t, answer, "status") != "waiting_for_signature" {
			t.Errorf("mailed again: %v", answer)
		}
	}
	if len(links) != loa.MaxResends {
		t.Errorf("the links are %v", links)
	}
	if event := at(t, h.portRequest(id), "history", 1, "event"); event != "letter_resent" {
		t.Errorf("the history has %v", event)
	}
	h.portRefused(http.StatusTooManyRequests, "TOO_MANY_REQUESTS", "", "POST", target, "")
	h.want(http.StatusOK, "DELETE", "/v1/sip/port/"+id, "")
	h.portRefused(http.StatusConflict, "INVALID_STATE", "", "POST", target, "")
	h.portRefused(http.StatusNotFound, "NOT_FOUND", "", "POST", "/v1/sip/port/port_0/letter/resend", "")
}

func TestPortabilityIsChecked(t *testing.T) {
	t.Parallel()
	h := open(t)
	h.port("+14155550142")
	answer := h.want(http.StatusOK, "GET",
		"/v1/sip/port/check?phone_numbers[]=%2B14155550100&phone_numbers[]=+18005550100&phone_numbers%5B%5D=19005550100&phone_numbers[]=%2B14155550142&phone_numbers[]=%2B14155550112", "")
	for i, want := range []string{
		"+14155550100 portable, of gateway", "+18005550100 portable, of gateway", "+19005550100 number_not_portable, of local",
		"+14155550142 pending_order, of local", "+14155550112 number_not_portable, of gateway",
	} {
		result := at(t, answer, "data", "results", i)
		what, _ := at(t, result, "not_portable_code").(string)
		reason, _ := at(t, result, "not_portable_reason").(string)
		if at(t, result, "portable") == true {
			what = "portable"
		} else if reason != porting.FailureCode(what).Remedy().Text {
			t.Errorf("%s: the reason is %q", want, reason)
		}
		if got := fmt.Sprintf("%v %s, of %v", at(t, result, "phone_number"), what, at(t, result, "source")); got != want {
			t.Errorf("got %s, want %s", got, want)
		}
	}
	some := h.want(http.StatusOK, "GET", "/v1/sip/port/check?phone_numbers[]=14155550100&phone_numbers[]=nobody", "")
	if nobody := at(t, some, "data", "results", 1); at(t, nobody, "phone_number") != "nobody" || at(t, nobody, "portable") != false ||
		at(t, nobody, "not_portable_reason") == "" || at(t, nobody, "not_portable_code") != "number_not_found" {
		t.Errorf("no number: %v", nobody)
	}
	h.portRefused(http.StatusBadRequest, "BAD_REQUEST", "phone_numbers[]", "GET", "/v1/sip/port/check?phone_numbers=14155550100", "")
}
