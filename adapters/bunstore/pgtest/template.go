package pgtest

import (
	"context"
	"fmt"
	"sync"
	"testing"
)

// Template creates one database and provides each test with a copy of it. PostgreSQL copies files faster than it executes the statements
// that create tables. A Template needs only its field Prepare.
type Template struct {
	Prepare func(ctx context.Context, dsn string) error // fills the database; must close its connections before it returns

	mu   sync.Mutex
	name string // empty if the database does not exist
	err  error  // error of the only attempt to create the template
}

// DSN creates a copy of the template and returns its data source name, like the function DSN. The copy is deleted at the end of the test.
func (m *Template) DSN(t testing.TB) string {
	t.Helper()
	server := server(t)
	name, err := m.made(t.Context(), server)
	if err != nil {
		t.Fatalf("pgtest: %v", err)
	}
	return database(t, server, name)
}

// made returns the name of the template. The first call creates it; if that fails, later calls return the same error.
func (m *Template) made(ctx context.Context, server string) (string, error) {
	m.mu.Lock()
	defer m.mu.Unlock()
	if m.name == "" && m.err == nil {
		m.err = m.create(ctx, server)
	}
	return m.name, m.err
}

// create creates the template. After Prepare it forbids connections, because a database in use cannot be copied.
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

// Delete deletes the template, if it exists. Call it after all tests of the process.
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
