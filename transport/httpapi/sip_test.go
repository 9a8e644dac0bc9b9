package httpapi_test

import (
	"net/http"
	"reflect"
	"strings"
	"testing"
)

func TestAttachAndReadBack(t *testing.T) {
	t.Parallel()
	h := open(t)
	answer := h.want(http.StatusOK, "POST", "/v1/sip/attach", `{
		"phone_numbers": ["`+ourNumber+`", "not a number"], "service": "sip", "directions": [
			{"type": "outbound", "sip_endpoint": "sip:pbx.example.com;transport=tls",
			 "options": {"port": 5071, "sip_username": "u", "sip_password": "secret-1", "tls_verification": "chain", "redirect_policy": "same_server"}},
			{"type": "inbound", "auth_mode": "ip", "options": {"allowed_ips": ["203.0.113.7", "2001:db8::/32"], "transfer_policy": "any", "dtmf_mode": "info"}}]}`)
	if at(t, answer, "data", "configured", 0) != ourNumber || answer["errors"] != nil ||
		at(t, answer, "data", "failed", 0, "phone_number") != "not a number" ||
		at(t, answer, "data", "failed", 0, "error") != "BAD_REQUEST" {
		t.Errorf("attach: %v", answer)
	}
	read := h.do("GET", "/v1/sip?phone_number=%2B14155550100", "")
	if strings.Contains(read.Body.String(), "secret-1") {
		t.Errorf("the password comes back: %s", read.Body)
	}
	record := h.want(http.StatusOK, "GET", "/v1/sip?phone_number=+14155550100", "") // the plus is decoded as a space
	for path, want := range map[string]any{
		"outbound.sip_endpoint": "sip:pbx.example.com;transport=tls", "outbound.direction": "outbound",
		"outbound.options.port": 5071.0, "outbound.options.transport": "tls", "outbound.options.secure_media": true,
		"outbound.options.sip_credentials_set": true, "inbound.options.sip_credentials_set": false,
		"outbound.options.tls_verification": "chain", "outbound.options.transfer_policy": "organization",
		"outbound.options.redirect_policy": "same_server",
		"inbound.options.dtmf_mode":        "info", "outbound.options.dtmf_mode": "rfc2833",
		"inbound.options.transfer_policy": "any", "outbound.headers": nil, "outbound.number": ourNumber,
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

// TestWhoMayCall checks that the record shows how an inbound trunk restricts its callers, or that it admits anyone.
func TestWhoMayCall(t *testing.T) {
	t.Parallel()
	h := open(t)
	for options, want := range map[string]string{
		``: "anyone", `,"options":{"allowed_ips":["192.0.2.1"]}`: "addresses", `,"options":{"allowed_ips":[]}`: "anyone",
		`,"options":{"allowed_ips":["0.0.0.0/0","::/0"]}`: "anyone", `,"options":{"allowed_ips":["0.0.0.0/1","128.0.0.0/1"]}`: "anyone",
		`,"options":{"allowed_ips":["0.0.0.0/0"],"sip_username":"u","sip_password":"secret-1"}`:                                                    "credentials",
		`,"options":{"sip_username":"u","sip_password":"secret-1"}`:                                                                                "credentials",
		`,"auth_mode":"register","sip_endpoint":"sip:pbx.example.com;transport=tls","register_auth":{"username":"u","password":"a-long-secret-1"}`: "registration",
	} {
		body := `{"phone_number":"+14155550177","service":"sip","directions":[{"type":"inbound"` + options + `}]}`
		h.want(http.StatusOK, "POST", "/v1/sip/attach", body)
		record := h.want(http.StatusOK, "GET", "/v1/sip?phone_number=%2B14155550177", "")
		if got := at(t, record, "data", "inbound", "options", "admits"); got != want {
			t.Errorf("%s: admits %v, want %s", options, got, want)
		}
		h.want(http.StatusOK, "POST", "/v1/sip/detach", `{"phone_number":"+14155550177","service":"sip","directions":[{"type":"inbound"}]}`)
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
			number = ourNumber // attached by another organization
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
		"two credentials": {400, direction(`{"type":"inbound","register_auth":{"username":"u","password":"12345678"},"options":{"register_auth":{"username":"v","password":"12345678"}}}`), "directions[0].options.register_auth"},
		"no credentials":  {400, direction(`{"type":"inbound","sip_endpoint":"sip:a.example","auth_mode":"register"}`), "directions[0].register_auth"},
		"control":         {400, direction(`{"type":"inbound","sip_endpoint":"sip:a.example","auth_mode":"register","register_auth":{"username":"a\nb","password":"12345678"}}`), "directions[0].register_auth.username"},
		"short password":  {400, direction(`{"type":"inbound","register_auth":{"username":"u","password":"1234567"}}`), "directions[0].register_auth.password"},
		"outbound mode":   {400, direction(`{"type":"outbound","sip_endpoint":"sip:a.example","auth_mode":"register"}`), "directions[0].auth_mode"},
		"headers' way":    {400, direction(`{"type":"inbound","headers":{"direction":"outbound","headers":[]}}`), "directions[0].headers.direction"},
		"header of SIP":   {400, direction(`{"type":"inbound","headers":{"headers":[{"type":"custom","key":"X-A","value":"a"},{"type":"custom","key":"Via","value":"b"}]}}`), "directions[0].headers.headers[1].key"},
		"encoding":        {400, direction(`{"type":"inbound","headers":{"headers":[{"type":"uui","target":"a","encoding":"rot13"}]}}`), "directions[0].headers.headers[0].encoding"},
		"kind of rule":    {400, direction(`{"type":"inbound","headers":{"headers":[{"type":"uui","target":"a"},{"type":"magic","target":"a"}]}}`), "directions[0].headers.headers[1].type"},
		"no network":      {400, direction(`{"type":"outbound","sip_endpoint":"sip:10.0.0.1"}`), "directions[0].sip_endpoint"},
		"unknown member":  {400, direction(`{"type":"inbound","options":{"colour":"red"}}`), "directions[0].options.colour"},
		"wrong type":      {400, direction(`{"type":"inbound","options":{"port":"5061"}}`), "directions[0].options.port"},
	} {
		answer := h.want(c.status, "POST", "/v1/sip/attach", c.body)
		if got := at(t, answer, "errors", 0, "path"); got != c.path || answer["data"] != nil {
			t.Errorf("%s: path %v, want %s: %v", name, got, c.path, answer)
		}
	}
}

// TestAttachWithRegistrationAndHeaders checks that the registration and the headers of an inbound direction are stored and shown, and that
// no password is shown again or logged.
func TestAttachWithRegistrationAndHeaders(t *testing.T) {
	t.Parallel()
	h := open(t)
	const direction = `{"type": "inbound", "sip_endpoint": "sip:pbx.example.com;transport=tls", "auth_mode": "register",
		"register_auth": {"username": "acme", "password": "given-by-user"},
		"headers": {"direction": "inbound", "headers": [
			{"type": "custom", "key": "X-Customer", "value": "customer"},
			{"type": "custom", "key": "origin", "value": "pbx", "passthrough": true},
			{"type": "uui", "target": "ticket", "purpose": "support", "encoding": "hex", "content": "isdn-uui"}]}}`
	attached := h.want(http.StatusOK, "POST", "/v1/sip/attach",
		`{"phone_number":"`+ourNumber+`","service":"sip","directions":[`+direction+`]}`)
	password, _ := at(t, attached, "data", "register_password_for_pbx").(string)
	if len(password) < 16 || password == "given-by-user" {
		t.Errorf("the password to configure is %q", password)
	}
	record := h.want(http.StatusOK, "GET", "/v1/sip?phone_number="+ourNumber, "")
	inbound := at(t, record, "data", "inbound")
	if at(t, inbound, "sip_endpoint") != "sip:pbx.example.com;transport=tls" || at(t, inbound, "options", "auth_mode") != "register" ||
		at(t, inbound, "options", "tls_verification") != "full" || at(t, inbound, "headers", "direction") != "inbound" {
		t.Errorf("record %v", inbound)
	}
	want := []any{
		map[string]any{"type": "custom", "key": "X-Customer", "value": "customer"},
		map[string]any{"type": "custom", "key": "origin", "value": "pbx", "passthrough": true},
		map[string]any{"type": "uui", "target": "ticket", "purpose": "support", "encoding": "hex", "content": "isdn-uui"},
	}
	if got := at(t, inbound, "headers", "headers"); !reflect.DeepEqual(got, want) {
		t.Errorf("headers %v", got)
	}
	setup := h.want(http.StatusOK, "GET", "/v1/sip/outbound-setup?phone_number="+ourNumber, "")
	if at(t, setup, "data", "credentials", "username") != "acme" || at(t, setup, "data", "credentials", "password") != "********" {
		t.Errorf("set-up %v", setup)
	}
	status := h.want(http.StatusOK, "GET", "/v1/sip/status?phone_number="+ourNumber, "")
	if at(t, status, "data", "status") != "unchecked" || at(t, status, "data", "registration", "status") != "registering" {
		t.Errorf("status %v", status)
	}
	updated := h.want(http.StatusOK, "POST", "/v1/sip/update", `{"phone_number":"`+ourNumber+`","updates":{
		"type":"inbound","headers":null,"options":{"auth_mode":"register","register_auth":{"username":"acme","password":"given-again"}}}}`)
	again, _ := at(t, updated, "data", "register_password_for_pbx").(string)
	if again == "" || again == password || at(t, updated, "data", "inbound", "headers") != nil {
		t.Errorf("update %v", updated)
	}
	var answers strings.Builder
	for _, path := range []string{"?phone_number=" + ourNumber, "/numbers", "/status?phone_number=" + ourNumber, "/outbound-setup?phone_number=" + ourNumber} {
		answers.WriteString(h.do("GET", "/v1/sip"+path, "").Body.String())
	}
	answers.WriteString(h.do("POST", "/v1/sip/update", `{"phone_number":"`+ourNumber+`","updates":{"type":"inbound","options":{"allowed_ips":[]}}}`).Body.String())
	answers.WriteString(h.log.String())
	for _, secret := range []string{password, again, "given-by-user", "given-again"} {
		if strings.Contains(answers.String(), secret) {
			t.Errorf("the secret %q is in %s", secret, &answers)
		}
	}
}

// TestAttachWithoutARegistrar checks that an inbound direction with registration fails without an endpoint. An outbound trunk would have
// supplied the registrar.
func TestAttachWithoutARegistrar(t *testing.T) {
	t.Parallel()
	h := open(t)
	answer := h.want(http.StatusOK, "POST", "/v1/sip/attach", `{"phone_number":"`+ourNumber+`","service":"sip","directions":[
		{"type":"inbound","auth_mode":"register","register_auth":{"username":"u","password":"12345678"}}]}`)
	message, _ := at(t, answer, "data", "failed", 0, "message").(string)
	if !strings.HasPrefix(message, "directions[0].sip_endpoint: is required") || at(t, answer, "data", "register_password_for_pbx") != nil {
		t.Errorf("got %v", answer)
	}
}

func TestUpdateKeepsWhatIsNotNamed(t *testing.T) {
	t.Parallel()
	h := open(t)
	h.want(http.StatusOK, "POST", "/v1/sip/attach", `{"phone_number":"`+ourNumber+`","service":"sip","directions":[
		{"type":"outbound","sip_endpoint":"sip:pbx.example.com","options":{"port":5071,"tls_verification":"none"}},
		{"type":"inbound","options":{"allowed_ips":["203.0.113.7"]}}]}`)
	answer := h.want(http.StatusOK, "POST", "/v1/sip/update", `{"phone_number":"`+ourNumber+`","updates":{
		"type":"outbound","sip_endpoint":"sip:pbx2.example.com"}}`)
	outbound := at(t, answer, "data", "outbound")
	if at(t, outbound, "sip_endpoint") != "sip:pbx2.example.com" || at(t, outbound, "options", "port") != 5071.0 ||
		at(t, outbound, "options", "tls_verification") != "none" || at(t, answer, "data", "inbound") != nil ||
		at(t, answer, "data", "register_password_for_pbx") != nil {
		t.Errorf("outbound %v", answer)
	}
	inbound := h.want(http.StatusOK, "POST", "/v1/sip/update",
		`{"phone_number":"`+ourNumber+`","updates":{"type":"inbound","options":{"allowed_ips":[]}}}`)
	if allowed := at(t, inbound, "data", "inbound", "options", "allowed_ips"); allowed != nil {
		t.Errorf("an empty list leaves %v", allowed)
	}
}

func TestUpdatesThatAreRefused(t *testing.T) {
	t.Parallel()
	h := open(t)
	h.attach()
	_, other := h.tenant("other", "SIP")
	update := func(number, updates string) string {
		return `{"phone_number":"` + number + `","updates":` + updates + `}`
	}
	for name, c := range map[string]struct {
		status     int
		body, path string
	}{
		"port":              {400, update(ourNumber, `{"type":"outbound","options":{"port":70000}}`), "updates.options.port"},
		"endpoint":          {400, update(ourNumber, `{"type":"outbound","sip_endpoint":"sip:127.0.0.1"}`), "updates.sip_endpoint"},
		"transport":         {400, update(ourNumber, `{"type":"outbound","options":{"transport":"tcp"}}`), "updates.options.transport"},
		"network":           {400, update(ourNumber, `{"type":"inbound","options":{"allowed_ips":["x/9"]}}`), "updates.options.allowed_ips[0]"},
		"no credentials":    {400, update(ourNumber, `{"type":"inbound","sip_endpoint":"sip:a.example","auth_mode":"register"}`), "updates.register_auth"},
		"mode in options":   {400, update(ourNumber, `{"type":"outbound","options":{"auth_mode":"register"}}`), "updates.options.auth_mode"},
		"name in options":   {400, update(ourNumber, `{"type":"inbound","sip_endpoint":"sip:a.example","options":{"auth_mode":"register","register_auth":{"username":"a\nb","password":"12345678"}}}`), "updates.options.register_auth.username"},
		"number":            {400, update("nobody", `{"type":"outbound"}`), "phone_number"},
		"number without it": {404, update("+14155550999", `{"type":"outbound"}`), ""},
	} {
		answer := h.want(c.status, "POST", "/v1/sip/update", c.body)
		if got, _ := at(t, answer, "errors", 0, "path").(string); got != c.path {
			t.Errorf("%s: path %q, want %q: %v", name, got, c.path, answer)
		}
	}
	h.want(http.StatusNotFound, "POST", "/v1/sip/update", update(ourNumber, `{"type":"outbound"}`), header{"Authorization", other})
}

func TestDetach(t *testing.T) {
	t.Parallel()
	h := open(t)
	h.attach()
	_, other := h.tenant("other", "SIP")
	outbound := `{"phone_number":"` + ourNumber + `","directions":[{"type":"outbound"}],"service":"sip"}`
	h.want(http.StatusNotFound, "POST", "/v1/sip/detach", outbound, header{"Authorization", other})
	answer := h.want(http.StatusOK, "POST", "/v1/sip/detach", outbound)
	if at(t, answer, "data", "phone_number") != ourNumber || at(t, answer, "data", "detached", 0) != "outbound" {
		t.Errorf("detach %v", answer)
	}
	both := `{"phone_number":"` + ourNumber + `","directions":[{"type":"inbound"},{"type":"outbound"}],"service":"sip"}`
	h.want(http.StatusNotFound, "POST", "/v1/sip/detach", both)
	record := h.want(http.StatusOK, "GET", "/v1/sip?phone_number="+ourNumber, "")
	if at(t, record, "data", "outbound") != nil || at(t, record, "data", "inbound", "direction") != "inbound" {
		t.Errorf("record %v", record)
	}
	bad := h.want(http.StatusBadRequest, "POST", "/v1/sip/detach", strings.ReplaceAll(outbound, ourNumber, "nobody"))
	if at(t, bad, "errors", 0, "path") != "phone_number" {
		t.Errorf("bad number %v", bad)
	}
}

func TestNumbersAreListed(t *testing.T) {
	t.Parallel()
	h := open(t)
	if empty := h.want(http.StatusOK, "GET", "/v1/sip/numbers", ""); len(at(t, empty, "data", "numbers").([]any)) != 0 {
		t.Errorf("empty %v", empty)
	}
	h.attach()
	h.want(http.StatusOK, "POST", "/v1/sip/attach", `{"phone_number":"+14155550199","service":"sip","directions":[{"type":"inbound"}]}`)
	list := h.want(http.StatusOK, "GET", "/v1/sip/numbers", "")
	want := []any{
		map[string]any{
			"phone_number": ourNumber, "directions": []any{"inbound", "outbound"},
			"sip_endpoint": "sip:pbx.example.com:5061;transport=tls", "health_status": "unchecked", "direction": "both", "status": "unchecked",
		},
		map[string]any{
			"phone_number": "+14155550199", "directions": []any{"inbound"}, "sip_endpoint": nil, "health_status": "unchecked",
			"direction": "inbound", "status": "unchecked",
		},
	}
	if got := at(t, list, "data", "numbers"); !reflect.DeepEqual(got, want) {
		t.Errorf("numbers %v", got)
	}
	_, other := h.tenant("other", "SIP")
	if foreign := h.want(http.StatusOK, "GET", "/v1/sip/numbers", "", header{"Authorization", other}); len(at(t, foreign, "data", "numbers").([]any)) != 0 {
		t.Errorf("foreign %v", foreign)
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
	for _, input := range []string{"not a host", "", "tel:+15551234567"} {
		bad := h.want(http.StatusOK, "POST", "/v1/sip/parse-destination", `{"input":"`+input+`"}`)
		if at(t, bad, "data", "valid") != false || at(t, bad, "data", "parsed") != nil {
			t.Errorf("bad: %v", bad)
		}
	}
}
