package bunstore_test

import (
	"bytes"
	"context"
	"errors"
	"log/slog"
	"path/filepath"
	"strings"
	"testing"

	"github.com/callwright/callwright"
	"github.com/callwright/callwright/adapters/bunstore"
	"github.com/callwright/callwright/adapters/bunstore/internal/storetest"
	"github.com/callwright/callwright/adapters/bunstore/orgstore"
)

// TestPingWhileLocked holds the write lock of a SQLite file in one pool, and checks that in another pool reads succeed, but Ping returns
// CodeUnavailable.
func TestPingWhileLocked(t *testing.T) {
	t.Parallel()
	path := filepath.Join(t.TempDir(), "x.db")
	patient, hasty := storetest.Open(t, "sqlite:"+path), openWithin(t, "sqlite:"+path, limitOfFile)
	err := patient.Do(t.Context(), func(context.Context) error {
		if _, err := (orgstore.Tenants{DB: hasty}).Organization(t.Context(), "o"); !errors.Is(err, callwright.ErrNotFound) {
			t.Errorf("a read gave %v", err)
		}
		if err := hasty.Ping(t.Context()); !errors.Is(err, callwright.ErrUnavailable) || err.Error() != "the database did not answer in time" {
			t.Errorf("while no write goes through, Ping gave %v", err)
		}
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	for hasty.Ping(t.Context()) != nil { // may fail at first on a slow machine
		if t.Context().Err() != nil {
			t.Fatal("the database stays unready after the lock")
		}
	}
}

// TestDamagedWhileOpen overwrites the pages of an open database. After any access has detected the damage, all accesses return the error
// that states the remedy, and the log contains that error only once.
func TestDamagedWhileOpen(t *testing.T) {
	t.Parallel()
	const words = "the database is damaged: stop the server and restore it from a backup"
	read := func(ctx context.Context, db *bunstore.DB) error {
		_, err := orgstore.Tenants{DB: db}.Organization(ctx, "o")
		return err
	}
	write := func(ctx context.Context, db *bunstore.DB) error {
		return orgstore.Tenants{DB: db}.InsertOrganization(ctx, organization("p"))
	}
	uses := map[string]func(context.Context, *bunstore.DB) error{
		"a read":  read,
		"a write": write,
		"Ping":    func(ctx context.Context, db *bunstore.DB) error { return db.Ping(ctx) },
		"a transaction": func(ctx context.Context, db *bunstore.DB) error {
			return db.Do(ctx, func(ctx context.Context) error { return write(ctx, db) })
		},
		"a statement of another adapter": func(ctx context.Context, db *bunstore.DB) error {
			return db.Do(ctx, func(ctx context.Context) error {
				tx, _ := db.Tx(ctx)
				if _, err := tx.ExecContext(ctx, "UPDATE organizations SET name = name"); err != nil {
					return callwright.ErrInternal.Because(err)
				}
				return nil
			})
		},
		"a query of durable work": func(ctx context.Context, db *bunstore.DB) error {
			if err := db.SQL().QueryRowContext(ctx, "SELECT name FROM organizations").Scan(new(string)); err == nil {
				return errors.New("nothing is damaged")
			}
			return db.Do(ctx, func(context.Context) error { return nil })
		},
	}
	for first, find := range uses {
		t.Run(first, func(t *testing.T) {
			t.Parallel()
			path, log := filepath.Join(t.TempDir(), "x.db"), new(bytes.Buffer)
			db, err := bunstore.Open(t.Context(), "sqlite:"+path, bunstore.Config{
				Keyring: storetest.Keyring(t, "k1"), Runtime: callwright.Runtime{Logger: slog.New(slog.NewTextHandler(log, nil))},
			})
			if err != nil {
				t.Fatal(err)
			}
			defer db.Close()
			if err := errors.Join(write(t.Context(), db), db.Checkpoint(t.Context())); err != nil {
				t.Fatal(err)
			}
			change(t, path, func(b []byte) []byte { invert(b[4096:]); return b })
			if _, err := db.SQL().ExecContext(t.Context(), "PRAGMA shrink_memory"); err != nil { // clears the page cache
				t.Fatal(err)
			}
			if err := find(t.Context(), db); !errors.Is(err, callwright.ErrUnavailable) || callwright.MessageOf(err) != words {
				t.Errorf("it gave %v, %v", err, errors.Unwrap(err))
			}
			for next, use := range uses {
				if err := use(t.Context(), db); !errors.Is(err, callwright.ErrUnavailable) || callwright.MessageOf(err) != words {
					t.Errorf("then %s gave %v", next, err)
				}
			}
			if n := strings.Count(log.String(), words); n != 1 {
				t.Errorf("the log says it %d times:\n%s", n, log)
			}
		})
	}
}
