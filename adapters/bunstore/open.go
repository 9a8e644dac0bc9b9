package bunstore

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"os"
	"strings"
	"time"

	"github.com/callwright/callwright"
	"github.com/callwright/callwright/adapters/bunstore/internal/sqldb"
)

// Config configures a database.
type Config struct {
	Keyring *callwright.Keyring `required:"always"` // encrypts secrets at rest
	Limit   time.Duration       // time limit of a transaction or a single statement, including the wait for a connection; 0 means 30 s

	// Connections is the maximum number of connections to PostgreSQL; 0 means 16. If none is free, callers wait, at most for Limit.
	Connections int

	// Existing prevents changes of the tables, for a program that runs beside a server and may be of another release. Open then applies no
	// migrations, and refuses an absent database and a database of another version.
	Existing bool

	callwright.Runtime
}

// defaultLimit is the default of Config.Limit.
const defaultLimit = 30 * time.Second

// DB is an open database for the stores of the sub-packages. It implements callwright.Atomic, and is safe for concurrent use.
type DB struct{ core *sqldb.DB }

// Open connects to a database and applies pending migrations, unless c.Existing is set. The address is sqlite:<path>, sqlite::memory: for a
// database that exists until Close, or a PostgreSQL connection string, such as postgres://user:password@host/name. Several nodes may open
// the same PostgreSQL database concurrently.
//
// Open refuses a SQLite file that is damaged or has lost its contents, and a file whose write-ahead log is damaged. The error states a
// remedy. Open does not write to such a file. The check reads the whole file.
func Open(ctx context.Context, address string, c Config) (*DB, error) {
	if err := callwright.PrepareConfig(&c); err != nil {
		return nil, err
	}
	if c.Limit <= 0 {
		c.Limit = defaultLimit
	}
	if path, ok := strings.CutPrefix(address, "sqlite:"); ok && c.Existing {
		if _, err := os.Stat(path); err != nil {
			return nil, fmt.Errorf("bunstore: the database %s cannot be opened (%w): start the server first, which creates it", path, err)
		}
	}
	core, err := sqldb.Open(ctx, address, sqldb.Config{Keyring: c.Keyring, Limit: c.Limit, Connections: c.Connections, Runtime: c.Runtime})
	if err != nil {
		return nil, fmt.Errorf("bunstore: %w", err)
	}
	db := &DB{core}
	prepare := db.migrate
	if c.Existing {
		prepare = db.checkVersion
	}
	if err := prepare(ctx); err != nil {
		return nil, errors.Join(fmt.Errorf("bunstore: %w", err), db.Close())
	}
	return db, nil
}

// String returns the kind of the database, without its address.
func (db *DB) String() string { return "bunstore on " + db.core.Name() }

// MostConnections returns the maximum number of connections that a PostgreSQL server allows to this program's role in this database, shared
// by all programs. It returns 0 if no limit is known: on SQLite, and behind a pooler.
func (db *DB) MostConnections(ctx context.Context) (int, error) { return db.core.MostConnections(ctx) }

// Close closes all connections. Do not use the database afterwards.
func (db *DB) Close() error { return db.core.Close() }

// Ping returns nil if the database can be read and written, and otherwise an error: CodeUnavailable unless the fault is an unknown one.
func (db *DB) Ping(ctx context.Context) error { return db.core.Ping(ctx) }

// Checkpoint copies the contents of SQLite's write-ahead log into the database file. On PostgreSQL it does nothing.
func (db *DB) Checkpoint(ctx context.Context) error { return db.core.Checkpoint(ctx) }

// Do runs fn in one transaction, which fails with CodeUnavailable if it exceeds Config.Limit. It implements callwright.Atomic.
func (db *DB) Do(ctx context.Context, fn func(ctx context.Context) error) error {
	return db.core.Do(ctx, fn)
}

// SQL returns the pool for writes, for durable work in the same database. On SQLite the pool contains one connection.
func (db *DB) SQL() *sql.DB { return db.core.SQL() }

// Tx returns the transaction that ctx carries, and false if ctx is not a context of Do.
func (db *DB) Tx(ctx context.Context) (*sql.Tx, bool) { return db.core.Tx(ctx) }

// PostgresDSN returns the connection string of a PostgreSQL database, including its password. On SQLite it returns the empty string.
func (db *DB) PostgresDSN() callwright.Secret { return db.core.DSN() }

// Core returns the internal database for the stores in the sub-packages. Other programs must not use it.
func (db *DB) Core() *sqldb.DB { return db.core }
