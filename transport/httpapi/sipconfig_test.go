package httpapi_test

import (
	"net/http"
	"reflect"
	"testing"

	"github.com/callwright/callwright"
)

func TestConfigurationIsSetAndTakenBack(t *testing.T) {
	t.Parallel()
	h := open(t)
	h.attach()
	h.organization(func(o *callwright.Organization) { o.ContactEmail = "ops@example.com" })
	answer := h.want(http.StatusOK, "PATCH", "/v1/sip/config", `{"phone_number": "`+ourNumber+`", "direction": "outbound",
		"failover_config": {"enabled": true, "triggers": ["unreachable", "timeout"], "endpoints": [
			{"host": "b.example.com", "priority": 2}, {"host": "a.example.com", "port": 5071, "transport": "tls", "priority": 1}]},
		"codec_config": {"codecs": ["PCMA", {"name": "PCMU", "enabled": false}]},
		"alert_config": {"enabled": true, "channels": {"email": true, "webhook": "https://example.com/alerts"},
			"thresholds": {"unreachable_minutes": 5, "failure_rate_percent": 20.5, "failure_rate_window_minutes": 15, "response_time_ms": 800}}}`)
	want := map[string]any{
		"phone_number": ourNumber, "direction": "outbound",
		"failover_config": map[string]any{
			"enabled": true, "triggers": []any{"unreachable", "timeout"}, "failback": "auto", "endpoints": []any{
				map[string]any{"host": "a.example.com", "port": 5071.0, "transport": "tls", "priority": 1.0},
				map[string]any{"host": "b.example.com", "transport": "tls", "priority": 2.0},
			},
		},
		"codec_config": map[string]any{
			"codecs": []any{"PCMA", map[string]any{"name": "PCMU", "enabled": false}}, "transcode": false,
		},
		"alert_config": map[string]any{
			"enabled": true, "channels": map[string]any{"email": true, "sms": false, "webhook": "https://example.com/alerts"},
			"thresholds": map[string]any{
				"unreachable_minutes": 5.0, "failure_rate_percent": 20.5, "failure_rate_window_minutes": 15.0, "response_time_ms": 800.0,
			},
		},
	}
	if got := answer["data"]; !reflect.DeepEqual(got, any(want)) {
		t.Errorf("got %v", got)
	}
	status := h.want(http.StatusOK, "GET", "/v1/sip/status?phone_number="+ourNumber, "")
	if at(t, status, "data", "servers", 0, "host") != "a.example.com" || at(t, status, "data", "servers", 0, "active") != true ||
		at(t, status, "data", "servers", 1, "port") != nil {
		t.Errorf("status %v", status)
	}
	read := "/v1/sip/config?direction=outbound&phone_number=" + ourNumber
	if got := h.want(http.StatusOK, "GET", read, "")["data"]; !reflect.DeepEqual(got, any(want)) {
		t.Errorf("read %v", got)
	}
	_, other := h.tenant("other", "SIP")
	h.want(http.StatusNotFound, "GET", read, "", header{"Authorization", other})
	h.want(http.StatusBadRequest, "GET", "/v1/sip/config?direction=both&phone_number="+ourNumber, "")
	// A setting that is null returns to its default, and the other settings stay.
	answer = h.want(http.StatusOK, "PATCH", "/v1/sip/config", `{"phone_number": "`+ourNumber+`", "direction": "outbound", "failover_config": null}`)
	want["failover_config"] = nil
	if got := answer["data"]; !reflect.DeepEqual(got, any(want)) {
		t.Errorf("got %v", got)
	}
}

func TestConfigurationsThatAreRefused(t *testing.T) {
	t.Parallel()
	h := open(t)
	h.attach()
	config := func(part string) string {
		return `{"phone_number":"` + ourNumber + `","direction":"outbound",` + part + `}`
	}
	endpoints := func(list string) string {
		return config(`"failover_config":{"enabled":true,"endpoints":[` + list + `]}`)
	}
	for name, c := range map[string]struct{ body, path string }{
		"transport":       {endpoints(`{"host":"a.example","priority":1,"transport":"udp"}`), "failover_config.endpoints[0].transport"},
		"same priority":   {endpoints(`{"host":"a.example","priority":1},{"host":"b.example","priority":1}`), "failover_config.endpoints[1].priority"},
		"fourth priority": {endpoints(`{"host":"a.example","priority":4}`), "failover_config.endpoints[0].priority"},
		"private host":    {endpoints(`{"host":"10.0.0.1","priority":2},{"host":"a.example","priority":1}`), "failover_config.endpoints[0].host"},
		"no server":       {endpoints(``), "failover_config.endpoints"},
		"inbound":         {`{"phone_number":"` + ourNumber + `","direction":"inbound","failover_config":{"enabled":true,"endpoints":[{"host":"a.example","priority":1}]}}`, "failover_config"},
		"trigger":         {config(`"failover_config":{"enabled":true,"endpoints":[{"host":"a.example","priority":1}],"triggers":["rain"]}`), "failover_config.triggers[0]"},
		"codec":           {config(`"codec_config":{"codecs":["PCMU","G.729"]}`), "codec_config.codecs[1]"},
		"unknown codec":   {config(`"codec_config":{"codecs":["MP3"]}`), "codec_config.codecs[0]"},
		"no codec":        {config(`"codec_config":{"codecs":[{"name":"PCMU","enabled":false}]}`), "codec_config.codecs"},
		"SMS":             {config(`"alert_config":{"enabled":true,"thresholds":{"unreachable_minutes":5},"channels":{"sms":true}}`), "alert_config.channels.sms"},
		"mail to nobody":  {config(`"alert_config":{"enabled":true,"thresholds":{"unreachable_minutes":5},"channels":{"email":true}}`), "alert_config.channels.email"},
		"webhook":         {config(`"alert_config":{"enabled":true,"thresholds":{"unreachable_minutes":5},"channels":{"webhook":"ftp://a.example"}}`), "alert_config.channels.webhook"},
		"number":          {`{"phone_number":"nobody","direction":"outbound","codec_config":null}`, "phone_number"},
	} {
		answer := h.want(http.StatusBadRequest, "PATCH", "/v1/sip/config", c.body)
		if got := at(t, answer, "errors", 0, "path"); got != c.path {
			t.Errorf("%s: path %v, want %s: %v", name, got, c.path, answer)
		}
	}
	_, other := h.tenant("other", "SIP")
	h.want(http.StatusNotFound, "PATCH", "/v1/sip/config", config(`"codec_config":null`), header{"Authorization", other})
}
