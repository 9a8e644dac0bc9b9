package pgtest

import (
	"context"
	"fmt"
	"sync"
	"testing"
)

// Template makes one database and gives each test a copy of it: PostgreSQL copies files faster than it runs the statements that make
// tables. Its zero value with Prepare is ready to use.
type Template struct {
	Prepare func(ctx context.Context, dsn string) error // fills the database, and is connected no more when it returns

	mu   sync.Mutex
	name string // empty: it is not there
	err  error  // of Prepare, which is called once
}

// DSN creates a copy, and returns its data source name as the function DSN does. It is dropped when the test ends.
func (m *Template) DSN(t testing.TB) string {
	t.Helper()
	server := server(t)
	name, err := m.made(t.Context(), server)
	if err != nil {
		t.Fatalf("pgtest: %v", err)
	}
	return database(t, server, name)
}

// made returns the name of the template on a server, which the first call makes.
func (m *Template) made(ctx context.Context, server string) (string, error) {
	m.mu.Lock()
	defer m.mu.Unlock()
	if m.name == "" && m.err == nil {
		m.err = m.create(ctx, server)
	}
	return m.name, m.err
}

// create makes the template. Nobody can connect to it after Prepare: copying a database in use is refused.
func (m *Template) create(ctx context.Context, server string) error {
	name := newName()
	if err := admin(ctx, server, "CREATE DATABASE "+name+" TEMPLATE template0"); err != nil {
		return err
	}
	m.name = name
	dsn, err := withDatabase(server, name)
	if err != nil {
		return fmt.Errorf("%s: %w", envDSN, err)
	}
	if err := m.Prepare(ctx, dsn); err != nil {
		return fmt.Errorf("prepare the template: %w", err)
	}
	return admin(ctx, server, "ALTER DATABASE "+name+" WITH ALLOW_CONNECTIONS false")
}

// Delete deletes the template, when the tests of the process have ended. There may be none.
func (m *Template) Delete(ctx context.Context) error {
	m.mu.Lock()
	defer m.mu.Unlock()
	if m.name == "" {
		return nil
	}
	server, err := shared()
	if err != nil {
		return err
	}
	err = admin(ctx, server, "DROP DATABASE IF EXISTS "+m.name+" WITH (FORCE)")
	m.name, m.err = "", nil
	return err
}
