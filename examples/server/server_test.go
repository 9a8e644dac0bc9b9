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

func none(string) (string, bool) { return "", false }

func TestParseDefaults(t *testing.T) {
	t.Parallel()
	c, err := parse(nil, none)
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
	env := map[string]string{
		"CALLWRIGHT_SIP_ADDR": "192.0.2.1:5061", "CALLWRIGHT_ADDR": "127.0.0.1:1", "CALLWRIGHT_RTP_PORTS": "0-0",
	}
	args := []string{
		"--addr", "127.0.0.1:2", "--allow-private=true", "--firewall-ips", "192.0.2.1, 2001:db8::1",
		"--smtp-url", "smtps://user:secret@mail.example.com", "--contact-email", "ops@example.com", "--dns-server", "[::1]:53",
	}
	c, err := parse(args, func(name string) (string, bool) {
		value, ok := env[name]
		return value, ok
	})
	if err != nil {
		t.Fatal(err)
	}
	if c.SIPAddr != "192.0.2.1:5061" || c.Addr != "127.0.0.1:2" || c.RTPPorts != (ports{}) || !c.AllowPrivate ||
		!slices.Equal(c.FirewallIPs, []string{"192.0.2.1", "2001:db8::1"}) {
		t.Errorf("got %+v", c)
	}
	env["CALLWRIGHT_RTP_PORTS"] = "many"
	_, err = parse(nil, func(name string) (string, bool) {
		value, ok := env[name]
		return value, ok
	})
	if err == nil || !strings.Contains(err.Error(), "CALLWRIGHT_RTP_PORTS") {
		t.Errorf("got %v, want the variable named", err)
	}
}

func TestParseRefuses(t *testing.T) {
	t.Parallel()
	for flag, args := range map[string][]string{
		"--sip-addr":      {"--sip-addr", "nowhere"},
		"--media-ip":      {"--media-ip", "x"},
		"--public-ip":     {"--sip-addr", "0.0.0.0:5061"},
		"--region":        {"--region", ""},
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
		if _, err := parse(args, none); err == nil || !strings.Contains(err.Error(), flag) {
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
