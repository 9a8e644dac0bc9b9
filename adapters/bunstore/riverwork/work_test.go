package riverwork_test

import (
	"context"
	"path/filepath"
	"sync"
	"testing"

	"github.com/callwright/callwright"
	"github.com/callwright/callwright/adapters/bunstore"
	"github.com/callwright/callwright/adapters/bunstore/pgtest"
	"github.com/callwright/callwright/adapters/bunstore/riverwork"
	"github.com/callwright/callwright/callwrighttest"
)

// databases contains, for each kind of database, a function that returns the address of an empty database.
var databases = map[string]func(testing.TB) string{
	"sqlite":    func(t testing.TB) string { return "sqlite:" + filepath.Join(t.TempDir(), "work.db") },
	"postgres":  pgtest.DSN,
	"pgbouncer": pgtest.PooledDSN,
}

// open opens a database with its durable work, as the server does. change adjusts the configuration, unless it is nil.
func open(t testing.TB, address string, change func(*riverwork.Config)) (*bunstore.DB, *riverwork.Work) {
	t.Helper()
	ring, err := callwright.NewKeyring("k", map[string][]byte{"k": make([]byte, 32)})
	if err != nil {
		t.Fatal(err)
	}
	db, err := bunstore.Open(t.Context(), address, bunstore.Config{Keyring: ring})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := db.Close(); err != nil {
			t.Error(err)
		}
	})
	config := riverwork.Config{SQL: db.SQL(), Tx: db.Tx, Atomic: db, PostgresDSN: db.PostgresDSN()}
	if change != nil {
		change(&config)
	}
	if err := riverwork.Migrate(t.Context(), config); err != nil {
		t.Fatal(err)
	}
	work, err := riverwork.New(config)
	if err != nil {
		t.Fatal(err)
	}
	return db, work
}

// start calls work.Run in the background until the end of the test.
func start(t testing.TB, work *riverwork.Work) {
	t.Helper()
	ctx, cancel := context.WithCancel(context.Background())
	var running sync.WaitGroup
	running.Go(func() {
		if err := work.Run(ctx); err != nil {
			t.Error(err)
		}
	})
	t.Cleanup(func() {
		cancel()
		running.Wait()
	})
}

func TestWork(t *testing.T) {
	t.Parallel()
	for name, address := range databases {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			callwrighttest.RunWork(t, func(t *testing.T) callwrighttest.Harness {
				db, work := open(t, address(t), nil)
				return callwrighttest.Harness{
					Atomic: db, Work: work, Start: func(t *testing.T) { start(t, work) },
				}
			})
		})
	}
}
