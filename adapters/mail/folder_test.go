package mail_test

import (
	"errors"
	netmail "net/mail"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/callwright/callwright"
	"github.com/callwright/callwright/adapters/mail"
)

var (
	_ callwright.Mailer = (*mail.SMTP)(nil)
	_ callwright.Mailer = (*mail.Folder)(nil)
)

// noon is a clock that always returns the same time, the variable at.
type noon struct{}

var at = time.Date(2026, 5, 4, 12, 0, 0, 0, time.UTC)

func (noon) Now() time.Time { return at }

func folder(t *testing.T) (*mail.Folder, string) {
	t.Helper()
	path := filepath.Join(t.TempDir(), "mail")
	f, err := mail.NewFolder(mail.FolderConfig{Path: path, From: "callwright@example.com", Runtime: callwright.Runtime{Clock: noon{}}})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { f.Close() })
	return f, path
}

// files returns the names of all files in a folder, and fails the test on an error.
func files(t *testing.T, path string) []string {
	t.Helper()
	entries, err := os.ReadDir(path)
	if err != nil {
		t.Fatal(err)
	}
	var names []string
	for _, e := range entries {
		names = append(names, e.Name())
	}
	return names
}

func TestFolder(t *testing.T) {
	t.Parallel()
	f, path := folder(t)
	for _, text := range []string{"first", "Der Zähler steht.\n.\nEnde\n"} {
		if err := f.SendMail(t.Context(), "t1.unreachable.1", "ops@example.com", "Störung", text); err != nil {
			t.Fatal(err)
		}
	}
	if got := files(t, path); len(got) != 1 || got[0] != "t1.unreachable.1.eml" {
		t.Fatalf("the folder holds %v", got)
	}
	file, err := os.Open(filepath.Join(path, "t1.unreachable.1.eml"))
	if err != nil {
		t.Fatal(err)
	}
	defer file.Close()
	m, err := netmail.ReadMessage(file)
	if err != nil {
		t.Fatal(err)
	}
	check(t, m, "Störung", "Der Zähler steht.\n.\nEnde\n")
	if info, err := file.Stat(); err != nil || info.Mode().Perm() != 0o600 {
		t.Errorf("mode %v, %v", info.Mode(), err)
	}
}

// TestFolderNames checks that mail with an id that is no valid file name is written inside the folder, under the digest of the id.
func TestFolderNames(t *testing.T) {
	t.Parallel()
	f, path := folder(t)
	ids := []string{"../out", "/etc/passwd", "a/b", "", ".", "..", ".hidden", "a\x00b", strings.Repeat("x", 500), "ä", "a..b"}
	for _, id := range ids {
		if err := f.SendMail(t.Context(), id, "ops@example.com", "s", "t"); err != nil {
			t.Errorf("%q: %v", id, err)
		}
	}
	got := files(t, path)
	if len(got) != len(ids) {
		t.Errorf("%d files for %d ids: %v", len(got), len(ids), got)
	}
	for _, name := range got {
		if len(name) != 64+len(".eml") || strings.Contains(name, "..") {
			t.Errorf("a file is called %q", name)
		}
	}
}

func TestRefused(t *testing.T) {
	t.Parallel()
	f, path := folder(t)
	for name, m := range map[string][2]string{ // recipient and subject
		"a header in the subject":    {"ops@example.com", "hello\r\nBcc: all@example.com"},
		"a line in the subject":      {"ops@example.com", "hello\nworld"},
		"a carriage return":          {"ops@example.com", "hello\rworld"},
		"a NUL":                      {"ops@example.com", "hello\x00"},
		"a header in the address":    {"ops@example.com\r\nBcc: all@example.com", "s"},
		"a header in a quoted name":  {"\"a\r\n b\"@example.com", "s"},
		"two addresses":              {"ops@example.com, all@example.com", "s"},
		"an address with a name":     {"Ops <ops@example.com>", "s"},
		"no address":                 {"", "s"},
		"an address without a host":  {"ops", "s"},
		"a comment in the address":   {"ops@example.com (me)", "s"},
		"a blank before the address": {" ops@example.com", "s"},
	} {
		if err := f.SendMail(t.Context(), "id", m[0], m[1], "text"); !errors.Is(err, callwright.ErrForbidden) {
			t.Errorf("%s: %v; it would be tried again", name, err)
		}
		if got := files(t, path); len(got) != 0 {
			t.Errorf("%s was written as %v", name, got)
		}
	}
}

func TestNewFolder(t *testing.T) {
	t.Parallel()
	if _, err := mail.NewFolder(mail.FolderConfig{Path: t.TempDir(), From: "nobody"}); err == nil {
		t.Error("a sender that is no address was taken")
	}
	file := filepath.Join(t.TempDir(), "file")
	if err := os.WriteFile(file, nil, 0o600); err != nil {
		t.Fatal(err)
	}
	if _, err := mail.NewFolder(mail.FolderConfig{Path: file, From: "a@example.com"}); err == nil {
		t.Error("a file was taken for a folder")
	}
}

func TestFolderGone(t *testing.T) {
	t.Parallel()
	f, path := folder(t)
	if err := os.RemoveAll(path); err != nil {
		t.Fatal(err)
	}
	if err := f.SendMail(t.Context(), "id", "ops@example.com", "s", "t"); err == nil {
		t.Error("nothing was written, and it is no error")
	}
}
