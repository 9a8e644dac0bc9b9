package sip_test

import (
	"math"
	"reflect"
	"testing"
	"time"

	"github.com/callwright/callwright"
	"github.com/callwright/callwright/sip"
	"github.com/callwright/callwright/sip/alert"
	"github.com/callwright/callwright/sip/failover"
	"github.com/callwright/callwright/sip/monitor"
)

func TestConfigure(t *testing.T) {
	t.Parallel()
	h := open(t)
	h.attach("a", []string{one}, outbound("sip:x.example"))
	h.monitor.watched = nil
	got := h.configure(sip.ConfigChange{
		Number: one, Direction: sip.Outbound,
		Failover: part(failover.Config{
			Enabled: true, Servers: []failover.Server{{Host: "PBX.Example.com"}, {Host: "[2001:4860::1]", Port: 5071}},
			Triggers: []failover.Trigger{failover.Timeout, failover.AuthFailure}, Failback: failover.Manual,
		}),
		Codecs: part(sip.CodecConfig{Codecs: []sip.CodecSetting{{"g722", true}, {"opus", false}, {"pcmu", true}}}),
		Alerts: part(alert.Config{Enabled: true, Thresholds: alert.Thresholds{Unreachable: time.Minute}, Channels: alert.Channels{Email: true}}),
	})
	if f := got.Failover.Servers; f[0] != (failover.Server{Host: "pbx.example.com"}) || f[1] != (failover.Server{Host: "2001:4860::1", Port: 5071}) {
		t.Errorf("servers %v", f)
	}
	if c := got.Codecs.Codecs; !reflect.DeepEqual(c, []sip.CodecSetting{{"G.722", true}, {"Opus", false}, {"PCMU", true}}) {
		t.Errorf("codecs %v", c)
	}
	if len(h.monitor.watched) != 1 || h.monitor.watched[0].Failover == nil || h.monitor.watched[0].Version != 2 {
		t.Errorf("watched %+v", h.monitor.watched)
	}
	if stored := h.get("a", one).Outbound; !reflect.DeepEqual(*stored, got) {
		t.Errorf("got    %+v\nstored %+v", got, *stored)
	}

	got = h.configure(sip.ConfigChange{Number: one, Direction: sip.Outbound, Codecs: callwright.Optional[sip.CodecConfig]{Set: true}})
	if got.Codecs != nil || got.Failover == nil || got.Alerts == nil {
		t.Errorf("got %+v: one part goes back to the standard, the others stay", got)
	}
	h.configure(sip.ConfigChange{
		Number: one, Direction: sip.Outbound, Failover: callwright.Optional[failover.Config]{Set: true}, Alerts: callwright.Optional[alert.Config]{Set: true},
	})
	if got := h.get("a", one).Outbound; got.Failover != nil || got.Alerts != nil {
		t.Errorf("got %+v", got)
	}
}

func TestConfigureInbound(t *testing.T) {
	t.Parallel()
	h := open(t)
	h.attach("a", []string{one}, inbound())
	got := h.configure(sip.ConfigChange{
		Number: one, Direction: sip.Inbound, Failover: callwright.Optional[failover.Config]{Set: true}, // clears an absent setting
		Codecs: part(sip.CodecConfig{Codecs: []sip.CodecSetting{{"PCMA", true}}}),
		Alerts: part(alert.Config{
			Enabled: true, Thresholds: alert.Thresholds{FailureRate: 50}, Channels: alert.Channels{Webhook: "https://example.com/hook"},
		}),
	})
	if got.Codecs == nil || got.Alerts == nil || got.Failover != nil {
		t.Errorf("got %+v", got)
	}
}

