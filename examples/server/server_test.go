package main

import (
	"context"
	"encoding/base64"
	"errors"
	"fmt"
	"io/fs"
	"net/netip"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"syscall"
	"testing"

	"go.uber.org/fx"
	"go.uber.org/fx/fxtest"

	"github.com/callwright/callwright"
	"github.com/callwright/callwright/adapters/bunstore"
	"github.com/callwright/callwright/adapters/masterkey"
)

func TestWiring(t *testing.T) {
	t.Parallel()
	if err := fx.ValidateApp(fx.Supply(config{}, starting{}, hangups(nil)), modules()); err != nil {
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
	if c.SIPAddr != "192.0.2.1:5061" || c.Addr != "127.0.0.1:2" || c.RTPPorts != (ports{}) || !c.AllowPrivate ||
		!slices.Equal(c.FirewallIPs, []string{"192.0.2.1", "2001:db8::1"}) ||
		fmt.Sprint(c.SIPTrusted) != "[192.0.2.7/32 2001:db8::/48]" {
		t.Errorf("got %+v", c)
	}
	for wrong, named := range map[string]string{
		"CALLWRIGHT_RTP_PORTS=many":             "CALLWRIGHT_RTP_PORTS",
		"CALLWRIGHT_SIPADDR=127.0.0.1:5061":     "CALLWRIGHT_SIPADDR",
		"CALLWRIGHT_sip_addr=127.0.0.1:5061":    "CALLWRIGHT_sip_addr",
		"CALLWRIGHT_PORT=8080":                  "CALLWRIGHT_PORT",
		"CALLWRIGHT_SECRET_KEYS=x":              "CALLWRIGHT_SECRET_KEYS",
		"callwright_addr=127.0.0.1:8080":        "callwright_addr",
		"CALLWRIGHT_DATABASE_URL=sqlite:x?y=1":  "takes no parameters",
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

func TestParsePublicURL(t *testing.T) {
	t.Parallel()
	c, err := parse([]string{"--public-url", "https://example.com/voice/"}, nil)
	if err != nil || c.PublicURL != "https://example.com/voice" {
		t.Errorf("got %q, %v", c.PublicURL, err)
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

func TestMasterKey(t *testing.T) {
	t.Parallel()
	c := config{Data: t.TempDir()}
	made, err := newSecrets(c)
	if err != nil || made.Keep == nil || made.From != secretFile(c) {
		t.Fatalf("%q, %v", made.From, err)
	}
	if _, err := os.Stat(secretFile(c)); !errors.Is(err, fs.ErrNotExist) {
		t.Errorf("a key is kept before it is known that the database is new: %v", err)
	}
	if err := errors.Join(made.Keep(), made.Keep()); err != nil {
		t.Fatal(err)
	}
	again, err := newSecrets(c)
	if err != nil || again.Keep != nil || again.APIKeys != made.APIKeys {
		t.Errorf("the key changed: %v", err)
	}
	if info, err := os.Stat(secretFile(c)); err != nil || info.Mode().Perm() != 0o600 {
		t.Errorf("the file is %v, %v", info, err)
	}
	if err := os.WriteFile(secretFile(c), []byte("short"), 0o600); err != nil {
		t.Fatal(err)
	}
	if _, err := newSecrets(c); err == nil || !strings.Contains(err.Error(), secretFile(c)) {
		t.Errorf("a damaged key gave %v", err)
	}
}

// TestOtherMasterKey starts a server on a database that was made with another master key: in the file, in the environment, and
// in neither. It says which, and writes none.
func TestOtherMasterKey(t *testing.T) {
	c := config{Data: t.TempDir()}
	c.DatabaseURL = "sqlite:" + filepath.Join(c.Data, "x.db")
	lc := fxtest.NewLifecycle(t)
	defer func() { lc.RequireStart().RequireStop() }()
	open := func() (secrets, *bunstore.DB, error) {
		s, err := newSecrets(c)
		if err != nil {
			t.Fatal(err)
		}
		db, err := newDatabase(lc, starting{t.Context()}, c, s, nil)
		return s, db, err
	}
	s, db, err := open()
	if err != nil {
		t.Fatal(err)
	}
	keys, err := newAccess(db, s, nil)
	if err != nil {
		t.Fatal(err)
	}
	if err := firstStart(t.Context(), c, s, keys, db); err != nil {
		t.Fatal(err)
	}
	if _, _, err := open(); err != nil {
		t.Fatalf("with its own key: %v", err)
	}
	if err := os.Remove(secretFile(c)); err != nil {
		t.Fatal(err)
	}
	if _, _, err := open(); err == nil || !strings.Contains(err.Error(), "none in "+secretFile(c)) {
		t.Errorf("without a key: %v", err)
	}
	if _, err := os.Stat(secretFile(c)); !errors.Is(err, fs.ErrNotExist) {
		t.Errorf("there is a new key file: %v", err)
	}
	other := base64.StdEncoding.EncodeToString(make([]byte, masterkey.Size))
	if err := os.WriteFile(secretFile(c), []byte(other), 0o600); err != nil {
		t.Fatal(err)
	}
	if _, _, err := open(); err == nil || !strings.Contains(err.Error(), "in "+secretFile(c)+" is not the one") {
		t.Errorf("with another key in the file: %v", err)
	}
	t.Setenv(masterkey.Variable, other)
	if _, _, err := open(); err == nil || !strings.Contains(err.Error(), "in "+masterkey.Variable+" is not the one") {
		t.Errorf("with another key in the environment: %v", err)
	}
}

// TestKeyFilesOfOthers has keys that more users than the server's can read.
func TestKeyFilesOfOthers(t *testing.T) {
	t.Parallel()
	c := config{Data: t.TempDir()}
	c.SIPKey = filepath.Join(t.TempDir(), "sip.pem")
	if err := checkKeyFiles(c); err != nil {
		t.Errorf("without files: %v", err)
	}
	for _, path := range []string{secretFile(c), filepath.Join(c.Data, "ca.key"), apiKeyFile(c), webhookSecretFile(c), c.SIPKey} {
		if err := os.WriteFile(path, []byte("x"), 0o600); err != nil {
			t.Fatal(err)
		}
		for mode, good := range map[os.FileMode]bool{0o600: true, 0o400: true, 0o640: false, 0o604: false, 0o620: false} {
			if err := os.Chmod(path, mode); err != nil {
				t.Fatal(err)
			}
			if err := checkKeyFiles(c); (err == nil) != good || !good && !strings.Contains(err.Error(), path) {
				t.Errorf("%s with mode %o: %v", path, mode, err)
			}
		}
		if err := os.Chmod(path, 0o600); err != nil {
			t.Fatal(err)
		}
	}
}

// TestFolderOfOthers refuses a data folder in which others could replace the keys.
func TestFolderOfOthers(t *testing.T) {
	t.Parallel()
	c := config{Data: filepath.Join(t.TempDir(), "data")}
	if err := checkKeyFiles(c); err != nil {
		t.Errorf("without a folder: %v", err)
	}
	if err := os.Mkdir(c.Data, 0o700); err != nil {
		t.Fatal(err)
	}
	for mode, good := range map[os.FileMode]bool{0o700: true, 0o755: true, 0o770: true, 0o777: false, 0o777 | os.ModeSticky: true} {
		if err := os.Chmod(c.Data, mode); err != nil {
			t.Fatal(err)
		}
		if err := checkKeyFiles(c); (err == nil) != good || !good && !strings.Contains(err.Error(), c.Data) {
			t.Errorf("a folder with mode %v: %v", mode, err)
		}
	}
}

// TestReplaceFile: a link in the place of a file, or of the new one, is replaced and not followed.
func TestReplaceFile(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	path, other := filepath.Join(dir, "key"), filepath.Join(dir, "other")
	for _, link := range []string{path, path + ".new"} {
		if err := errors.Join(os.WriteFile(other, []byte("untouched"), 0o600), os.Symlink(other, link)); err != nil {
			t.Fatal(err)
		}
		if err := replaceFile(path, []byte("secret")); err != nil {
			t.Fatal(err)
		}
		text, err := os.ReadFile(path)
		kept, keptErr := os.ReadFile(other)
		info, statErr := os.Lstat(path)
		if errors.Join(err, keptErr, statErr) != nil || string(text) != "secret" || string(kept) != "untouched" || info.Mode() != 0o600 {
			t.Errorf("%s: wrote %q, the file behind the link has %q, %v", link, text, kept, errors.Join(err, keptErr, statErr))
		}
	}
}

// TestShares divides limits of open files.
func TestShares(t *testing.T) {
	t.Parallel()
	given := func(args ...string) config {
		c, err := parse(args, nil)
		if err != nil {
			t.Fatal(err)
		}
		return c
	}
	whole := shares{2000, 200, 2000, 200, 2000, 1000}
	for name, test := range map[string]struct {
		c     config
		limit uint64
		want  shares
	}{
		"enough":              {given(), 18096, whole},
		"no limit":            {given(), 1<<64 - 1, whole},
		"a file too few":      {given(), 18095, shares{1999, 200, 1999, 200, 1999, 999}},
		"little":              {given(), 1024, shares{103, 51, 103, 51, 103, 51}},
		"least":               {given(), 256, shares{17, 8, 17, 8, 17, 8}},
		"few calls":           {given("--rtp-ports", "10000-10019"), 6216, shares{2000, 200, 2000, 200, 2000, 10}},
		"behind a proxy":      {given("--http-connections-per-address", "2000"), 1024, shares{103, 103, 103, 51, 103, 51}},
		"few connections":     {given("--http-connections", "2", "--http-connections-per-address", "1"), 1024, shares{1, 1, 115, 57, 115, 57}},
		"more than it allows": {given("--http-connections", "1000000"), 1024, shares{913, 200, 1, 1, 1, 1}},
	} {
		got, _, err := divide(test.c, test.limit)
		if err != nil || got != test.want {
			t.Errorf("%s: got %+v, %v; want %+v", name, got, err, test.want)
		}
		used := ownDescriptors + got.http + got.sip + got.probes + callDescriptors*got.calls
		if uint64(used) > test.limit && test.limit > 1024 {
			t.Errorf("%s: %d of %d files are given away", name, used, test.limit)
		}
	}
	if _, _, err := divide(given(), 255); err == nil || !strings.Contains(err.Error(), "at least 256 are needed") {
		t.Errorf("a limit of 255 gives %v", err)
	}
}

// TestCheckDisk has a folder that takes files, and one in which none can be written.
func TestCheckDisk(t *testing.T) {
	t.Parallel()
	folder := t.TempDir()
	if err := checkDisk(folder); err != nil {
		t.Errorf("with room: %v", err)
	}
	if left, err := os.ReadDir(folder); err != nil || len(left) != 0 {
		t.Errorf("it left %v, %v", left, err)
	}
	if err := checkDisk(filepath.Join(folder, "absent")); !errors.Is(err, callwright.ErrUnavailable) {
		t.Errorf("a folder that is gone: %v", err)
	}
	if _, err := os.Stat("/dev/full"); err != nil {
		return // not Linux
	}
	if err := os.Symlink("/dev/full", filepath.Join(folder, "server.probe")); err != nil {
		t.Fatal(err)
	}
	if err := checkDisk(folder); !errors.Is(err, callwright.ErrUnavailable) || !errors.Is(errors.Unwrap(err), syscall.ENOSPC) {
		t.Errorf("on a full disk: %v", err)
	}
}
