package bunstore_test

import (
	"context"
	"database/sql"
	"errors"
	"net/url"
	"strings"
	"testing"
	"time"

	"github.com/callwright/callwright"
	"github.com/callwright/callwright/adapters/bunstore"
	"github.com/callwright/callwright/adapters/bunstore/internal/storetest"
	"github.com/callwright/callwright/adapters/bunstore/orgstore"
	"github.com/callwright/callwright/adapters/bunstore/pgtest"
)

// TestNoConnectionLeft opens all connections that the server allows: a further caller waits for a free connection, and receives
// CodeUnavailable only when its time limit expires.
func TestNoConnectionLeft(t *testing.T) {
	t.Parallel()
	server := pgtest.NewServer(t)
	const allowed = 3
	server.Exec(t, "CREATE ROLE few LOGIN PASSWORD 'few' CONNECTION LIMIT 3")
	server.Exec(t, "GRANT ALL ON SCHEMA public TO few")
	dsn, err := url.Parse(server.DSN())
	if err != nil {
		t.Fatal(err)
	}
	dsn.User = url.UserPassword("few", "few")
	open := func(limit time.Duration, connections int) *bunstore.DB {
		db, err := bunstore.Open(t.Context(), dsn.String(), bunstore.Config{
			Keyring: storetest.Keyring(t, "k1"), Limit: limit, Connections: connections,
		})
		if err != nil {
			t.Fatal(err)
		}
		t.Cleanup(func() { _ = db.Close() })
		return db
	}
	others := open(time.Minute, allowed)
	if n, err := others.MostConnections(t.Context()); err != nil || n != allowed {
		t.Errorf("the server allows %d connections, %v; want %d", n, err, allowed)
	}
	patient, hasty := open(time.Minute, 1), open(limitOfServer, 1)
	for _, db := range []*bunstore.DB{patient, hasty} {
		db.SQL().SetMaxIdleConns(0) // closes the pool's idle connection
	}
	release := make([]func() error, 0, allowed)
	for range allowed {
		release = append(release, connection(t, others).Close)
	}
	others.SQL().SetMaxIdleConns(0) // released connections are closed
	write := func(db *bunstore.DB, id string) error {
		return db.Do(t.Context(), func(ctx context.Context) error {
			return orgstore.Tenants{DB: db}.InsertOrganization(ctx, organization(id))
		})
	}
	err = write(hasty, "hasty")
	if wait, ok := callwright.RetryAfter(err); !errors.Is(err, callwright.ErrUnavailable) || !ok || wait <= 0 {
		t.Errorf("without a connection a caller got %v, to come again after %v", err, wait)
	}
	done := make(chan error)
	go func() { done <- write(patient, "patient") }()
	for _, free := range release {
		if err := free(); err != nil {
			t.Error(err)
		}
	}
	if err := <-done; err != nil || !kept(t, patient, "patient") {
		t.Errorf("a caller that waited got %v", err)
	}
}

// connection opens a connection. It retries while the server refuses it, because the server releases closed connections with a delay.
func connection(t *testing.T, db *bunstore.DB) *sql.Conn {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
	defer cancel()
	for {
		c, err := db.SQL().Conn(ctx)
		if err == nil {
			return c
		}
		if ctx.Err() != nil || !strings.Contains(err.Error(), "53300") {
			t.Fatal(err)
		}
	}
}

// TestMostConnections checks that MostConnections returns 0 for SQLite and behind a pooler, and at least 10 for the test's PostgreSQL
// server.
func TestMostConnections(t *testing.T) {
	t.Parallel()
	for _, address := range []string{"sqlite::memory:", pgtest.PooledDSN(t)} {
		if n, err := storetest.Open(t, address).MostConnections(t.Context()); err != nil || n != 0 {
			t.Errorf("got %d, %v", n, err)
		}
	}
	if n, err := storetest.Open(t, pgtest.DSN(t)).MostConnections(t.Context()); err != nil || n < 10 {
		t.Errorf("got %d, %v", n, err)
	}
}
