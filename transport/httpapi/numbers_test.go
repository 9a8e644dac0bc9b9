package httpapi_test

import (
	"net/http"
	"strings"
	"testing"

	"github.com/callwright/callwright"
)

// nationalRequests lists requests with a national number. field is the name of the member that contains the number.
var nationalRequests = map[string]struct {
	method, target, body string
	field                string
}{
	"call":        {"POST", "/v1/calls", `{"phone_number":"4155550123","task":"Talk."}`, "phone_number"},
	"caller":      {"POST", "/v1/calls", `{"phone_number":"+14155550199","from":"4155550123","task":"Talk."}`, "from"},
	"transfer":    {"POST", "/v1/calls", `{"phone_number":"+14155550199","transfer_phone_number":"4155550123","task":"Talk."}`, "transfer_phone_number"},
	"record":      {"GET", "/v1/sip?phone_number=4155550123", "", "phone_number"},
	"status":      {"GET", "/v1/sip/status?phone_number=4155550123", "", "phone_number"},
	"log":         {"GET", "/v1/sip/calls?phone_number=4155550123", "", "phone_number"},
	"update":      {"POST", "/v1/sip/update", `{"phone_number":"4155550123","updates":{"type":"inbound","auth_mode":"ip"}}`, "phone_number"},
	"codecs":      {"PATCH", "/v1/sip/config", `{"phone_number":"4155550123","direction":"outbound","codec_config":{"codecs":["PCMU"]}}`, "phone_number"},
	"port":        {"POST", "/v1/sip/port/initiate", portBody("4155550123"), "phone_numbers[0]"},
	"inbound":     {"GET", "/v1/inbound/4155550123", "", "phone_number"},
	"inbound set": {"POST", "/v1/inbound/4155550123", `{"prompt":"Talk."}`, "phone_number"},
}

// TestNationalNumbers checks that ten digits are refused with a message that names both possible numbers if the organization has no default
// country. Otherwise the digits must be read as a number of this country, and never as a number of the country whose code they begin with.
func TestNationalNumbers(t *testing.T) {
	t.Parallel()
	h := open(t)
	body := `{"phone_numbers":["4155550123"],"service":"sip","directions":[
		{"type":"outbound","sip_endpoint":"sip:pbx.example.com;transport=tls"},{"type":"inbound","options":{"allowed_ips":["192.0.2.1"]}}]}`
	wantReadings := func(name, answer, field string) {
		t.Helper()
		for _, want := range []string{"+14155550123", "+4155550123", `"` + field + `"`} {
			if !strings.Contains(answer, want) {
				t.Errorf("%s: %s lacks %s", name, answer, want)
			}
		}
	}
	wantReadings("attach", h.do("POST", "/v1/sip/attach", body).Body.String(), "failed")
	for name, r := range nationalRequests {
		answer := h.do(r.method, r.target, r.body)
		if answer.Code != http.StatusBadRequest {
			t.Errorf("%s: got %d", name, answer.Code)
		}
		wantReadings(name, answer.Body.String(), r.field)
	}

	const check = "/v1/sip/port/check?phone_numbers[]=4155550123" // answers 200 with a reason for each number
	wantReadings("port check", h.do("GET", check, "").Body.String(), "not_portable_reason")

	h.organization(func(o *callwright.Organization) { o.DefaultCountry = "US" })
	if text := h.do("GET", check, "").Body.String(); !strings.Contains(text, `"phone_number":"+14155550123","portable":true`) {
		t.Errorf("port check: %s", text)
	}
	answer := h.want(http.StatusOK, "POST", "/v1/sip/attach", body)
	if got := at(t, answer, "data", "configured", 0); got != "+14155550123" {
		t.Errorf("attached %v", got)
	}
	for name, r := range nationalRequests {
		status := http.StatusOK
		if name == "port" {
			status = http.StatusCreated
		}
		answer := h.want(status, r.method, r.target, r.body)
		switch name {
		case "call", "caller":
			id, _ := at(t, answer, "call_id").(string)
			record := h.want(http.StatusOK, "GET", "/v1/calls/"+id, "")
			if got := record[map[string]string{"call": "to", "caller": "from"}[name]]; got != "+14155550123" {
				t.Errorf("%s: the call has %v", name, got)
			}
		case "record":
			if got := at(t, answer, "data", "outbound", "number"); got != "+14155550123" {
				t.Errorf("the record is of %v", got)
			}
		}
	}
}
