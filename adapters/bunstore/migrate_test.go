package bunstore_test

import (
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/callwright/callwright/adapters/bunstore"
	"github.com/callwright/callwright/adapters/bunstore/agentstore"
	"github.com/callwright/callwright/adapters/bunstore/internal/storetest"
	"github.com/callwright/callwright/agents/call"
)

// column holds the properties of a column that must be the same on both dialects.
type column struct {
	table, name string
	nullable    bool
}

// columns returns all columns of a database, sorted by table and name. On SQLite it omits the internal tables.
func columns(t *testing.T, db *bunstore.DB) []column {
	t.Helper()
	query := `SELECT t.name, c.name, c."notnull" = 0 FROM sqlite_schema t, pragma_table_info(t.name) c
		WHERE t.type = 'table' AND t.name NOT LIKE 'sqlite_%'`
	if db.PostgresDSN() != "" {
		query = `SELECT table_name, column_name, is_nullable = 'YES' FROM information_schema.columns
			WHERE table_schema = 'public'`
	}
	rows, err := db.SQL().QueryContext(t.Context(), query)
	if err != nil {
		t.Fatal(err)
	}
	defer rows.Close()
	var found []column
	for rows.Next() {
		var c column
		if err := rows.Scan(&c.table, &c.name, &c.nullable); err != nil {
			t.Fatal(err)
		}
		found = append(found, c)
	}
	if err := rows.Err(); err != nil {
		t.Fatal(err)
	}
	slices.SortFunc(found, func(a, b column) int {
		return strings.Compare(a.table+"."+a.name, b.table+"."+b.name)
	})
	return found
}

// indexes returns the names of the indexes that the migrations create explicitly, in order.
func indexes(t *testing.T, db *bunstore.DB) []string {
	t.Helper()
	query := `SELECT name FROM sqlite_schema WHERE type = 'index' AND sql IS NOT NULL ORDER BY name`
	if db.PostgresDSN() != "" {
		query = `SELECT indexname FROM pg_indexes WHERE schemaname = 'public'
			AND indexname NOT LIKE '%\_pkey' AND indexname NOT LIKE '%\_key' ORDER BY indexname`
	}
	rows, err := db.SQL().QueryContext(t.Context(), query)
	if err != nil {
		t.Fatal(err)
	}
	defer rows.Close()
	var names []string
	for rows.Next() {
		var name string
		if err := rows.Scan(&name); err != nil {
			t.Fatal(err)
		}
		names = append(names, name)
	}
	if err := rows.Err(); err != nil {
		t.Fatal(err)
	}
	return names
}

func TestDialectsHaveTheSameTables(t *testing.T) {
	t.Parallel()
	sqlite, postgres := storetest.Open(t, storetest.Empty["sqlite"](t)), storetest.Open(t, storetest.Empty["postgres"](t))
	one, other := columns(t, sqlite), columns(t, postgres)
	tables := map[string]bool{}
	for _, c := range one {
		tables[c.table] = true
		if !slices.Contains(other, c) {
			t.Errorf("only SQLite has %+v", c)
		}
	}
	for _, c := range other {
		if !slices.Contains(one, c) {
			t.Errorf("only PostgreSQL has %+v", c)
		}
	}
	if len(tables) < 8 {
		t.Errorf("compared only %v", slices.Collect(maps.Keys(tables)))
	}
	if a, b := indexes(t, sqlite), indexes(t, postgres); !slices.Equal(a, b) || len(a) < 5 {
		t.Errorf("SQLite has the indexes %v, PostgreSQL %v", a, b)
	}
}

// TestNodesStartTogether opens an empty database from five nodes concurrently, and once more afterwards: each migration is applied once.
func TestNodesStartTogether(t *testing.T) {
	t.Parallel()
	for name, address := range storetest.Empty {
		if name == "memory" {
			continue // each node has its own database
		}
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			at := address(t)
			var starting sync.WaitGroup
			for range 5 {
				starting.Go(func() { storetest.Open(t, at) })
			}
			starting.Wait()
			db := storetest.Open(t, at)
			var steps, last int
			err := db.SQL().QueryRowContext(t.Context(),
				"SELECT COUNT(*), MAX(version) FROM callwright_migrations").Scan(&steps, &last)
			if err != nil || steps != last || steps < 1 {
				t.Errorf("%d migrations up to %d: %v", steps, last, err)
			}
		})
	}
}

