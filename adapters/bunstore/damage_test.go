package bunstore_test

import (
	"bytes"
	"database/sql"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/callwright/callwright"
	"github.com/callwright/callwright/adapters/bunstore"
	"github.com/callwright/callwright/adapters/bunstore/internal/storetest"
	"github.com/callwright/callwright/adapters/bunstore/orgstore"
)

// Sizes in a write-ahead log in bytes: the header of the log, and a frame with its header and its page.
const (
	logHeader = 32
	logFrame  = 24 + 4096
)

// killed returns the path of a SQLite database as it is after kill -9: its log contains committed organizations.
func killed(t testing.TB) (path string) {
	t.Helper()
	path = filepath.Join(t.TempDir(), "x.db")
	db := storetest.Open(t, "sqlite:"+path)
	if err := db.Checkpoint(t.Context()); err != nil {
		t.Fatal(err)
	}
	for n := range 10 {
		if err := (orgstore.Tenants{DB: db}).InsertOrganization(t.Context(), organization(fmt.Sprint("o", n))); err != nil {
			t.Fatal(err)
		}
	}
	folder := t.TempDir()
	for _, suffix := range []string{"", "-wal"} {
		text, err := os.ReadFile(path + suffix)
		if err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(filepath.Join(folder, "x.db"+suffix), text, 0o600); err != nil {
			t.Fatal(err)
		}
	}
	return filepath.Join(folder, "x.db")
}

// change replaces the contents of a file with the result of f.
func change(t *testing.T, path string, f func([]byte) []byte) {
	t.Helper()
	text, err := os.ReadFile(path)
	if err == nil {
		err = os.WriteFile(path, f(text), 0o600)
	}
	if err != nil {
		t.Fatal(err)
	}
}

func invert(text []byte) {
	for i := range text {
		text[i] ^= 0xff
	}
}

// TestDamagedFile opens databases with lost data: Open refuses them with an error that states the remedy, and leaves the files unchanged.
func TestDamagedFile(t *testing.T) {
	t.Parallel()
	nothing := func([]byte) []byte { return nil }
	for name, damage := range map[string]struct {
		suffix string
		by     func([]byte) []byte
		want   string
	}{
		"emptied":             {"", nothing, "is empty"},
		"truncated":           {"", func(b []byte) []byte { return b[:len(b)/2/4096*4096] }, "restore it from a backup"},
		"truncated in a page": {"", func(b []byte) []byte { return b[:len(b)-6000] }, "restore it from a backup"},
		"no database":         {"", func(b []byte) []byte { invert(b[:100]); return b }, "restore it from a backup"},
		"a page":              {"", func(b []byte) []byte { invert(b[20*4096 : 21*4096]); return b }, "restore it from a backup"},
		"log: its header":     {"-wal", func(b []byte) []byte { invert(b[:4]); return b }, "-wal is damaged at byte 0"},
		"log: first page":     {"-wal", func(b []byte) []byte { invert(b[100:200]); return b }, "-wal is damaged at byte 32"},
		"log: a frame": {
			"-wal", func(b []byte) []byte { invert(b[logHeader+2*logFrame : logHeader+3*logFrame]); return b }, "-wal is damaged at byte 8272",
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			path := killed(t)
			change(t, path+damage.suffix, damage.by)
			before := [2][]byte{read(t, path), read(t, path+"-wal")}
			db, err := bunstore.Open(t.Context(), "sqlite:"+path, bunstore.Config{Keyring: storetest.Keyring(t, "k1")})
			if err == nil {
				t.Fatalf("was opened: %v", db.Close())
			}
			if !strings.Contains(err.Error(), damage.want) || !strings.Contains(err.Error(), path) {
				t.Errorf("refused with %v", err)
			}
			if after := [2][]byte{read(t, path), read(t, path+"-wal")}; !bytes.Equal(after[0], before[0]) || !bytes.Equal(after[1], before[1]) {
				t.Error("the files were changed")
			}
		})
	}
}

// TestLostDatabase checks that Open refuses a log without its database, instead of creating a new database.
func TestLostDatabase(t *testing.T) {
	t.Parallel()
	path := killed(t)
	if err := os.Remove(path); err != nil {
		t.Fatal(err)
	}
	_, err := bunstore.Open(t.Context(), "sqlite:"+path, bunstore.Config{Keyring: storetest.Keyring(t, "k1")})
	if err == nil || !strings.Contains(err.Error(), "is missing") {
		t.Errorf("opened with %v", err)
	}
	if _, err := os.Stat(path); !errors.Is(err, fs.ErrNotExist) {
		t.Errorf("a new database was made: %v", err)
	}
}

