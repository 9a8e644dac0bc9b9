package bunstore_test

import (
	"context"
	"database/sql"
	"errors"
	"net"
	"net/url"
	"path/filepath"
	"sync"
	"testing"
	"time"

	"github.com/callwright/callwright"
	"github.com/callwright/callwright/adapters/bunstore"
	"github.com/callwright/callwright/adapters/bunstore/internal/storetest"
	"github.com/callwright/callwright/adapters/bunstore/orgstore"
	"github.com/callwright/callwright/adapters/bunstore/pgtest"
)

// The time limits of the databases in these tests. The tests wait until a limit expires. Even on a slow machine, a connection to a server
// is opened within limitOfServer.
const (
	limitOfServer = time.Second
	limitOfFile   = 50 * time.Millisecond
)

// TestFrozenServer stops the traffic of a PostgreSQL server, like SIGSTOP. All callers, more than the pool has connections, receive
// CodeUnavailable, and the pool works again after the traffic resumes.
func TestFrozenServer(t *testing.T) {
	t.Parallel()
	w := newWire(t)
	db := openWithin(t, w.dsn, limitOfServer)
	w.frozen.Lock()
	const callers = 40 // the pool has 16 connections
	var waiting sync.WaitGroup
	for range callers {
		waiting.Go(func() { checkUnavailable(t, db) })
	}
	waiting.Wait()
	w.frozen.Unlock()
	for db.Ping(t.Context()) != nil { // may fail at first on a slow machine
		if t.Context().Err() != nil {
			t.Fatal("the server that goes on is not used")
		}
	}
}

// TestLockedFile checks that a write returns CodeUnavailable while another pool locks the SQLite file, and while another transaction of the
// same pool uses the connection.
func TestLockedFile(t *testing.T) {
	t.Parallel()
	path := filepath.Join(t.TempDir(), "x.db")
	patient, hasty := storetest.Open(t, "sqlite:"+path), openWithin(t, "sqlite:"+path, limitOfFile)
	write := func(ctx context.Context, id string) error {
		return orgstore.Tenants{DB: hasty}.InsertOrganization(ctx, organization(id))
	}
	err := patient.Do(t.Context(), func(context.Context) error { // locks the file; hasty is another pool
		if err := write(t.Context(), "o"); !errors.Is(err, callwright.ErrUnavailable) {
			t.Errorf("a locked file gave %v", err)
		}
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	tx, err := hasty.SQL().BeginTx(t.Context(), &sql.TxOptions{})
	if err != nil {
		t.Fatal(err)
	}
	if err := write(t.Context(), "o"); !errors.Is(err, callwright.ErrUnavailable) {
		t.Errorf("a connection that is taken gave %v", err)
	}
	if err := tx.Rollback(); err != nil {
		t.Fatal(err)
	}
}

// checkUnavailable checks that all kinds of database access return CodeUnavailable because of the time limit.
func checkUnavailable(t *testing.T, db *bunstore.DB) {
	tenants := orgstore.Tenants{DB: db}
	for name, err := range map[string]error{
		"a query":     func() error { _, err := tenants.Organization(t.Context(), "o"); return err }(),
		"a statement": tenants.InsertOrganization(t.Context(), organization("o")),
		"Do":          db.Do(t.Context(), func(context.Context) error { return nil }),
		"Ping":        db.Ping(t.Context()),
	} {
		if !errors.Is(err, callwright.ErrUnavailable) || err.Error() != "the database did not answer in time" {
			t.Errorf("%s gave %v", name, err)
		}
	}
}

func openWithin(t *testing.T, address string, limit time.Duration) *bunstore.DB {
	t.Helper()
	db, err := bunstore.Open(t.Context(), address, bunstore.Config{Keyring: storetest.Keyring(t, "k1"), Limit: limit})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = db.Close() })
	return db
}

// wire is a TCP proxy in front of a PostgreSQL server. While frozen is locked, it forwards no data and keeps connections open.
type wire struct {
	dsn    string
	frozen sync.RWMutex
}

func newWire(t *testing.T) *wire {
	t.Helper()
	address, err := url.Parse(pgtest.DSN(t))
	if err != nil {
		t.Fatal(err)
	}
	listener, err := new(net.ListenConfig).Listen(t.Context(), "tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	w, to := new(wire), address.Host
	address.Host = listener.Addr().String()
	w.dsn = address.String()
	var running sync.WaitGroup
	running.Go(func() {
		for {
			near, err := listener.Accept()
			if err != nil {
				return
			}
			running.Go(func() { w.serve(near, to) })
		}
	})
	t.Cleanup(func() {
		_ = listener.Close()
		running.Wait() // the cleanup of the database has closed the connections
	})
	return w
}

// serve forwards a connection to the server in both directions until either side closes it.
func (w *wire) serve(near net.Conn, to string) {
	defer near.Close()
	far, err := new(net.Dialer).Dial("tcp", to)
	if err != nil {
		return
	}
	defer far.Close()
	var back sync.WaitGroup
	back.Go(func() { w.carry(near, far) })
	w.carry(far, near)
	back.Wait()
}

// carry copies data from the second connection to the first until either fails, and then closes the first.
func (w *wire) carry(to, from net.Conn) {
	defer to.Close()
	buffer := make([]byte, 32<<10)
	for {
		n, err := from.Read(buffer)
		w.frozen.RLock()
		w.frozen.RUnlock() //nolint:staticcheck // an empty section: it waits for the thaw
		if err != nil {
			return
		}
		if _, err := to.Write(buffer[:n]); err != nil {
			return
		}
	}
}