// TestConfigureRefuses checks the field of the error for every kind of invalid change.
func TestConfigureRefuses(t *testing.T) {
	t.Parallel()
	h := open(t)
	h.attach("a", []string{one}, inbound(), outbound("sip:x.example"))
	refuse := func(name string, c sip.ConfigChange, code callwright.Code, field string) {
		t.Helper()
		if c.Number == "" {
			c.Number = one
		}
		t.Run(name, func(t *testing.T) {
			_, err := h.Configure(t.Context(), "a", c)
			wantField(t, err, code, field)
		})
	}
	refuse("no number", sip.ConfigChange{Number: "abc", Direction: sip.Inbound}, callwright.CodeBadRequest, "phone_number")
	refuse("no direction", sip.ConfigChange{}, callwright.CodeBadRequest, "direction")
	refuse("not attached", sip.ConfigChange{Number: two, Direction: sip.Inbound}, callwright.CodeNotFound, "")
	refuse("failover in", sip.ConfigChange{Direction: sip.Inbound, Failover: part(failover.Config{})}, callwright.CodeBadRequest, "failover_config")

	servers := func(hosts ...string) (all []failover.Server) {
		for _, h := range hosts {
			all = append(all, failover.Server{Host: h})
		}
		return all
	}
	for name, test := range map[string]struct {
		config failover.Config
		field  string
	}{
		"four servers":      {failover.Config{Servers: servers("a.example", "b.example", "c.example", "d.example")}, "endpoints"},
		"no server":         {failover.Config{Enabled: true}, "endpoints"},
		"no host":           {failover.Config{Servers: servers("")}, "endpoints[0].host"},
		"odd host":          {failover.Config{Servers: servers("a.example", "a b")}, "endpoints[1].host"},
		"host and port":     {failover.Config{Servers: servers("a.example:5061")}, "endpoints[0].host"},
		"a URI":             {failover.Config{Servers: servers("sip:u@a.example")}, "endpoints[0].host"},
		"a transport":       {failover.Config{Servers: servers("udp://a.example")}, "endpoints[0].host"},
		"a private address": {failover.Config{Servers: servers("192.168.0.1")}, "endpoints[0].host"},
		"a loopback":        {failover.Config{Servers: servers("::1")}, "endpoints[0].host"},
		"the same twice":    {failover.Config{Servers: servers("a.example", "A.example")}, "endpoints[1].host"},
		"odd trigger":       {failover.Config{Triggers: []failover.Trigger{failover.Timeout, "busy"}}, "triggers[1]"},
		"a trigger twice":   {failover.Config{Triggers: []failover.Trigger{failover.Timeout, failover.Timeout}}, "triggers[1]"},
		"odd failback":      {failover.Config{Failback: "later"}, "failback"},
	} {
		refuse(name, sip.ConfigChange{Direction: sip.Outbound, Failover: part(test.config)}, callwright.CodeBadRequest, "failover_config."+test.field)
	}

	for name, test := range map[string]struct {
		codecs []sip.CodecSetting
		field  string
	}{
		"no codecs":         {nil, "codecs"},
		"none enabled":      {[]sip.CodecSetting{{"PCMU", false}}, "codecs"},
		"unknown codec":     {[]sip.CodecSetting{{"PCMU", true}, {"AMR", true}}, "codecs[1]"},
		"no engine":         {[]sip.CodecSetting{{"PCMU", true}, {"G.729", true}}, "codecs[1]"},
		"a codec twice":     {[]sip.CodecSetting{{"G.722", true}, {"G722", false}}, "codecs[1]"},
		"a name with a dot": {[]sip.CodecSetting{{"PC.MU", true}}, "codecs[0]"},
	} {
		refuse(name, sip.ConfigChange{Direction: sip.Outbound, Codecs: part(sip.CodecConfig{Codecs: test.codecs})}, callwright.CodeBadRequest, "codec_config."+test.field)
	}
	if got := h.get("a", one).Outbound; got.Version != 1 {
		t.Errorf("a change was kept: %+v", got)
	}
}

