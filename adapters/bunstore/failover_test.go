package bunstore_test

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/callwright/callwright"
	"github.com/callwright/callwright/adapters/bunstore"
	"github.com/callwright/callwright/adapters/bunstore/internal/storetest"
	"github.com/callwright/callwright/adapters/bunstore/orgstore"
	"github.com/callwright/callwright/adapters/bunstore/pgtest"
)

// TestReadOnlySessions makes all sessions of a pool read-only, like a failover: the next write, transaction or Ping detects this and uses a
// new session.
func TestReadOnlySessions(t *testing.T) {
	t.Parallel()
	db := storetest.Open(t, pgtest.DSN(t))
	tenants := orgstore.Tenants{DB: db}
	for name, use := range map[string]func() error{
		"a write": func() error { return tenants.InsertOrganization(t.Context(), organization("a")) },
		"a transaction": func() error {
			return db.Do(t.Context(), func(ctx context.Context) error { return tenants.InsertOrganization(ctx, organization("b")) })
		},
		"Ping": func() error { return db.Ping(t.Context()) },
	} {
		spoil(t, db)
		if err := use(); err != nil {
			t.Errorf("after all sessions became read-only, %s gave %v", name, err)
		}
	}
}

// spoil makes all 16 sessions of a pool read-only.
func spoil(t *testing.T, db *bunstore.DB) {
	t.Helper()
	const sessions = 16
	var all sync.WaitGroup
	all.Add(sessions)
	var done sync.WaitGroup
	for range sessions {
		done.Go(func() {
			c, err := db.SQL().Conn(t.Context())
			all.Done()
			if err != nil {
				t.Error(err)
				return
			}
			defer c.Close()
			all.Wait() // until each goroutine holds a session
			if _, err := c.ExecContext(t.Context(), "SET SESSION CHARACTERISTICS AS TRANSACTION READ ONLY"); err != nil {
				t.Error(err)
			}
		})
	}
	done.Wait()
}

// TestFailover restarts, kills and freezes a server, makes it read-only, and promotes a standby in its place, while callers write. The only
// error that callers receive is CodeUnavailable with a RetryAfter; confirmed writes are stored; and after each outage the same pool serves
// the callers.
func TestFailover(t *testing.T) {
	t.Parallel()
	first := pgtest.NewServer(t)
	second := first.Standby(t)
	db := openWithin(t, first.DSN(second), limitOfServer)
	callers := newCallers(t, db)
	for _, outage := range []struct {
		name       string
		begin, end func()
	}{
		{"read-only", func() { first.SetReadOnly(t, true) }, func() { first.SetReadOnly(t, false) }},
		{"frozen", first.Freeze, first.Resume},
		{"restarted", func() { first.Stop(t) }, func() { first.Start(t) }},
		{"killed", first.Kill, func() { first.Start(t) }},
		{"replaced by its standby", first.Kill, func() { second.Promote(t) }},
	} {
		outage.begin()
		callers.await(t, outage.name+": a caller to be refused", func(o outcome) bool { return !o.written })
		awaitThat(t, outage.name+": Ping to notice", func() bool { return errors.Is(db.Ping(t.Context()), callwright.ErrUnavailable) })
		outage.end()
		at := time.Now()
		callers.await(t, outage.name+": a write to succeed again", func(o outcome) bool { return o.written && o.began.After(at) })
		awaitThat(t, outage.name+": Ping to succeed", func() bool { return db.Ping(t.Context()) == nil })
		t.Logf("%s: healed after %v", outage.name, time.Since(at))
	}
	callers.check(t, db)
}

// awaitThat calls the function holds until it returns true. It fails the test if the test's context ends first.
func awaitThat(t *testing.T, what string, holds func() bool) {
	t.Helper()
	for !holds() {
		if t.Context().Err() != nil {
			t.Fatalf("waiting for %s", what)
		}
	}
}

// outcome is the result of a caller's write.
type outcome struct {
	began   time.Time
	id      string
	written bool
}

// callers writes organizations in the background until stop is called.
type callers struct {
	stop     func()
	outcomes chan outcome
	mu       sync.Mutex
	written  []string
}

func newCallers(t *testing.T, db *bunstore.DB) *callers {
	t.Helper()
	ctx, cancel := context.WithCancel(t.Context())
	c := &callers{outcomes: make(chan outcome)}
	var running sync.WaitGroup
	for n := range 4 {
		running.Go(func() {
			for i := 0; ctx.Err() == nil; i++ {
				c.write(ctx, t, db, fmt.Sprint("caller", n, "-", i), n%2 == 0)
			}
		})
	}
	c.stop = func() { cancel(); running.Wait() }
	t.Cleanup(c.stop)
	return c
}

// write inserts an organization, in a transaction if within is true, and sends the outcome. It fails the test if the insertion returns an
// error other than CodeUnavailable with a RetryAfter.
func (c *callers) write(ctx context.Context, t *testing.T, db *bunstore.DB, id string, within bool) {
	began, tenants := time.Now(), orgstore.Tenants{DB: db}
	put := func(ctx context.Context) error { return tenants.InsertOrganization(ctx, organization(id)) }
	var err error
	if within {
		err = db.Do(ctx, put)
	} else {
		err = put(ctx)
	}
	if ctx.Err() != nil {
		return
	}
	wait, ok := callwright.RetryAfter(err)
	if err != nil && (!errors.Is(err, callwright.ErrUnavailable) || !ok || wait <= 0 || strings.Contains(err.Error(), "SQLSTATE")) {
		t.Errorf("a caller was told %v, to come again after %v, because %v", err, wait, errors.Unwrap(err))
	}
	if err == nil {
		c.mu.Lock()
		c.written = append(c.written, id)
		c.mu.Unlock()
	}
	select {
	case c.outcomes <- outcome{began, id, err == nil}:
	case <-ctx.Done():
	}
}

// await receives outcomes until the function wanted returns true for one, and discards the others. It fails the test when the test's
// context ends.
func (c *callers) await(t *testing.T, what string, wanted func(outcome) bool) {
	t.Helper()
	for {
		select {
		case o := <-c.outcomes:
			if wanted(o) {
				return
			}
		case <-t.Context().Done():
			t.Fatalf("waiting for %s", what)
		}
	}
}

// check stops the callers and checks that no confirmed write is lost.
func (c *callers) check(t *testing.T, db *bunstore.DB) {
	t.Helper()
	c.stop()
	for _, id := range c.written {
		if !kept(t, db, id) {
			t.Errorf("%s was written and is lost", id)
		}
	}
}
