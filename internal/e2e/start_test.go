package e2e_test

import (
	"fmt"
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/callwright/callwright/internal/e2e/await"
	"github.com/callwright/callwright/internal/e2e/server"
)

// TestSecondServerOnOneFolder starts a server on the folder of another. It is refused by the name of the first, which goes on.
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

// TestMasterKeyIsLost starts a server without the key that its database was made with.
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

// TestDatabaseFreezes has the database hear and say nothing while its connections stay open. Requests are answered with 503, and
// as before when it goes on.
func TestDatabaseFreezes(t *testing.T) {
	t.Parallel()
	w := newWire(t)
	s := server.Start(t, server.Config{Flags: []string{"--database-url", w.dsn}})
	w.frozen.Lock()
	for _, path := range []string{"/readyz", "/v1/calls"} {
		if status, body := s.Get(t, path); status != http.StatusServiceUnavailable || !strings.Contains(body, "the database did not answer in time") {
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

// TestDatabaseIsDamaged starts a server on a database that has lost something, after kill -9. It is never taken for a new one.
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

// TestLogIsLost empties the write-ahead log after kill -9. The organization and its key are in the database itself.
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
