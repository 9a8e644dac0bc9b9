package sip_test

import (
	"fmt"
	"testing"

	"github.com/callwright/callwright"
	"github.com/callwright/callwright/sip"
	"github.com/callwright/callwright/sip/alert"
	"github.com/callwright/callwright/sip/failover"
	"github.com/callwright/callwright/sip/health"
)

// TestWithoutMonitor checks the service without a Monitor: calls try the servers in configured order, the health of the servers is unknown,
// and alert channels are refused.
func TestWithoutMonitor(t *testing.T) {
	t.Parallel()
	h := open(t, func(c *sip.Config) { c.Monitor = nil })
	h.attach("a", []string{one}, outbound("sip:x.example"))
	if _, err := h.Configure(t.Context(), "a", sip.ConfigChange{Number: one, Direction: sip.Outbound, Failover: part(failover.Config{
		Enabled: true, Servers: []failover.Server{{Host: "x.example"}, {Host: "y.example"}},
	})}); err != nil {
		t.Fatal(err)
	}
	if r, err := h.Outbound(t.Context(), "a", one); err != nil || fmt.Sprint(r.Servers) != "[sip:x.example;transport=tls sip:y.example;transport=tls]" {
		t.Errorf("a call goes to %v, %v", r.Servers, err)
	}
	if got, err := h.Health(t.Context(), "a", one); err != nil || got.State != health.Unchecked || len(got.Servers) != 0 {
		t.Errorf("the health is %+v, %v", got, err)
	}
	for field, c := range map[string]alert.Channels{"email": {Email: true}, "sms": {SMS: true}, "webhook": {Webhook: "https://example.com/hook"}} {
		_, err := h.Configure(t.Context(), "a", sip.ConfigChange{Number: one, Direction: sip.Outbound, Alerts: part(alert.Config{
			Enabled: true, Thresholds: alert.Thresholds{FailureRate: 50}, Channels: c,
		})})
		wantField(t, err, callwright.CodeBadRequest, "alert_config.channels."+field)
	}
	if _, err := h.Detach(t.Context(), "a", one, []sip.Direction{sip.Outbound}); err != nil {
		t.Error(err)
	}
}

// TestWithoutNumbers checks that without InboundNumbers a number can still be attached inbound, called and released.
func TestWithoutNumbers(t *testing.T) {
	t.Parallel()
	h := open(t, func(c *sip.Config) { c.Numbers = nil })
	h.attach("a", []string{one}, inbound())
	if r, err := h.Inbound(t.Context(), one, sip.Peer{}); err != nil || r.Org != "a" {
		t.Errorf("a call belongs to %q, %v", r.Org, err)
	}
	if _, err := h.Release(t.Context(), "a", one); err != nil {
		t.Error(err)
	}
	if r, err := h.Get(t.Context(), "a", one); err != nil || r.Inbound != nil {
		t.Errorf("after the release: %+v, %v", r, err)
	}
}