// TestCallsGetTheirLength checks that migration 5 computes the same length_ns for existing calls as Insert.
func TestCallsGetTheirLength(t *testing.T) {
	t.Parallel()
	storetest.OnEach(t, func(t *testing.T, open func(*testing.T) *bunstore.DB) {
		db := open(t)
		folder := "sqlite"
		if db.PostgresDSN() != "" {
			folder = "postgres"
		}
		text, err := os.ReadFile(filepath.Join("migrations", folder, "0005_pathways.sql"))
		if err != nil {
			t.Fatal(err)
		}
		update := regexp.MustCompile(`(?s)UPDATE calls SET length_ns.*?;`).FindString(string(text))
		calls, start := agentstore.Calls{DB: db}, time.Date(2026, 5, 4, 23, 59, 59, 250_000_000, time.UTC)
		answered, end := start.Add(750*time.Millisecond), start.Add(time.Hour)
		for _, c := range []call.Call{
			{ID: "talked", Queue: call.QueueComplete, StartedAt: &answered, EndedAt: &end},
			{ID: "missed", Queue: call.QueueComplete, EndedAt: &end},
			{ID: "running", Queue: call.QueueStarted, StartedAt: &answered},
		} {
			c.Org = "o"
			if err := calls.Insert(t.Context(), c); err != nil {
				t.Fatal(err)
			}
		}
		lengths := func() []string {
			return slices.Sorted(strings.SplitSeq(storetest.Dump(t, db, "calls", "length_ns"), "\n"))
		}
		before := lengths()
		for _, statement := range []string{"UPDATE calls SET length_ns = NULL", update} {
			if _, err := db.SQL().ExecContext(t.Context(), statement); err != nil {
				t.Fatal(err)
			}
		}
		want := []string{"", "0", fmt.Sprint(int64(time.Hour - 750*time.Millisecond))}
		if after := lengths(); !slices.Equal(after, want) || !slices.Equal(before, want) {
			t.Errorf("lengths were %q and are %q, want %q", before, after, want)
		}
	})
}

// TestOlderProgramRefuses checks that Open refuses a database that a newer program has migrated.
func TestOlderProgramRefuses(t *testing.T) {
	t.Parallel()
	at := storetest.Databases["sqlite"](t)
	db := storetest.Open(t, at)
	_, err := db.SQL().ExecContext(t.Context(),
		"INSERT INTO callwright_migrations (version, name, applied_at) VALUES (1000, 'later', '2030-01-01')")
	if err != nil {
		t.Fatal(err)
	}
	_, err = bunstore.Open(t.Context(), at, bunstore.Config{Keyring: storetest.Keyring(t, "k1")})
	if err == nil || !strings.Contains(err.Error(), "newer") {
		t.Errorf("opened with %v", err)
	}
}

// TestExisting checks that Config.Existing accepts only a database with the version of this program.
func TestExisting(t *testing.T) {
	t.Parallel()
	for name, address := range storetest.Empty {
		if name == "memory" {
			continue // each program has its own database
		}
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			at := address(t)
			beside := func(want string) {
				t.Helper()
				db, err := bunstore.Open(t.Context(), at, bunstore.Config{Keyring: storetest.Keyring(t, "k1"), Existing: true})
				if (err == nil) != (want == "") || err != nil && !strings.Contains(err.Error(), want) {
					t.Errorf("got %v, want %q", err, want)
				}
				if err == nil {
					if err := db.Close(); err != nil {
						t.Error(err)
					}
				}
			}
			beside("start the server first")
			db := storetest.Open(t, at)
			beside("")
			for _, change := range []struct{ statement, want string }{
				{"INSERT INTO callwright_migrations (version, name, applied_at) VALUES (1000, 'later', '2030-01-01')", "have version 1000"},
				{"DELETE FROM callwright_migrations WHERE version > 3", "have version 3"},
			} {
				if _, err := db.SQL().ExecContext(t.Context(), change.statement); err != nil {
					t.Fatal(err)
				}
				beside(change.want)
			}
		})
	}
}
