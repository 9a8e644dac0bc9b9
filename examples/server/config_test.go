package main

import (
	"fmt"
	"net/netip"
	"slices"
	"strings"
	"testing"

	"github.com/callwright/callwright/platform"
)

func TestParseDefaults(t *testing.T) {
	t.Parallel()
	c, err := parse(nil, nil)
	if err != nil {
		t.Fatal(err)
	}
	loopback := netip.MustParseAddr("127.0.0.1")
	if c.to.Addr != "127.0.0.1:8080" || c.to.SIPAddr != "127.0.0.1:5061" || c.to.RTPPorts != (platform.PortRange{Low: 10000, High: 20000}) ||
		c.to.MediaIP != loopback || c.to.PublicIP != loopback || c.to.PublicHost != "127.0.0.1" || c.to.FirewallIPs != nil || !*c.to.AllowPrivate || c.to.DatabaseURL != "sqlite:data/callwright.db" ||
		c.to.CallLogDays != 90 || !c.to.FailedCallIssues {
		t.Errorf("got %+v", c)
	}
}

func TestParseEnvironment(t *testing.T) {
	t.Parallel()
	env := []string{
		"CALLWRIGHT_SIP_ADDR=192.0.2.1:5061", "CALLWRIGHT_ADDR=127.0.0.1:1", "CALLWRIGHT_RTP_PORTS=0-0",
		"CALLWRIGHT_SECRET_KEY=x", "HOME=/", "CALLWRIGHT_TEST_REQUIRE_DOCKER=1",
		"CALLWRIGHT_SERVICE_HOST=10.0.0.1", "CALLWRIGHT_SERVICE_PORT_HTTP=80", "CALLWRIGHT_PORT=tcp://10.0.0.1:80",
		"CALLWRIGHT_PORT_80_TCP=tcp://10.0.0.1:80", "CALLWRIGHT_PORT_80_TCP_ADDR=10.0.0.1",
	}
	args := []string{
		"--addr", "127.0.0.1:2", "--allow-private=true", "--firewall-ips", "192.0.2.1, 2001:db8::1", "--sip-trusted", "192.0.2.7, 2001:db8::/48",
		"--smtp-url", "smtps://user:secret@mail.example.com", "--contact-email", "ops@example.com", "--dns-server", "[::1]:53",
	}
	c, err := parse(args, env)
	if err != nil {
		t.Fatal(err)
	}
	if c.to.SIPAddr != "192.0.2.1:5061" || c.to.Addr != "127.0.0.1:2" || c.to.RTPPorts != (platform.PortRange{}) || !*c.to.AllowPrivate ||
		!slices.Equal(c.to.FirewallIPs, []string{"192.0.2.1", "2001:db8::1"}) ||
		fmt.Sprint(c.to.SIPTrusted) != "[192.0.2.7/32 2001:db8::/48]" {
		t.Errorf("got %+v", c)
	}
	for wrong, named := range map[string]string{
		"CALLWRIGHT_RTP_PORTS=many":             "CALLWRIGHT_RTP_PORTS",
		"CALLWRIGHT_SIPADDR=127.0.0.1:5061":     "CALLWRIGHT_SIPADDR",
		"CALLWRIGHT_sip_addr=127.0.0.1:5061":    "CALLWRIGHT_sip_addr",
		"CALLWRIGHT_PORT=8080":                  "CALLWRIGHT_PORT",
		"CALLWRIGHT_SECRET_KEYS=x":              "CALLWRIGHT_SECRET_KEYS",
		"callwright_addr=127.0.0.1:8080":        "callwright_addr",
		"CALLWRIGHT_DATABASE_URL=sqlite:x?y=1":  "without parameters",
		"CALLWRIGHT_DRAIN_TIMEOUT=-1s":          "--drain-timeout",
		"CALLWRIGHT_DATABASE_URL=postgresq://x": "--database-url",
	} {
		if _, err := parse(nil, []string{wrong}); err == nil || !strings.Contains(err.Error(), named) {
			t.Errorf("%s gave %v, want %s named", wrong, err, named)
		}
	}
}

// TestParseDatabaseURL checks that both schemes of PostgreSQL URLs, and SQLite URLs, are valid.
func TestParseDatabaseURL(t *testing.T) {
	t.Parallel()
	for _, url := range []string{"postgres://u:p@localhost/x", "postgresql://u:p@localhost/x", "sqlite:/var/lib/x.db"} {
		if c, err := parse([]string{"--database-url", url}, nil); err != nil || c.to.DatabaseURL != url {
			t.Errorf("%s gave %q, %v", url, c.to.DatabaseURL, err)
		}
	}
}

func TestParsePublicURL(t *testing.T) {
	t.Parallel()
	c, err := parse([]string{"--public-url", "https://example.com/voice/"}, nil)
	if err != nil || c.to.PublicURL != "https://example.com/voice" {
		t.Errorf("got %q, %v", c.to.PublicURL, err)
	}
}

func TestParseRefuses(t *testing.T) {
	t.Parallel()
	for flag, args := range map[string][]string{
		"--sip-addr":        {"--sip-addr", "nowhere"},
		"--media-ip":        {"--media-ip", "x"},
		"--public-ip":       {"--sip-addr", "0.0.0.0:5061"},
		"--region":          {"--region", ""},
		"--drain-timeout":   {"--drain-timeout", "-1s"},
		"--call-log-days":   {"--call-log-days", "0"},
		"--log-format":      {"--log-format", "xml"},
		"log-level":         {"--log-level", "loud"},
		"--database-url":    {"--database-url", "mysql://x"},
		"--public-url":      {"--public-url", "voice.example.com"},
		"--llm-model":       {"--llm-base-url", "http://x"},
		"--contact-email":   {"--contact-email", "Ops <ops@example.com>"},
		"--firewall-ips":    {"--firewall-ips", "192.0.2.1,office"},
		"--trusted-proxies": {"--trusted-proxies", "proxy.example.com"},
		"--dns-server":      {"--dns-server", "192.0.2.1"},
		"rtp-ports":         {"--rtp-ports", "20000-10000"},
		"--allow-private":   {"--allow-private", "maybe"},
		"--sip-key":         {"--sip-cert", "x.pem"},
		"--tts":             {"--tts", "parrot"},
		"--stt":             {"--stt", "parrot"},
		"--llm-base-url":    {"--tts", "openai"},
		"argument":          {"serve"},
	} {
		if _, err := parse(args, nil); err == nil || !strings.Contains(err.Error(), flag) {
			t.Errorf("%v gave %v, want an error about %s", args, err, flag)
		}
	}
}
