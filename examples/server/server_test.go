package main

import (
	"context"
	"net/netip"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"go.uber.org/fx"
)

func TestWiring(t *testing.T) {
	t.Parallel()
	if err := fx.ValidateApp(fx.Supply(config{}, starting{}), modules()); err != nil {
		t.Fatal(err)
	}
}

// TestStopWhileStarting has the server told to stop while it waits for its database.
func TestStopWhileStarting(t *testing.T) {
	t.Parallel()
	stopped, stop := context.WithCancel(t.Context())
	stop()
	c := config{DatabaseURL: "sqlite:" + filepath.Join(t.TempDir(), "x.db")}
	s, err := newSecrets(config{Data: t.TempDir()})
	if err != nil {
		t.Fatal(err)
	}
	if _, err := newDatabase(nil, starting{stopped}, c, s, nil); err == nil {
		t.Error("the database was opened")
	}
}

func TestParseDefaults(t *testing.T) {
	t.Parallel()
	c, err := parse(nil, nil)
	if err != nil {
		t.Fatal(err)
	}
	loopback := netip.MustParseAddr("127.0.0.1")
	if c.Addr != "127.0.0.1:8080" || c.SIPAddr != "127.0.0.1:5061" || c.RTPPorts != (ports{10000, 20000}) ||
		c.MediaIP != loopback || c.PublicIP != loopback || c.PublicHost != "127.0.0.1" || c.FirewallIPs != nil || !c.AllowPrivate || c.DatabaseURL != "sqlite:data/callwright.db" ||
		c.CallLogDays != 90 || !c.FailedCallIssues {
		t.Errorf("got %+v", c)
	}
}

func TestRoom(t *testing.T) {
	t.Parallel()
	for p, want := range map[ports]int{
		{}: 1000, {10000, 20000}: 1000, {10000, 10003}: 2, {10001, 10005}: 2, {10000, 10004}: 2, {10000, 10001}: 1,
	} {
		if got := (config{RTPPorts: p}).room(); got != want {
			t.Errorf("%s is room for %d calls, want %d", &p, got, want)
		}
	}
}

func TestParseEnvironment(t *testing.T) {
	t.Parallel()
	env := []string{
		"CALLWRIGHT_SIP_ADDR=192.0.2.1:5061", "CALLWRIGHT_ADDR=127.0.0.1:1", "CALLWRIGHT_RTP_PORTS=0-0",
		"CALLWRIGHT_SECRET_KEY=x", "HOME=/",
		"CALLWRIGHT_SERVICE_HOST=10.0.0.1", "CALLWRIGHT_SERVICE_PORT_HTTP=80", "CALLWRIGHT_PORT=tcp://10.0.0.1:80",
		"CALLWRIGHT_PORT_80_TCP=tcp://10.0.0.1:80", "CALLWRIGHT_PORT_80_TCP_ADDR=10.0.0.1",
	}
	args := []string{
		"--addr", "127.0.0.1:2", "--allow-private=true", "--firewall-ips", "192.0.2.1, 2001:db8::1",
		"--smtp-url", "smtps://user:secret@mail.example.com", "--contact-email", "ops@example.com", "--dns-server", "[::1]:53",
	}
	c, err := parse(args, env)
	if err != nil {
		t.Fatal(err)
	}
	if c.SIPAddr != "192.0.2.1:5061" || c.Addr != "127.0.0.1:2" || c.RTPPorts != (ports{}) || !c.AllowPrivate ||
		!slices.Equal(c.FirewallIPs, []string{"192.0.2.1", "2001:db8::1"}) {
		t.Errorf("got %+v", c)
	}
	for wrong, named := range map[string]string{
		"CALLWRIGHT_RTP_PORTS=many":             "CALLWRIGHT_RTP_PORTS",
		"CALLWRIGHT_SIPADDR=127.0.0.1:5061":     "CALLWRIGHT_SIPADDR",
		"CALLWRIGHT_sip_addr=127.0.0.1:5061":    "CALLWRIGHT_sip_addr",
		"CALLWRIGHT_PORT=8080":                  "CALLWRIGHT_PORT",
		"CALLWRIGHT_SECRET_KEYS=x":              "CALLWRIGHT_SECRET_KEYS",
		"CALLWRIGHT_DRAIN_TIMEOUT=-1s":          "--drain-timeout",
		"CALLWRIGHT_DATABASE_URL=postgresq://x": "--database-url",
	} {
		if _, err := parse(nil, []string{wrong}); err == nil || !strings.Contains(err.Error(), named) {
			t.Errorf("%s gave %v, want %s named", wrong, err, named)
		}
	}
}

// TestParseDatabaseURL takes both names that PostgreSQL has for its addresses.
func TestParseDatabaseURL(t *testing.T) {
	t.Parallel()
	for _, url := range []string{"postgres://u:p@localhost/x", "postgresql://u:p@localhost/x", "sqlite:/var/lib/x.db"} {
		if c, err := parse([]string{"--database-url", url}, nil); err != nil || c.DatabaseURL != url {
			t.Errorf("%s gave %q, %v", url, c.DatabaseURL, err)
		}
	}
}

func TestParseRefuses(t *testing.T) {
	t.Parallel()
	for flag, args := range map[string][]string{
		"--sip-addr":      {"--sip-addr", "nowhere"},
		"--media-ip":      {"--media-ip", "x"},
		"--public-ip":     {"--sip-addr", "0.0.0.0:5061"},
		"--region":        {"--region", ""},
		"--drain-timeout": {"--drain-timeout", "-1s"},
		"--call-log-days": {"--call-log-days", "0"},
		"--log-format":    {"--log-format", "xml"},
		"--database-url":  {"--database-url", "mysql://x"},
		"--llm-model":     {"--llm-base-url", "http://x"},
		"--contact-email": {"--contact-email", "Ops <ops@example.com>"},
		"--firewall-ips":  {"--firewall-ips", "192.0.2.1,office"},
		"--dns-server":    {"--dns-server", "192.0.2.1"},
		"rtp-ports":       {"--rtp-ports", "20000-10000"},
		"--allow-private": {"--allow-private", "maybe"},
		"--sip-key":       {"--sip-cert", "x.pem"},
		"--tts":           {"--tts", "parrot"},
		"--stt":           {"--stt", "parrot"},
		"--llm-base-url":  {"--tts", "openai"},
		"argument":        {"serve"},
	} {
		if _, err := parse(args, nil); err == nil || !strings.Contains(err.Error(), flag) {
			t.Errorf("%v gave %v, want an error about %s", args, err, flag)
		}
	}
}

func TestMasterKey(t *testing.T) {
	t.Parallel()
	path := filepath.Join(t.TempDir(), "secret.key")
	first, err := masterKey(path)
	if err != nil || len(first) != keyBytes {
		t.Fatalf("%d bytes, %v", len(first), err)
	}
	again, err := masterKey(path)
	if err != nil || string(again) != string(first) {
		t.Errorf("the key changed: %v", err)
	}
	if info, err := os.Stat(path); err != nil || info.Mode().Perm() != 0o600 {
		t.Errorf("the file is %v, %v", info, err)
	}
	if err := os.WriteFile(path, []byte("short"), 0o600); err != nil {
		t.Fatal(err)
	}
	if _, err := masterKey(path); err == nil {
		t.Error("a damaged key was accepted")
	}
}
