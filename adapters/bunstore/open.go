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
	Limit   time.Duration       // of a transaction, or of a statement outside of one, its wait for a connection included; 0: 30 s

	// Connections is the maximum of connections to PostgreSQL; 0: 16. A caller waits for a free one, within the limit.
	Connections int

	// Existing refuses a database that is not there, or whose tables are of another release, and migrates nothing: for a program
	// beside a server, which may be of another release.
	Existing bool

	callwright.Runtime
}

// defaultLimit is the time limit of a transaction if the configuration sets none.
const defaultLimit = 30 * time.Second

// DB is a database, which the stores of the sub-packages use. It is a callwright.Atomic.
type DB struct{ core *sqldb.DB }

// Open connects to a database and migrates its tables. The address is sqlite:<path>, sqlite::memory: for a database that is
// gone when it is closed, or a connection string of PostgreSQL, such as postgres://user:password@host/name. Several nodes
// may open one PostgreSQL database concurrently.
//
// Open refuses a file of SQLite that is damaged or has lost its contents, or whose write-ahead log is damaged. The error states a remedy.
// Open does not write to such a file. The check reads the whole file.
func Open(ctx context.Context, address string, c Config) (*DB, error) {
	if err := callwright.PrepareConfig(&c); err != nil {
		return nil, err
	}
	if c.Limit <= 0 {
		c.Limit = defaultLimit
	}
	if path, ok := strings.CutPrefix(address, "sqlite:"); ok && c.Existing {
		if _, err := os.Stat(path); err != nil {
			return nil, fmt.Errorf("bunstore: the database %s cannot be opened: %w: start the server first, which makes it", path, err)
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

// String names the kind of database, without its address.
func (db *DB) String() string { return "bunstore on " + db.core.Name() }

// MostConnections returns the number of connections that a PostgreSQL server allows to this program's role in this database, for all programs
// together. It is 0 if no limit is known: on SQLite, and behind a pooler.
func (db *DB) MostConnections(ctx context.Context) (int, error) { return db.core.MostConnections(ctx) }

// Close closes all connections. The database must not be used after it.
func (db *DB) Close() error { return db.core.Close() }

// Ping reports whether the database answers.
func (db *DB) Ping(ctx context.Context) error { return db.core.Ping(ctx) }

// Checkpoint moves the contents of SQLite's write-ahead log into the database file. It does nothing on PostgreSQL.
func (db *DB) Checkpoint(ctx context.Context) error { return db.core.Checkpoint(ctx) }

// Do runs fn in one transaction, which fails with CodeUnavailable when it takes longer than Config.Limit. See callwright.Atomic.
func (db *DB) Do(ctx context.Context, fn func(ctx context.Context) error) error {
	return db.core.Do(ctx, fn)
}

// SQL returns the pool that writes, for durable work that lives in the same database: one connection on SQLite.
func (db *DB) SQL() *sql.DB { return db.core.SQL() }

// Tx returns the transaction that a context carries, if Do gave it one.
func (db *DB) Tx(ctx context.Context) (*sql.Tx, bool) { return db.core.Tx(ctx) }

// PostgresDSN returns the connection string of a PostgreSQL database, with its password, and nothing for SQLite.
func (db *DB) PostgresDSN() callwright.Secret { return db.core.DSN() }

// Core returns the internals that the stores in the sub-packages use. It is not for other programs.
func (db *DB) Core() *sqldb.DB { return db.core }
