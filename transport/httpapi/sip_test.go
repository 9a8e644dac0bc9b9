package httpapi_test

import (
	"net/http"
	"strings"
	"testing"
)

func TestAttachAndReadBack(t *testing.T) {
	t.Parallel()
	h := open(t)
	answer := h.want(http.StatusOK, "POST", "/v1/sip/attach", `{
		"phone_numbers": ["`+ourNumber+`", "not a number"], "service": "sip", "directions": [
			{"type": "outbound", "sip_endpoint": "sip:pbx.example.com;transport=tls",
			 "options": {"port": 5071, "sip_username": "u", "sip_password": "secret-1", "tls_verification": "chain"}},
			{"type": "inbound", "auth_mode": "ip", "options": {"allowed_ips": ["203.0.113.7", "2001:db8::/32"]}}]}`)
	if at(t, answer, "data", "configured", 0) != ourNumber || answer["errors"] != nil ||
		at(t, answer, "data", "failed", 0, "phone_number") != "not a number" ||
		at(t, answer, "data", "failed", 0, "error") != "BAD_REQUEST" {
		t.Errorf("attach: %v", answer)
	}
	read := h.do("GET", "/v1/sip?phone_number=%2B14155550100", "")
	if strings.Contains(read.Body.String(), "secret-1") {
		t.Errorf("the password comes back: %s", read.Body)
	}
	record := h.want(http.StatusOK, "GET", "/v1/sip?phone_number=+14155550100", "") // the plus arrives as a blank
	for path, want := range map[string]any{
		"outbound.sip_endpoint": "sip:pbx.example.com;transport=tls", "outbound.direction": "outbound",
		"outbound.options.port": 5071.0, "outbound.options.transport": "tls", "outbound.options.secure_media": true,
		"outbound.options.tls_verification": "chain", "outbound.headers": nil, "outbound.number": ourNumber,
		"inbound.sip_endpoint": nil, "inbound.options.auth_mode": "ip", "inbound.org_id": string(h.org),
	} {
		steps := []any{"data"}
		for step := range strings.SplitSeq(path, ".") {
			steps = append(steps, step)
		}
		if got := at(t, record, steps...); got != want {
			t.Errorf("%s is %v, want %v", path, got, want)
		}
	}
	if at(t, record, "data", "inbound", "options", "allowed_ips", 0) != "203.0.113.7" ||
		at(t, record, "data", "inbound", "options", "allowed_ips", 1) != "2001:db8::/32" {
		t.Errorf("allowed_ips %v", at(t, record, "data", "inbound", "options"))
	}
}

func TestNumberWithoutTrunksIsNullBothWays(t *testing.T) {
	t.Parallel()
	h := open(t)
	h.attach()
	_, other := h.tenant("other", "SIP")
	for _, headers := range [][]header{{}, {{"Authorization", other}}} {
		number := "+14155550999"
		if len(headers) > 0 {
			number = ourNumber // attached, but not theirs
		}
		record := h.want(http.StatusOK, "GET", "/v1/sip?phone_number="+number, "", headers...)
		if at(t, record, "data", "inbound") != nil || at(t, record, "data", "outbound") != nil {
			t.Errorf("record %v", record)
		}
	}
}

func TestAttachmentsThatAreRefused(t *testing.T) {
	t.Parallel()
	h := open(t)
	direction := func(d string) string {
		return `{"phone_number":"` + ourNumber + `","service":"sip","directions":[` + d + `]}`
	}
	for name, c := range map[string]struct {
		status     int
		body, path string
	}{
		"both forms":      {400, `{"phone_number":"+14155550100","phone_numbers":["+14155550100"],"service":"sip","directions":[{"type":"inbound"}]}`, "phone_numbers"},
		"neither form":    {400, `{"service":"sip","directions":[{"type":"inbound"}]}`, "phone_numbers"},
		"no directions":   {400, direction(""), "directions"},
		"no service":      {400, `{"phone_number":"+14155550100","directions":[{"type":"inbound"}]}`, "service"},
		"other direction": {400, direction(`{"type":"sideways"}`), "directions[0].type"},
		"no endpoint":     {400, direction(`{"type":"outbound"}`), "directions[0].sip_endpoint"},
		"plain UDP":       {400, direction(`{"type":"outbound","sip_endpoint":"sip:a.example","options":{"transport":"udp"}}`), "directions[0].options.transport"},
		"bad network":     {400, direction(`{"type":"inbound","options":{"allowed_ips":["10.0.0.1","ten"]}}`), "directions[0].options.allowed_ips[1]"},
		"two modes":       {400, direction(`{"type":"inbound","auth_mode":"ip","options":{"auth_mode":"register"}}`), "directions[0].options.auth_mode"},
		"headers":         {501, direction(`{"type":"inbound","headers":{"headers":[{"type":"custom","key":"X-A","value":"a"}]}}`), "directions[0].headers"},
		"registering":     {501, direction(`{"type":"inbound","auth_mode":"register","register_auth":{"username":"u","password":"12345678"}}`), "directions[0].register_auth"},
		"unknown member":  {400, direction(`{"type":"inbound","options":{"colour":"red"}}`), "directions.options.colour"},
		"wrong type":      {400, direction(`{"type":"inbound","options":{"port":"5061"}}`), "directions.options.port"},
	} {
		answer := h.want(c.status, "POST", "/v1/sip/attach", c.body)
		if got := at(t, answer, "errors", 0, "path"); got != c.path || answer["data"] != nil {
			t.Errorf("%s: path %v, want %s: %v", name, got, c.path, answer)
		}
	}
}

func TestDestinationsAreRead(t *testing.T) {
	t.Parallel()
	h := open(t)
	good := h.want(http.StatusOK, "POST", "/v1/sip/parse-destination", `{"input":"tls://PBX.example.com"}`)
	for name, want := range map[string]any{
		"host": "pbx.example.com", "transport": "tls", "user": nil, "is_private_ip": false,
	} {
		if got := at(t, good, "data", "parsed", name); got != want || at(t, good, "data", "valid") != true {
			t.Errorf("%s is %v, want %v", name, got, want)
		}
	}
	private := h.want(http.StatusOK, "POST", "/v1/sip/parse-destination", `{"input":"sip:bob@10.0.0.7:5080"}`)
	if at(t, private, "data", "parsed", "is_private_ip") != true || at(t, private, "data", "parsed", "port") != 5080.0 ||
		at(t, private, "data", "parsed", "user") != "bob" || at(t, private, "data", "parsed", "transport") != nil {
		t.Errorf("private: %v", private)
	}
	bad := h.want(http.StatusOK, "POST", "/v1/sip/parse-destination", `{"input":"not a host"}`)
	if at(t, bad, "data", "valid") != false || at(t, bad, "data", "parsed") != nil {
		t.Errorf("bad: %v", bad)
	}
}
