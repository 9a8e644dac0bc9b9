package httpapi_test

import (
	"net/http"
	"testing"
	"time"

	"github.com/callwright/callwright"
	"github.com/callwright/callwright/adapters/memstore/sipstore"
	"github.com/callwright/callwright/sip/health"
	"github.com/callwright/callwright/sip/siptest"
)

func TestFirewallAddresses(t *testing.T) {
	t.Parallel()
	h := open(t)
	answer := h.want(http.StatusOK, "GET", "/v1/sip/firewall-ips", "")
	if len(at(t, answer, "data", "ip_addresses").([]any)) != 2 || at(t, answer, "data", "ip_addresses", 0) != "192.0.2.10" ||
		at(t, answer, "data", "ports", "sip") != "5061 TLS" || at(t, answer, "data", "ports", "rtp") != "10000-20000 UDP" {
		t.Errorf("got %v", answer)
	}
	h.organization(func(o *callwright.Organization) { o.Region = "away" })
	answer = h.want(http.StatusOK, "GET", "/v1/sip/firewall-ips", "")
	if at(t, answer, "data", "ip_addresses", 0) != "198.51.100.7" || at(t, answer, "data", "ports", "sip") != "5071 TLS" {
		t.Errorf("got %v", answer)
	}
	// The organization's region does not exist in this deployment.
	h.organization(func(o *callwright.Organization) { o.Region = "nowhere" })
	h.want(http.StatusServiceUnavailable, "GET", "/v1/sip/firewall-ips", "")
}

func TestOutboundSetup(t *testing.T) {
	t.Parallel()
	h := open(t)
	h.attach()
	for _, query := range []string{"", "?phone_number=" + ourNumber} {
		answer := h.want(http.StatusOK, "GET", "/v1/sip/outbound-setup"+query, "")
		if at(t, answer, "data", "sip_server") != "sip.example.net" || at(t, answer, "data", "port") != 5061.0 || at(t, answer, "data", "instructions") == "" ||
			at(t, answer, "data", "credentials") != nil {
			t.Errorf("got %v", answer)
		}
	}
	_, other := h.tenant("other", "SIP")
	h.want(http.StatusNotFound, "GET", "/v1/sip/outbound-setup?phone_number="+ourNumber, "", header{"Authorization", other})
	bad := h.want(http.StatusBadRequest, "GET", "/v1/sip/outbound-setup?phone_number=nobody", "")
	if at(t, bad, "errors", 0, "path") != "phone_number" {
		t.Errorf("got %v", bad)
	}
}

func TestStatusOfATrunk(t *testing.T) {
	t.Parallel()
	h := open(t)
	h.attach()
	fresh := h.want(http.StatusOK, "GET", "/v1/sip/status?phone_number="+ourNumber, "")
	for name, want := range map[string]any{
		"status": "unchecked", "response_time_ms": nil, "checked_at": nil, "uptime_percentage": nil, "average_response_time_ms": nil,
		"p95_response_time_ms": nil, "tls_verification": "full", "registration": nil,
	} {
		if got := at(t, fresh, "data", name); got != want {
			t.Errorf("%s of a fresh trunk is %v", name, got)
		}
	}
	statuses := sipstore.Statuses{Store: h.store}
	trunks, err := sipstore.Trunks{Store: h.store}.Trunks(t.Context(), h.org, ourNumber)
	if err != nil || len(trunks) != 2 {
		t.Fatalf("%d trunks, %v", len(trunks), err)
	}
	all, err := statuses.StatusesOf(t.Context(), h.org, []string{trunks[0].ID, trunks[1].ID})
	if err != nil || len(all) != 1 {
		t.Fatalf("%d statuses, %v", len(all), err)
	}
	s := all[0]
	s.Servers[0].Health = health.Server{
		State: health.Suspect, Since: began, CheckedAt: began, ResponseTime: 23600 * time.Microsecond, Reason: "200 OK",
	}
	s.Servers[0].Samples = []time.Duration{20 * time.Millisecond, 35 * time.Millisecond}
	s.History = health.History{
		Days: []health.Day{{Date: began.Truncate(24 * time.Hour), Up: 3 * time.Hour, Down: time.Hour}}, Until: began,
	}
	if err := siptest.StageStatus(t.Context(), statuses, s); err != nil {
		t.Fatal(err)
	}
	answer := h.want(http.StatusOK, "GET", "/v1/sip/status?phone_number="+ourNumber, "")
	for name, want := range map[string]any{
		"status": "healthy", "response_time_ms": 24.0, "checked_at": "2026-03-02T09:00:00.120Z", "average_response_time_ms": 27.5,
	} {
		if got := at(t, answer, "data", name); got != want {
			t.Errorf("%s is %v, want %v", name, got, want)
		}
	}
	for name, want := range map[string]any{
		"host": "pbx.example.com", "port": 5061.0, "status": "healthy", "active": true, "response_time_ms": 24.0, "detail": "200 OK",
	} {
		if got := at(t, answer, "data", "servers", 0, name); got != want {
			t.Errorf("%s of the server is %v, want %v", name, got, want)
		}
	}
	if uptime, _ := at(t, answer, "data", "uptime_percentage").(float64); uptime <= 0 || uptime > 100 {
		t.Errorf("uptime %v", answer)
	}
	_, other := h.tenant("other", "SIP")
	h.want(http.StatusNotFound, "GET", "/v1/sip/status?phone_number="+ourNumber, "", header{"Authorization", other})
}