// TestLogOfAKill opens databases after kill -9, with a partial write at the end, and with frames of a rolled-back transaction: no committed
// data is lost.
func TestLogOfAKill(t *testing.T) {
	t.Parallel()
	for name, end := range map[string]func([]byte) []byte{
		"whole":   func(b []byte) []byte { return b },
		"a piece": func(b []byte) []byte { return append(b, b[len(b)-logFrame:len(b)-100]...) },
		"a frame": func(b []byte) []byte { return append(b, make([]byte, logFrame)...) },
		"frames without a commit": func(b []byte) []byte {
			left := bytes.Clone(b[len(b)-2*logFrame:])
			clear(left[4:8])
			clear(left[logFrame+4 : logFrame+8])
			return append(b, left...)
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			path := killed(t)
			change(t, path+"-wal", end)
			db := storetest.Open(t, "sqlite:"+path)
			if _, err := (orgstore.Tenants{DB: db}).Organization(t.Context(), "o9"); err != nil {
				t.Errorf("the last organization: %v", err)
			}
		})
	}
}

// FuzzLog checks that opening a database with any log does not panic.
func FuzzLog(f *testing.F) {
	path := killed(f)
	log, database := read(f, path+"-wal"), read(f, path)
	f.Add(log)
	f.Add(log[:logHeader])
	f.Add(log[:logHeader+logFrame+10])
	f.Fuzz(func(t *testing.T, log []byte) {
		path := filepath.Join(t.TempDir(), "x.db")
		for name, text := range map[string][]byte{path: database, path + "-wal": log} {
			if err := os.WriteFile(name, text, 0o600); err != nil {
				t.Fatal(err)
			}
		}
		db, err := bunstore.Open(t.Context(), "sqlite:"+path, bunstore.Config{Keyring: storetest.Keyring(t, "k1")})
		if err == nil {
			err = db.Close()
		}
		t.Log(err)
	})
}

// TestGivingUpADamagedLog follows the remedy for a damaged log: data that was committed before the damage is readable, and later data is
// lost.
func TestGivingUpADamagedLog(t *testing.T) {
	t.Parallel()
	path := killed(t)
	change(t, path+"-wal", func(b []byte) []byte { invert(b[len(b)/2 : len(b)/2+10]); return b })
	other, err := sql.Open("sqlite", path)
	if err != nil {
		t.Fatal(err)
	}
	_, err = other.ExecContext(t.Context(), "PRAGMA wal_checkpoint(TRUNCATE)")
	if err := errors.Join(err, other.Close()); err != nil {
		t.Fatal(err)
	}
	tenants := orgstore.Tenants{DB: storetest.Open(t, "sqlite:"+path)}
	if _, err := tenants.Organization(t.Context(), "o0"); err != nil {
		t.Errorf("what was committed before the damage: %v", err)
	}
	if _, err := tenants.Organization(t.Context(), "o9"); !errors.Is(err, callwright.ErrNotFound) {
		t.Errorf("what was committed after the damage: %v", err)
	}
}

// TestNewFile checks that only this user can access a new database, and that its creation leaves no other files.
func TestNewFile(t *testing.T) {
	t.Parallel()
	folder := t.TempDir()
	storetest.Open(t, "sqlite:"+filepath.Join(folder, "x.db"))
	files, err := os.ReadDir(folder)
	if err != nil {
		t.Fatal(err)
	}
	for _, f := range files {
		info, err := f.Info()
		if err != nil || info.Mode().Perm() != 0o600 || !strings.HasPrefix(f.Name(), "x.db") || strings.Contains(f.Name(), "new") {
			t.Errorf("there is %v, %v", info, err)
		}
	}
}

func read(t testing.TB, path string) []byte {
	t.Helper()
	text, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	return text
}

// TestLink opens databases through a symbolic link: Open finds the log next to the link's target, and refuses a link to a missing file.
func TestLink(t *testing.T) {
	t.Parallel()
	path := killed(t)
	change(t, path+"-wal", func(b []byte) []byte { invert(b[:4]); return b })
	for to, want := range map[string]string{
		path:                                  "-wal is damaged at byte 0",
		filepath.Join(t.TempDir(), "none.db"): "is a symbolic link to a file that is missing",
	} {
		link := filepath.Join(t.TempDir(), "link.db")
		if err := os.Symlink(to, link); err != nil {
			t.Fatal(err)
		}
		db, err := bunstore.Open(t.Context(), "sqlite:"+link, bunstore.Config{Keyring: storetest.Keyring(t, "k1")})
		if err == nil {
			t.Errorf("a link to %s was opened: %v", to, db.Close())
		} else if !strings.Contains(err.Error(), want) {
			t.Errorf("a link to %s gave %v", to, err)
		}
	}
}
