// Package storetest is the common code of the tests of bunstore's packages: empty databases of each kind, and looks at their rows
// and plans.
package storetest

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"testing"

	"go.uber.org/goleak"

	"github.com/callwright/callwright"
	"github.com/callwright/callwright/adapters/bunstore"
	"github.com/callwright/callwright/adapters/bunstore/pgtest"
)

// Empty are the kinds of databases that stores run on: each gives the address of one without tables.
var Empty = map[string]func(testing.TB) string{
	"sqlite":   func(t testing.TB) string { return "sqlite:" + filepath.Join(t.TempDir(), "a b%?#.db") },
	"memory":   func(testing.TB) string { return "sqlite::memory:" },
	"postgres": pgtest.DSN,
}

// Databases are the databases for every test of stores: each function returns the address of one without rows. On PostgreSQL it has its tables
// already. Tests of migrations use Empty.
var Databases = map[string]func(testing.TB) string{
	"sqlite":   Empty["sqlite"],
	"memory":   Empty["memory"],
	"postgres": migrated.DSN,
}

// migrated is a database of PostgreSQL with all tables.
var migrated = pgtest.Template{Prepare: func(ctx context.Context, dsn string) error {
	ring, err := callwright.NewKeyring("k1", map[string][]byte{"k1": make([]byte, 32)})
	if err != nil {
		return err
	}
	db, err := bunstore.Open(ctx, dsn, bunstore.Config{Keyring: ring})
	if err != nil {
		return err
	}
	return db.Close()
}}

// Main runs the tests of a package that uses Databases, and ends the process: with an error when goroutines are left.
func Main(m *testing.M) {
	goleak.VerifyTestMain(m, goleak.Cleanup(func(code int) {
		if err := migrated.Delete(context.Background()); err != nil {
			fmt.Fprintln(os.Stderr, err)
			code = max(code, 1)
		}
		os.Exit(code)
	}))
}

// OnEach runs a test on every database, of which open opens an empty one.
func OnEach(t *testing.T, test func(t *testing.T, open func(*testing.T) *bunstore.DB)) {
	t.Helper()
	for name, address := range Databases {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			test(t, func(t *testing.T) *bunstore.DB { return Open(t, address(t)) })
		})
	}
}

// Open opens a database until the test ends.
func Open(t testing.TB, address string) *bunstore.DB {
	t.Helper()
	db, err := bunstore.Open(t.Context(), address, bunstore.Config{Keyring: Keyring(t, "k1")})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := db.Close(); err != nil {
			t.Error(err)
		}
	})
	return db
}

// Keyring returns a keyring with one key.
func Keyring(t testing.TB, id string) *callwright.Keyring {
	t.Helper()
	ring, err := callwright.NewKeyring(id, map[string][]byte{id: make([]byte, 32)})
	if err != nil {
		t.Fatal(err)
	}
	return ring
}

// CompilesOnce checks that SQLite compiles the statements of a use of the stores once for any number of runs. use gets a new id
// each time.
func CompilesOnce(t *testing.T, use func(ctx context.Context, db *bunstore.DB, id string) error) {
	t.Helper()
	db := Open(t, Databases["sqlite"](t))
	for i := range 20 {
		before := db.Core().Compiled()
		if err := use(t.Context(), db, fmt.Sprint("id", i)); err != nil {
			t.Fatal(err)
		}
		if n := db.Core().Compiled() - before; (n == 0) != (i > 0) {
			t.Fatalf("use %d compiled %d statements", i+1, n)
		}
	}
}
