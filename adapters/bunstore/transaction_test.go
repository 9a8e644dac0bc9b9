package bunstore_test

import (
	"context"
	"database/sql"
	"errors"
	"net/url"
	"path/filepath"
	"strings"
	"sync"
	"testing"

	"github.com/callwright/callwright"
	"github.com/callwright/callwright/adapters/bunstore"
	"github.com/callwright/callwright/adapters/bunstore/agentstore"
	"github.com/callwright/callwright/adapters/bunstore/internal/storetest"
	"github.com/callwright/callwright/adapters/bunstore/orgstore"
	"github.com/callwright/callwright/adapters/bunstore/pgtest"
	"github.com/callwright/callwright/agents"
	"github.com/callwright/callwright/agents/pathway"
)

// organization returns an organization with an id and otherwise arbitrary fields.
func organization(id string) callwright.Organization {
	return callwright.Organization{ID: callwright.OrgID(id), Name: id, Entitlements: []callwright.Entitlement{}}
}

// kept reports whether an organization is stored.
func kept(t *testing.T, db *bunstore.DB, id string) bool {
	t.Helper()
	_, err := orgstore.Tenants{DB: db}.Organization(t.Context(), callwright.OrgID(id))
	if err != nil && !errors.Is(err, callwright.ErrNotFound) {
		t.Fatal(err)
	}
	return err == nil
}

func TestDo(t *testing.T) {
	t.Parallel()
	wrong := errors.New("something else is wrong")
	storetest.OnEach(t, func(t *testing.T, open func(*testing.T) *bunstore.DB) {
		db := open(t)
		tenants := orgstore.Tenants{DB: db}
		put := func(ctx context.Context, id string) error { return tenants.InsertOrganization(ctx, organization(id)) }

		if err := db.Do(t.Context(), func(ctx context.Context) error { return put(ctx, "commit") }); err != nil {
			t.Fatal(err)
		}
		err := db.Do(t.Context(), func(ctx context.Context) error { return errors.Join(put(ctx, "error"), wrong) })
		if !errors.Is(err, wrong) {
			t.Errorf("Do gave %v, not the function's error", err)
		}
		func() {
			defer func() { _ = recover() }()
			_ = db.Do(t.Context(), func(ctx context.Context) error {
				if err := put(ctx, "panic"); err != nil {
					t.Error(err)
				}
				panic("on purpose")
			})
		}()
		err = db.Do(t.Context(), func(ctx context.Context) error {
			inner := db.Do(ctx, func(ctx context.Context) error { return put(ctx, "inner") })
			return errors.Join(inner, wrong)
		})
		if !errors.Is(err, wrong) {
			t.Errorf("the outer Do gave %v", err)
		}
		ended, cancel := context.WithCancel(t.Context())
		err = db.Do(ended, func(ctx context.Context) error {
			defer cancel()
			return put(ctx, "canceled")
		})
		if !errors.Is(err, callwright.ErrUnavailable) || !errors.Is(err, context.Canceled) {
			t.Errorf("committing after the context ended gave %v", err)
		}
		for _, id := range []string{"commit", "error", "panic", "inner", "canceled"} {
			if kept(t, db, id) != (id == "commit") {
				t.Errorf("%s: kept is %t", id, kept(t, db, id))
			}
		}
	})
}

// TestConflictLeavesTheTransactionUsable checks that a transaction can continue after CodeConflict. On PostgreSQL, a failed statement would
// abort the transaction.
func TestConflictLeavesTheTransactionUsable(t *testing.T) {
	t.Parallel()
	storetest.OnEach(t, func(t *testing.T, open func(*testing.T) *bunstore.DB) {
		db := open(t)
		tenants := orgstore.Tenants{DB: db}
		err := db.Do(t.Context(), func(ctx context.Context) error {
			first := tenants.InsertOrganization(ctx, organization("a"))
			again := tenants.InsertOrganization(ctx, organization("a"))
			if !errors.Is(again, callwright.ErrConflict) {
				t.Errorf("inserting twice gave %v", again)
			}
			return errors.Join(first, tenants.InsertOrganization(ctx, organization("b")))
		})
		if err != nil || !kept(t, db, "b") {
			t.Errorf("the transaction ended with %v", err)
		}
	})
}

// TestOwnerGoesMeanwhile deletes a pathway between the check that it exists and the insertion of a dependent row: the insertion returns
// CodeNotFound.
func TestOwnerGoesMeanwhile(t *testing.T) {
	t.Parallel()
	storetest.OnEach(t, func(t *testing.T, open func(*testing.T) *bunstore.DB) {
		db := open(t)
		pathways, chats := agentstore.Pathways{DB: db}, agentstore.Chats{DB: db}
		for name, insert := range map[string]func(context.Context) error{
			"version": func(ctx context.Context) error {
				return pathways.InsertVersion(ctx, pathway.Version{Org: "o", Pathway: "version", Number: 1})
			},
			"chat": func(ctx context.Context) error {
				return chats.InsertChat(ctx, pathway.Chat{ID: "c", Org: "o", Pathway: "chat"})
			},
		} {
			if err := pathways.InsertPathway(t.Context(), pathway.Pathway{ID: name, Org: "o"}); err != nil {
				t.Fatal(err)
			}
			deleted := false
			err := db.Do(t.Context(), func(ctx context.Context) error {
				db.Core().Watch(func(statement string) {
					if strings.Contains(statement, "EXISTS") && !deleted {
						deleted = true
						if err := pathways.DeletePathway(ctx, "o", name); err != nil {
							t.Error(err)
						}
					}
				})
				return insert(ctx)
			})
			if !deleted || !errors.Is(err, callwright.ErrNotFound) {
				t.Errorf("%s: deleted %t, got %v, want not found", name, deleted, err)
			}
		}
	})
}

