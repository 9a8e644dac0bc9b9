package bunstore

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"log/slog"
	"strings"

	"github.com/uptrace/bun"

	"github.com/callwright/callwright"
)

// Config is what a database needs besides its address.
type Config struct {
	Keyring *callwright.Keyring // encrypts secrets at rest; required
	Logger  *slog.Logger        // nil discards
}

// DB is a database. Its parts are the stores of the domains, such as Tenants, Trunks and Calls.
type DB struct {
	Config
	writer  *bun.DB
	reader  *bun.DB // the same as writer, but for SQLite in a file
	dialect dialect
}

// dialect is what differs between the databases beyond the SQL that bun writes.
type dialect struct {
	name      string // the folder of its migrations
	lock      string // run first in a migrating transaction, so that nodes that start together migrate one by one
	claim     string // locks a name until the transaction ends; empty: transactions that write run one by one anyway
	skip      string // what a sub-select says FOR, to leave alone the rows that others hold
	hold      string // what a select says FOR, to have others that do it wait; empty: transactions that write run one by one
	contains  string // that a text, the first of two, contains the other
	conflict  func(error) bool
	orphan    func(error) bool  // what the row belongs to has gone meanwhile
	transient func(error) bool  // the transaction lost against another, and may win when it is tried again
	dsn       callwright.Secret // for other adapters on the same database: PostgreSQL only
}

// Open connects to a database and brings its tables up to date. The address is sqlite:<path>, sqlite::memory: for one
// that is gone when it is closed, or a connection string of PostgreSQL, such as postgres://user:password@host/name.
// Several nodes may open one PostgreSQL database at once.
func Open(ctx context.Context, address string, c Config) (*DB, error) {
	if c.Keyring == nil {
		return nil, errors.New("bunstore: a keyring is required")
	}
	if c.Logger == nil {
		c.Logger = slog.New(slog.DiscardHandler)
	}
	db := &DB{Config: c}
	var err error
	switch path, isSQLite := strings.CutPrefix(address, "sqlite:"); {
	case isSQLite:
		err = db.openSQLite(path)
	case address == "":
		err = errors.New("the address is empty: it is sqlite:<path> or postgres://…")
	default:
		err = db.openPostgres(address)
	}
	if err != nil {
		return nil, fmt.Errorf("bunstore: %w", err)
	}
	if err := db.migrate(ctx); err != nil {
		return nil, errors.Join(fmt.Errorf("bunstore: %w", err), db.Close())
	}
	return db, nil
}

// String says which kind of database it is, and nothing of its address.
func (db *DB) String() string { return "bunstore on " + db.dialect.name }

// Close ends all connections. Nothing may use the database any more.
func (db *DB) Close() error {
	if db.reader != db.writer {
		return errors.Join(db.reader.Close(), db.writer.Close())
	}
	return db.writer.Close()
}

// Ping says whether the database answers.
func (db *DB) Ping(ctx context.Context) error {
	return db.translate(ctx, db.reader.PingContext(ctx))
}

// SQL is the pool that writes, for durable work that lives in the same database: one connection on SQLite.
func (db *DB) SQL() *sql.DB { return db.writer.DB }

// Tx is the transaction that a context carries, if Do gave it one.
func (db *DB) Tx(ctx context.Context) (*sql.Tx, bool) {
	tx, ok := ctx.Value(inside{db}).(bun.Tx)
	return tx.Tx, ok
}

// PostgresDSN is the connection string of a PostgreSQL database, with its password, and empty for SQLite.
func (db *DB) PostgresDSN() callwright.Secret { return db.dialect.dsn }
