package e2e_test

import (
	"bytes"
	"database/sql"
	"errors"
	"fmt"
	"net"
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"testing"

	_ "modernc.org/sqlite" // the SQLite driver of the program that locks the database

	"github.com/callwright/callwright/internal/await"
	"github.com/callwright/callwright/internal/e2e/server"
)

// TestSecondServerOnOneFolder starts a second server on the folder of a running server. The second must exit and name the process of the
// first, which must continue.
func TestSecondServerOnOneFolder(t *testing.T) {
	t.Parallel()
	first := server.Start(t, server.Config{})
	said := server.Refused(t, server.Config{Data: first.Data})
	if !strings.Contains(said, fmt.Sprintf("process %d on ", first.PID())) || !strings.Contains(said, first.Data) {
		t.Errorf("the second server said %q", said)
	}
	if _, err := os.Stat(filepath.Join(first.Data, "server.json")); err != nil {
		t.Errorf("the first server's file: %v", err)
	}
	if status, _ := first.Get(t, "/readyz"); status != http.StatusOK {
		t.Errorf("the first server's /readyz is %d", status)
	}
	first.Kill()
	server.Start(t, server.Config{Data: first.Data}).Stop(t)
}

// TestTwoServersOnOneDatabase starts a second server with its own folder on the database of a running server, by its path and by a symbolic
// link. The second must exit and name the process of the first, instead of the missing master key.
func TestTwoServersOnOneDatabase(t *testing.T) {
	t.Parallel()
	first := server.Start(t, server.Config{})
	path, link := filepath.Join(first.Data, "callwright.db"), filepath.Join(t.TempDir(), "link.db")
	if err := os.Symlink(path, link); err != nil {
		t.Fatal(err)
	}
	for _, name := range []string{path, link} {
		said := server.Refused(t, server.Config{Data: t.TempDir(), Flags: []string{"--database-url", "sqlite:" + name}})
		if !strings.Contains(said, fmt.Sprintf("process %d on ", first.PID())) || strings.Contains(said, "master key") {
			t.Errorf("by %s the second server said %q", name, said)
		}
	}
	first.Stop(t)
}