// TestReadersDoNotWait checks that a read outside a writing transaction does not wait for it, and does not see its changes.
func TestReadersDoNotWait(t *testing.T) {
	t.Parallel()
	storetest.OnEach(t, func(t *testing.T, open func(*testing.T) *bunstore.DB) {
		if t.Name() == "TestReadersDoNotWait/memory" {
			return // an in-memory database has only one connection
		}
		db := open(t)
		err := db.Do(t.Context(), func(ctx context.Context) error {
			if err := (orgstore.Tenants{DB: db}).InsertOrganization(ctx, organization("a")); err != nil {
				return err
			}
			if kept(t, db, "a") {
				t.Error("what is not committed is seen")
			}
			return nil
		})
		if err != nil || !kept(t, db, "a") {
			t.Errorf("after the commit: %v", err)
		}
	})
}

// TestDeadlock runs two transactions that update two rows in opposite order. On PostgreSQL, one of them is retried. On SQLite, the second
// transaction waits for the first.
func TestDeadlock(t *testing.T) {
	t.Parallel()
	storetest.OnEach(t, func(t *testing.T, open func(*testing.T) *bunstore.DB) {
		db := open(t)
		numbers := agentstore.Numbers{DB: db}
		for _, n := range []callwright.PhoneNumber{"+15550000001", "+15550000002"} {
			if err := numbers.InsertNumber(t.Context(), agents.InboundNumber{Org: "o", Number: n}); err != nil {
				t.Fatal(err)
			}
		}
		bump := func(ctx context.Context, n callwright.PhoneNumber) error {
			stored, err := numbers.Number(ctx, "o", n)
			if err != nil {
				return err
			}
			return numbers.UpdateNumber(ctx, stored)
		}
		var both, writers sync.WaitGroup
		both.Add(2)
		for _, order := range [][]callwright.PhoneNumber{
			{"+15550000001", "+15550000002"}, {"+15550000002", "+15550000001"},
		} {
			writers.Go(func() {
				var met sync.Once
				err := db.Do(t.Context(), func(ctx context.Context) error {
					if err := bump(ctx, order[0]); err != nil {
						return err
					}
					if db.PostgresDSN() != "" { // on SQLite the second transaction waits for the end of the first
						met.Do(func() { both.Done(); both.Wait() })
					}
					return bump(ctx, order[1])
				})
				if err != nil {
					t.Error(err)
				}
			})
		}
		writers.Wait()
		for _, n := range []callwright.PhoneNumber{"+15550000001", "+15550000002"} {
			if stored, err := numbers.Number(t.Context(), "o", n); err != nil || stored.Version != 3 {
				t.Errorf("%s has version %d, %v; want 3", n, stored.Version, err)
			}
		}
	})
}

// TestBrokenConnection checks that a transaction is retried on another connection if its connection breaks.
func TestBrokenConnection(t *testing.T) {
	t.Parallel()
	db := storetest.Open(t, pgtest.DSN(t))
	runs := 0
	err := db.Do(t.Context(), func(ctx context.Context) error {
		if runs++; runs == 1 {
			tx, _ := db.Tx(ctx)
			if _, err := tx.ExecContext(ctx, "SELECT pg_terminate_backend(pg_backend_pid())"); err == nil {
				t.Error("the connection lives")
			}
		}
		return orgstore.Tenants{DB: db}.InsertOrganization(ctx, organization("o"))
	})
	if err != nil || runs != 2 || !kept(t, db, "o") {
		t.Errorf("after %d runs: %v", runs, err)
	}
}

// TestServerIsAway checks that a query, Do and Ping return CodeUnavailable if the server accepts no connections.
func TestServerIsAway(t *testing.T) {
	t.Parallel()
	address, err := url.Parse(pgtest.DSN(t))
	if err != nil {
		t.Fatal(err)
	}
	db := storetest.Open(t, address.String())
	name := strings.TrimPrefix(address.Path, "/")
	address.Path = "/postgres"
	other, err := sql.Open("pgx", address.String())
	if err != nil {
		t.Fatal(err)
	}
	defer other.Close()
	if _, err := other.ExecContext(t.Context(), `ALTER DATABASE "`+name+`" ALLOW_CONNECTIONS false`); err != nil {
		t.Fatal(err)
	}
	db.SQL().SetMaxIdleConns(0) // closes idle connections
	for name, err := range map[string]error{
		"a query": func() error { _, err := orgstore.Tenants{DB: db}.Organization(t.Context(), "o"); return err }(),
		"Do":      db.Do(t.Context(), func(context.Context) error { return nil }),
		"Ping":    db.Ping(t.Context()),
	} {
		if !errors.Is(err, callwright.ErrUnavailable) {
			t.Errorf("%s gave %v", name, err)
		}
	}
}

// TestBusy checks that Do retries while another process locks the database, but at most five times.
func TestBusy(t *testing.T) {
	t.Parallel()
	path := filepath.Join(t.TempDir(), "busy.db")
	db := storetest.Open(t, "sqlite:"+path)
	other, err := sql.Open("sqlite", path+"?_txlock=immediate") // without a busy timeout
	if err != nil {
		t.Fatal(err)
	}
	defer other.Close()
	for name, test := range map[string]struct{ busy, runs int }{
		"at first": {2, 3},
		"for ever": {1000, 6},
	} {
		runs := 0
		err := db.Do(t.Context(), func(ctx context.Context) error {
			if runs++; runs > test.busy {
				return nil
			}
			_, err := other.BeginTx(ctx, nil)
			return callwright.ErrInternal.Because(err)
		})
		if runs != test.runs || (err == nil) != (test.busy < test.runs) {
			t.Errorf("busy %s: %d runs, %v; want %d", name, runs, err, test.runs)
		}
	}
}
