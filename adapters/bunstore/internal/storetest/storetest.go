// Package storetest contains the common code of the tests of bunstore's packages: empty databases of each kind, and helpers that read rows
// and query plans.
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

// Empty contains, for each kind of database, a function that returns the address of a new database without tables.
var Empty = map[string]func(testing.TB) string{
	"sqlite":   func(t testing.TB) string { return "sqlite:" + filepath.Join(t.TempDir(), "a b%?#.db") },
	"memory":   func(testing.TB) string { return "sqlite::memory:" },
	"postgres": pgtest.DSN,
}

// Databases contains, for each kind of database, a function that returns the address of a new database without rows. On PostgreSQL its
// tables already exist, which saves time. Tests of migrations use Empty.
var Databases = map[string]func(testing.TB) string{
	"sqlite":   Empty["sqlite"],
	"memory":   Empty["memory"],
	"postgres": migrated.DSN,
}

// migrated is the template of PostgreSQL databases with all tables.
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

// Main runs the tests of a package that uses Databases, and exits the process. It exits with an error if goroutines are left, or if the
// PostgreSQL template cannot be deleted.
func Main(m *testing.M) {
	goleak.VerifyTestMain(m, goleak.Cleanup(func(code int) {
		if err := migrated.Delete(context.Background()); err != nil {
			fmt.Fprintln(os.Stderr, err)
			code = max(code, 1)
		}
		os.Exit(code)
	}))
}

// OnEach runs a parallel subtest for each kind of database. open opens an empty database.
func OnEach(t *testing.T, test func(t *testing.T, open func(*testing.T) *bunstore.DB)) {
	t.Helper()
	for name, address := range Databases {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			test(t, func(t *testing.T) *bunstore.DB { return Open(t, address(t)) })
		})
	}
}

// Open opens a database with the keyring k1, and closes it at the end of the test.
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

// Keyring returns a keyring with one key, whose id is given.
func Keyring(t testing.TB, id string) *callwright.Keyring {
	t.Helper()
	ring, err := callwright.NewKeyring(id, map[string][]byte{id: make([]byte, 32)})
	if err != nil {
		t.Fatal(err)
	}
	return ring
}

// CompilesOnce calls the function use several times, each time with a new id, and checks that SQLite compiles its statements only during
// the first call.
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
