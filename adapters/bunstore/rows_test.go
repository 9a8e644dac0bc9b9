package bunstore_test

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/callwright/callwright/adapters/bunstore/internal/storetest"
)

// TestFileIsPrivate checks that only the owner can access a SQLite file, its write-ahead log and its shared memory.
func TestFileIsPrivate(t *testing.T) {
	t.Parallel()
	folder := t.TempDir()
	storetest.Open(t, "sqlite:"+filepath.Join(folder, "private.db"))
	entries, err := os.ReadDir(folder)
	if err != nil || len(entries) < 3 {
		t.Fatalf("%d files, %v", len(entries), err)
	}
	for _, entry := range entries {
		if info, err := entry.Info(); err != nil || info.Mode().Perm() != 0o600 {
			t.Errorf("%s has mode %s, %v", entry.Name(), info.Mode(), err)
		}
	}
}

// TestPrintingShowsNoPassword checks that formatting a DB does not reveal its connection string.
func TestPrintingShowsNoPassword(t *testing.T) {
	t.Parallel()
	db := storetest.Open(t, storetest.Databases["postgres"](t))
	if dsn := db.PostgresDSN().Reveal(); strings.Contains(fmt.Sprintf("%v %+v", db, db), dsn) || dsn == "" {
		t.Errorf("the database prints as %v", db)
	}
}