// TestRefusedSettings checks that the server reports an invalid setting in one line, without the list of flags.
func TestRefusedSettings(t *testing.T) {
	t.Parallel()
	taken, err := new(net.ListenConfig).Listen(t.Context(), "tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer taken.Close()
	for want, c := range map[string]server.Config{
		"-drain-timeout: must be a duration such as 30s":                      {Flags: []string{"--drain-timeout", "30"}},
		"CALLWRIGHT_DRAIN_TIMEOUT, which is \"\", must be a duration such as": {Env: []string{"CALLWRIGHT_DRAIN_TIMEOUT="}},
		"--media-ip 203.0.113.77":                                             {Flags: []string{"--media-ip", "203.0.113.77", "--log-level", "warn"}},
		"--sip-addr " + taken.Addr().String() + ": another program":           {Flags: []string{"--sip-addr", taken.Addr().String(), "--log-level", "warn"}},
	} {
		c.Data = t.TempDir()
		said := strings.TrimSpace(server.Refused(t, c))
		if !strings.Contains(said, want) || strings.Contains(said, "\n") {
			t.Errorf("the server said %q, want %q", said, want)
		}
	}
}

// TestDatabaseIsLost starts a server on a folder without its database. The server must refuse to start while other files show that there
// was one, and otherwise create a new database.
func TestDatabaseIsLost(t *testing.T) {
	t.Parallel()
	first := server.Start(t, server.Config{})
	first.Stop(t)
	path, sign := filepath.Join(first.Data, "callwright.db"), filepath.Join(first.Data, "webhook-secret")
	if err := os.Remove(path); err != nil {
		t.Fatal(err)
	}
	said := server.Refused(t, server.Config{Data: first.Data})
	if !strings.Contains(said, path+" is missing") || !strings.Contains(said, sign) || strings.Contains(said, "shown once") {
		t.Errorf("the server said %q", said)
	}
	if err := os.Remove(sign); err != nil {
		t.Fatal(err)
	}
	if second := server.Start(t, server.Config{Data: first.Data}); second.Key == first.Key {
		t.Error("the new database has the key of the old one")
	}
}

// TestDatabaseIsLocked has another program lock the database for writing. The server must not be ready until the program has finished.
func TestDatabaseIsLocked(t *testing.T) {
	t.Parallel()
	s := server.Start(t, server.Config{})
	other, err := sql.Open("sqlite", filepath.Join(s.Data, "callwright.db")+"?_pragma=busy_timeout(5000)&_txlock=exclusive")
	if err != nil {
		t.Fatal(err)
	}
	defer other.Close()
	tx, err := other.BeginTx(t.Context(), nil)
	if err != nil {
		t.Fatal(err)
	}
	if status, body := s.Get(t, "/readyz"); status != http.StatusServiceUnavailable || !strings.Contains(body, "the database did not answer in time") {
		t.Errorf("while no write goes through /readyz gives %d: %s", status, body)
	}
	if err := tx.Rollback(); err != nil {
		t.Fatal(err)
	}
	await.That(t, "the server to be ready again", func() bool {
		status, _ := s.Get(t, "/readyz")
		return status == http.StatusOK
	})
	s.Stop(t)
}

// TestDatabaseIsDamagedWhileItRuns overwrites the database of a running server. Its answers must soon contain the remedy.
func TestDatabaseIsDamagedWhileItRuns(t *testing.T) {
	t.Parallel()
	const words = "the database is damaged: stop the server and restore it from a backup"
	s := server.Start(t, server.Config{})
	file, err := os.OpenFile(filepath.Join(s.Data, "callwright.db"), os.O_WRONLY, 0)
	if err != nil {
		t.Fatal(err)
	}
	info, err := file.Stat()
	if err == nil {
		_, err = file.WriteAt(bytes.Repeat([]byte{0xa5}, int(info.Size())), 0)
	}
	if err := errors.Join(err, file.Close()); err != nil {
		t.Fatal(err)
	}
	for _, path := range []string{"/readyz", "/v1/calls"} {
		await.That(t, path+" to tell of the damage", func() bool {
			status, body := s.Get(t, path)
			return status == http.StatusServiceUnavailable && strings.Contains(body, words)
		})
	}
	s.Stop(t)
	if log := s.Log(); strings.Contains(log, "internal error") || strings.Count(log, "Error fetching jobs") > 1 {
		t.Errorf("the log is\n%s", log)
	}
}

// TestMasterKeyIsLost checks that a server does not start without the master key of its database.
func TestMasterKeyIsLost(t *testing.T) {
	t.Parallel()
	first := server.Start(t, server.Config{})
	first.Stop(t)
	key := filepath.Join(first.Data, "secret.key")
	if err := os.Rename(key, key+".away"); err != nil {
		t.Fatal(err)
	}
	if said := server.Refused(t, server.Config{Data: first.Data}); !strings.Contains(said, key) {
		t.Errorf("the server said %q", said)
	}
	if err := os.Rename(key+".away", key); err != nil {
		t.Fatal(err)
	}
	if again := server.Start(t, server.Config{Data: first.Data}); again.Key != first.Key {
		t.Error("with its key back the server has another API key")
	}
}

// TestDatabaseFreezes freezes the connections to the database. The server must answer requests with 503, and with success after the freeze.
func TestDatabaseFreezes(t *testing.T) {
	t.Parallel()
	w := newWire(t)
	s := server.Start(t, server.Config{Flags: []string{"--database-url", w.dsn}})
	w.frozen.Lock()
	for _, path := range []string{"/readyz", "/v1/calls"} {
		if status, body := s.Get(t, path); status != http.StatusServiceUnavailable || !saysFrozen(body) {
			t.Errorf("with a frozen database %s gives %d: %s", path, status, body)
		}
	}
	if status, _ := s.Get(t, "/healthz"); status != http.StatusOK {
		t.Errorf("with a frozen database /healthz gives %d", status)
	}
	w.frozen.Unlock()
	for _, path := range []string{"/readyz", "/v1/calls"} {
		await.That(t, path+" to be served again", func() bool {
			status, _ := s.Get(t, path)
			return status == http.StatusOK
		})
	}
	s.Stop(t)
}

// saysFrozen reports whether an answer names a database that does not respond, on an open or a new connection.
func saysFrozen(body string) bool {
	return strings.Contains(body, "the database did not answer in time") ||
		strings.Contains(body, "the database cannot be reached, or accepts no writes, at the moment")
}

// TestDatabaseIsDamaged damages the database of a server after kill -9. The server must refuse to start, and must never treat the database
// as a new one.
func TestDatabaseIsDamaged(t *testing.T) {
	t.Parallel()
	for name, test := range map[string]struct {
		file string
		by   func([]byte) []byte
	}{
		"the log is":       {"callwright.db-wal", func(b []byte) []byte { b[0] ^= 0xff; return b }},
		"the database is":  {"callwright.db", func(b []byte) []byte { return b[:len(b)/2] }},
		"nothing is there": {"callwright.db", func([]byte) []byte { return nil }},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			first := server.Start(t, server.Config{})
			first.OpenIssue(t, "the log has an entry")
			first.Kill()
			path := filepath.Join(first.Data, test.file)
			text, err := os.ReadFile(path)
			if err == nil {
				err = os.WriteFile(path, test.by(text), 0o600)
			}
			if err != nil {
				t.Fatal(err)
			}
			said := server.Refused(t, server.Config{Data: first.Data})
			if !strings.Contains(said, path) || !strings.Contains(said, "backup") || strings.Contains(said, "shown once") {
				t.Errorf("the server said %q", said)
			}
		})
	}
}

// TestLogIsLost empties the write-ahead log after kill -9. The organization and its key must still exist, because the database file itself
// contains them.
func TestLogIsLost(t *testing.T) {
	t.Parallel()
	first := server.Start(t, server.Config{})
	first.Kill()
	if err := os.Truncate(filepath.Join(first.Data, "callwright.db-wal"), 0); err != nil {
		t.Fatal(err)
	}
	second := server.Start(t, server.Config{Data: first.Data})
	if status, _ := second.Get(t, "/v1/calls"); second.Key != first.Key || status != http.StatusOK {
		t.Errorf("the first key gives %d, and there is another: %t", status, second.Key != first.Key)
	}
}
