package platform

import (
	"context"
	"encoding/base64"
	"errors"
	"io/fs"
	"os"
	"path/filepath"
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
	if err := fx.ValidateApp(fx.Supply(Config{}, starting{}, &Info{}, failures(nil)), modules()); err != nil {
		t.Fatal(err)
	}
}

// TestStopWhileStarting checks that the database is not opened if the platform is stopped before.
func TestStopWhileStarting(t *testing.T) {
	t.Parallel()
	stopped, stop := context.WithCancel(t.Context())
	stop()
	c := Config{DatabaseURL: "sqlite:" + filepath.Join(t.TempDir(), "x.db")}
	s, err := newSecrets(Config{Data: t.TempDir()})
	if err != nil {
		t.Fatal(err)
	}
	if _, err := newDatabase(nil, starting{stopped}, c, s, callwright.Runtime{}); err == nil {
		t.Error("the database was opened")
	}
}

func TestRoom(t *testing.T) {
	t.Parallel()
	for p, want := range map[PortRange]int{
		{}: 1000, {10000, 20000}: 1000, {10000, 10003}: 2, {10001, 10005}: 2, {10000, 10004}: 2, {10000, 10001}: 1,
	} {
		if got := (Config{RTPPorts: p}).room(); got != want {
			t.Errorf("%v is room for %d calls, want %d", p, got, want)
		}
	}
}

func TestMasterKey(t *testing.T) {
	t.Parallel()
	c := Config{Data: t.TempDir()}
	made, err := newSecrets(c)
	if err != nil || made.Store == nil || made.From != secretFile(c) {
		t.Fatalf("%q, %v", made.From, err)
	}
	if _, err := os.Stat(secretFile(c)); !errors.Is(err, fs.ErrNotExist) {
		t.Errorf("a key is kept before it is known that the database is new: %v", err)
	}
	if err := errors.Join(made.Store(), made.Store()); err != nil {
		t.Fatal(err)
	}
	again, err := newSecrets(c)
	if err != nil || again.Store != nil || again.APIKeys != made.APIKeys {
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

// TestOtherMasterKey opens a database with another master key in the file or in the environment, or with none. The error must name the
// location of the wrong or missing key, and no new key may be written.
func TestOtherMasterKey(t *testing.T) {
	c := Config{Data: t.TempDir()}
	c.DatabaseURL = "sqlite:" + filepath.Join(c.Data, "x.db")
	lc := fxtest.NewLifecycle(t)
	defer func() { lc.RequireStart().RequireStop() }()
	open := func() (secrets, *bunstore.DB, error) {
		s, err := newSecrets(c)
		if err != nil {
			t.Fatal(err)
		}
		db, err := newDatabase(lc, starting{t.Context()}, c, s, callwright.Runtime{})
		return s, db, err
	}
	s, db, err := open()
	if err != nil {
		t.Fatal(err)
	}
	keys, err := newAccess(db, s, callwright.Runtime{})
	if err != nil {
		t.Fatal(err)
	}
	if _, err := firstStart(t.Context(), c, s, keys, db); err != nil {
		t.Fatal(err)
	}
	if _, _, err := open(); err != nil {
		t.Fatalf("with its own key: %v", err)
	}
	if err := os.Remove(secretFile(c)); err != nil {
		t.Fatal(err)
	}
	if _, _, err := open(); err == nil || !strings.Contains(err.Error(), "neither "+secretFile(c)) {
		t.Errorf("without a key: %v", err)
	}
	if _, err := os.Stat(secretFile(c)); !errors.Is(err, fs.ErrNotExist) {
		t.Errorf("there is a new key file: %v", err)
	}
	other := base64.StdEncoding.EncodeToString(make([]byte, masterkey.Size))
	if err := os.WriteFile(secretFile(c), []byte(other), 0o600); err != nil {
		t.Fatal(err)
	}
	if _, _, err := open(); err == nil || !strings.Contains(err.Error(), "in "+secretFile(c)+" is not the key") {
		t.Errorf("with another key in the file: %v", err)
	}
	t.Setenv(masterkey.Variable, other)
	if _, _, err := open(); err == nil || !strings.Contains(err.Error(), "in "+masterkey.Variable+" is not the key") {
		t.Errorf("with another key in the environment: %v", err)
	}
}

// TestKeyFilesOfOthers checks that key files that other users can read or write are refused.
func TestKeyFilesOfOthers(t *testing.T) {
	t.Parallel()
	c := Config{Data: t.TempDir()}
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

// TestFolderOfOthers checks that a data folder in which other users could replace the keys is refused.
func TestFolderOfOthers(t *testing.T) {
	t.Parallel()
	c := Config{Data: filepath.Join(t.TempDir(), "data")}
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

// TestReplaceFile checks that replaceFile replaces a symbolic link that has the name of the file or of its temporary file, instead of
// following the link.
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

// TestShares checks how limits of open files are divided.
func TestShares(t *testing.T) {
	t.Parallel()
	given := func(change func(c *Config)) Config {
		c := Defaults()
		change(&c)
		return c
	}
	plain := Defaults()
	whole := shares{2000, 200, 2000, 200, 2000, 1000}
	for name, test := range map[string]struct {
		c     Config
		limit uint64
		want  shares
	}{
		"enough":              {plain, 18096, whole},
		"no limit":            {plain, 1<<64 - 1, whole},
		"a file too few":      {plain, 18095, shares{1999, 200, 1999, 200, 1999, 999}},
		"little":              {plain, 1024, shares{103, 51, 103, 51, 103, 51}},
		"least":               {plain, 256, shares{17, 8, 17, 8, 17, 8}},
		"few calls":           {given(func(c *Config) { c.RTPPorts.High = 10019 }), 6216, shares{2000, 200, 2000, 200, 2000, 10}},
		"behind a proxy":      {given(func(c *Config) { c.HTTPConnectionsPerAddress = 2000 }), 1024, shares{103, 103, 103, 51, 103, 51}},
		"few connections":     {given(func(c *Config) { c.HTTPConnections, c.HTTPConnectionsPerAddress = 2, 1 }), 1024, shares{1, 1, 115, 57, 115, 57}},
		"more than it allows": {given(func(c *Config) { c.HTTPConnections = 1_000_000 }), 1024, shares{913, 200, 1, 1, 1, 1}},
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
	if _, _, err := divide(plain, 255); err == nil || !strings.Contains(err.Error(), "at least 256") {
		t.Errorf("a limit of 255 gives %v", err)
	}
}

// TestCheckDisk checks a writable folder, an absent folder and a full disk.
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
		return // this system has no /dev/full
	}
	if err := os.Symlink("/dev/full", filepath.Join(folder, "server.probe")); err != nil {
		t.Fatal(err)
	}
	if err := checkDisk(folder); !errors.Is(err, callwright.ErrUnavailable) || !errors.Is(errors.Unwrap(err), syscall.ENOSPC) {
		t.Errorf("on a full disk: %v", err)
	}
}
