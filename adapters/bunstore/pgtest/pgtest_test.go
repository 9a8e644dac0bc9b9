package pgtest_test

import (
	"context"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"

	"github.com/jackc/pgx/v5"
	"go.uber.org/goleak"

	"github.com/callwright/callwright/adapters/bunstore/pgtest"
)

func TestMain(m *testing.M) {
	if mode := os.Getenv(envChild); mode != "" {
		beChild(mode)
	}
	goleak.VerifyTestMain(m)
}

// open connects to a database, and closes the connection at the end of the test.
func open(t *testing.T, dsn string) *pgx.Conn {
	t.Helper()
	conn, err := pgx.Connect(t.Context(), dsn)
	if err != nil {
		t.Fatalf("connect: %v", err)
	}
	t.Cleanup(func() { conn.Close(context.Background()) })
	return conn
}

// query returns the single value that a statement selects.
func query[T any](t *testing.T, conn *pgx.Conn, statement string, args ...any) T {
	t.Helper()
	var value T
	if err := conn.QueryRow(t.Context(), statement, args...).Scan(&value); err != nil {
		t.Fatalf("%s: %v", statement, err)
	}
	return value
}

func TestDSNGivesAnEmptyDatabase(t *testing.T) {
	t.Parallel()
	conn := open(t, pgtest.DSN(t))
	if n := query[int](t, conn, "SELECT count(*) FROM pg_tables WHERE schemaname = 'public'"); n != 0 {
		t.Errorf("the new database has %d tables, want none", n)
	}
	if v := query[int](t, conn, "SELECT current_setting('server_version_num')::int"); v < 150000 {
		t.Errorf("server version %d, want 15 or newer", v)
	}
	if encoding := query[string](t, conn, "SHOW server_encoding"); encoding != "UTF8" {
		t.Errorf("encoding %s, want UTF8", encoding)
	}
}

func TestDSNGivesEachCallItsOwnDatabase(t *testing.T) {
	t.Parallel()
	first, second := open(t, pgtest.DSN(t)), open(t, pgtest.DSN(t))
	if _, err := first.Exec(t.Context(), "CREATE TABLE mine (id int)"); err != nil {
		t.Fatal(err)
	}
	if n := query[int](t, second, "SELECT count(*) FROM pg_tables WHERE tablename = 'mine'"); n != 0 {
		t.Error("a table of one database shows in another")
	}
	const address = "SELECT inet_server_port()"
	if a, b := query[int](t, first, address), query[int](t, second, address); a != b {
		t.Errorf("two calls started two servers (ports %d and %d), want one shared", a, b)
	}
}

func TestDSNServesManyTestsAtOnce(t *testing.T) {
	t.Parallel()
	var names sync.Map
	t.Run("group", func(t *testing.T) {
		for range 8 {
			t.Run("one", func(t *testing.T) {
				t.Parallel()
				name := query[string](t, open(t, pgtest.DSN(t)), "SELECT current_database()")
				if _, seen := names.LoadOrStore(name, true); seen {
					t.Errorf("database %s was given twice", name)
				}
			})
		}
	})
}

func TestDatabaseIsDroppedWithTheTest(t *testing.T) {
	t.Parallel()
	watcher := open(t, pgtest.DSN(t))
	var name string
	t.Run("owner", func(t *testing.T) {
		// Cleanups run in reverse order: this one closes the connection after the cleanup of DSN has deleted the database.
		var conn *pgx.Conn
		t.Cleanup(func() { conn.Close(context.Background()) })
		var err error
		if conn, err = pgx.Connect(t.Context(), pgtest.DSN(t)); err != nil {
			t.Fatal(err)
		}
		name = query[string](t, conn, "SELECT current_database()")
		if n := query[int](t, watcher, "SELECT count(*) FROM pg_database WHERE datname = $1", name); n != 1 {
			t.Fatalf("%d databases are called %s, want 1", n, name)
		}
	})
	if n := query[int](t, watcher, "SELECT count(*) FROM pg_database WHERE datname = $1", name); n != 0 {
		t.Errorf("database %s outlived its test", name)
	}
}

func TestWithDatabase(t *testing.T) {
	t.Parallel()
	tests := []struct{ name, dsn, want string }{
		{"URL", "postgres://u:p@h:1/old?sslmode=disable", "postgres://u:p@h:1/new?sslmode=disable"},
		{"URL without a database", "postgresql://u@h", "postgresql://u@h/new"},
		{"keywords", "host=h user=u", "host=h user=u dbname=new"},
		{"keywords with a database", "dbname=old host=h", "dbname=old host=h dbname=new"},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			t.Parallel()
			got, err := pgtest.WithDatabase(test.dsn, "new")
			if err != nil || got != test.want {
				t.Fatalf("WithDatabase(%q) = %q, %v, want %q", test.dsn, got, err, test.want)
			}
			config, err := pgx.ParseConfig(got)
			if err != nil || config.Database != "new" {
				t.Errorf("the driver reads database %q, %v from %q", config.Database, err, got)
			}
		})
	}
	if _, err := pgtest.WithDatabase("postgres://u:secret@h:port/x", "new"); err == nil {
		t.Error("a bad URL was accepted")
	} else if strings.Contains(err.Error(), "secret") {
		t.Errorf("the error shows the password: %v", err)
	}
}

func TestFindBinaries(t *testing.T) {
	t.Parallel()
	none, half, full := t.TempDir(), t.TempDir(), t.TempDir()
	for _, program := range []string{filepath.Join(half, "initdb"), filepath.Join(full, "initdb"), filepath.Join(full, "pg_ctl")} {
		if err := os.WriteFile(program, []byte("#!/bin/sh\n"), 0o755); err != nil {
			t.Fatal(err)
		}
	}
	if got, err := pgtest.FindBinaries([]string{none, half, full}); err != nil || got != full {
		t.Errorf("FindBinaries = %q, %v, want %q", got, err, full)
	}
	if got, err := pgtest.FindBinaries([]string{none, half}); err == nil {
		t.Errorf("FindBinaries = %q without pg_ctl, want an error", got)
	}
}
