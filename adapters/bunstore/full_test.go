package bunstore_test

import (
	"errors"
	"strings"
	"testing"

	"github.com/callwright/callwright"
	"github.com/callwright/callwright/adapters/bunstore/internal/storetest"
	"github.com/callwright/callwright/adapters/bunstore/orgstore"
)

// TestFullDisk sets the maximum page count of a SQLite database to its current size, so that SQLite reports "full" as on a full disk.
// Writes return CodeUnavailable, and reads succeed. Ping must fail when a trigger makes its write fail with "full". When the limit is
// raised and the trigger is dropped, writes and Ping succeed again.
func TestFullDisk(t *testing.T) {
	t.Parallel()
	db := storetest.Open(t, storetest.Databases["sqlite"](t))
	tenants := orgstore.Tenants{DB: db}
	write := func(id string) error {
		o := organization(id)
		o.Name = strings.Repeat("x", 100_000)
		return tenants.InsertOrganization(t.Context(), o)
	}
	if err := write("o"); err != nil {
		t.Fatal(err)
	}
	pages := func(statement string) {
		t.Helper()
		if _, err := db.SQL().ExecContext(t.Context(), statement); err != nil {
			t.Fatal(err)
		}
	}
	pages("PRAGMA max_page_count = 1") // SQLite raises 1 to the current number of pages
	if err := write("p"); !errors.Is(err, callwright.ErrUnavailable) || !strings.Contains(err.Error(), "full") {
		t.Errorf("a write gave %v", err)
	}
	if _, err := tenants.Organization(t.Context(), "o"); err != nil {
		t.Errorf("a read gave %v", err)
	}
	pages("CREATE TEMP TRIGGER full BEFORE UPDATE ON callwright_migrations BEGIN SELECT RAISE(FAIL, 'full'); END")
	if err := db.Ping(t.Context()); err == nil {
		t.Error("the database that cannot write is ready")
	}
	pages("DROP TRIGGER full")
	pages("PRAGMA max_page_count = 1000000")
	if err := errors.Join(db.Ping(t.Context()), write("p"), db.Ping(t.Context())); err != nil {
		t.Errorf("with room again: %v", err)
	}
}