func TestConfigureRefusesAlerts(t *testing.T) {
	t.Parallel()
	rate, mail := alert.Thresholds{FailureRate: 5}, alert.Channels{Email: true}
	for name, test := range map[string]struct {
		org       callwright.OrgID // empty means a
		direction sip.Direction    // empty means outbound
		config    alert.Config
		channels  *monitor.Config // nil means mail and webhooks
		field     string
	}{
		"no threshold":           {config: alert.Config{Enabled: true, Channels: mail}, field: "thresholds"},
		"a window alone":         {config: alert.Config{Enabled: true, Channels: mail, Thresholds: alert.Thresholds{FailureRateWindow: time.Minute}}, field: "thresholds"},
		"no channel":             {config: alert.Config{Enabled: true, Thresholds: rate}, field: "channels"},
		"unreachable before":     {config: alert.Config{Thresholds: alert.Thresholds{Unreachable: -1}}, field: "thresholds.unreachable_minutes"},
		"unreachable for ages":   {config: alert.Config{Thresholds: alert.Thresholds{Unreachable: 8 * 24 * time.Hour}}, field: "thresholds.unreachable_minutes"},
		"a negative rate":        {config: alert.Config{Thresholds: alert.Thresholds{FailureRate: -1}}, field: "thresholds.failure_rate_percent"},
		"more than all":          {config: alert.Config{Thresholds: alert.Thresholds{FailureRate: 100.1}}, field: "thresholds.failure_rate_percent"},
		"no number":              {config: alert.Config{Thresholds: alert.Thresholds{FailureRate: math.NaN()}}, field: "thresholds.failure_rate_percent"},
		"a negative window":      {config: alert.Config{Thresholds: alert.Thresholds{FailureRateWindow: -1}}, field: "thresholds.failure_rate_window_minutes"},
		"a long window":          {config: alert.Config{Thresholds: alert.Thresholds{FailureRateWindow: 25 * time.Hour}}, field: "thresholds.failure_rate_window_minutes"},
		"a negative time":        {config: alert.Config{Thresholds: alert.Thresholds{ResponseTime: -1}}, field: "thresholds.response_time_ms"},
		"a long time":            {config: alert.Config{Thresholds: alert.Thresholds{ResponseTime: time.Minute}}, field: "thresholds.response_time_ms"},
		"unreachable in":         {direction: sip.Inbound, config: alert.Config{Thresholds: alert.Thresholds{Unreachable: time.Minute}}, field: "thresholds.unreachable_minutes"},
		"a response time in":     {direction: sip.Inbound, config: alert.Config{Thresholds: alert.Thresholds{ResponseTime: time.Second}}, field: "thresholds.response_time_ms"},
		"an odd URL":             {config: alert.Config{Channels: alert.Channels{Webhook: "http://example.com"}}, field: "channels.webhook"},
		"nobody posts":           {config: alert.Config{Channels: alert.Channels{Webhook: "https://example.com"}}, channels: &monitor.Config{Mailer: mailer{}}, field: "channels.webhook"},
		"nobody sends messages":  {config: alert.Config{Channels: alert.Channels{SMS: true}}, field: "channels.sms"},
		"nobody sends mail":      {config: alert.Config{Channels: mail}, channels: &monitor.Config{Hooks: hooks{}}, field: "channels.email"},
		"mail, but where to":     {org: "b", config: alert.Config{Channels: mail}, field: "channels.email"},
		"refused though not on":  {config: alert.Config{Channels: alert.Channels{SMS: true}, Thresholds: rate}, field: "channels.sms"},
		"SMS, and somebody does": {config: alert.Config{Enabled: true, Thresholds: rate, Channels: alert.Channels{SMS: true}}, channels: &monitor.Config{Texter: texter{}}},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			org, direction := test.org, test.direction
			if org == "" {
				org = "a"
			}
			if direction == "" {
				direction = sip.Outbound
			}
			h := open(t)
			if test.channels != nil {
				h.monitor.Service = newWatcher(t, h.store, *test.channels).Service
			}
			h.attach(org, []string{one}, inbound(), outbound("sip:x.example"))
			_, err := h.Configure(t.Context(), org, sip.ConfigChange{Number: one, Direction: direction, Alerts: part(test.config)})
			if test.field == "" {
				if err != nil {
					t.Errorf("got %v", err)
				}
				return
			}
			wantField(t, err, callwright.CodeBadRequest, "alert_config."+test.field)
		})
	}
}
