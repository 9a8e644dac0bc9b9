// Package sqldb is the common code of all stores of bunstore: connections to SQLite and PostgreSQL, the differences between
// the two, transactions, errors, secrets, and rows with versions.
package sqldb

import (
	"cmp"
	"context"
	"database/sql"
	"errors"
	"log/slog"
	"strings"
	"sync/atomic"
	"time"

	"github.com/uptrace/bun"

	"github.com/callwright/callwright"
)

// Config configures a database. Keyring, Limit and Logger are required.
type Config struct {
	Keyring     *callwright.Keyring
	Limit       time.Duration // of a transaction, or of a statement outside of one
	Connections int           // to PostgreSQL; 0: postgresConnections

	callwright.Runtime
}

// DB is a database. Keyring, Limit and Logger come from its Config.
type DB struct {
	Keyring  *callwright.Keyring
	Limit    time.Duration
	Logger   *slog.Logger
	writer   *bun.DB
	reader   *bun.DB // the same as writer, but for SQLite in a file
	dialect  dialect
	full     atomic.Bool  // a write found the disk full, and none has succeeded since
	compiled atomic.Int64 // statements, on SQLite
	damaged  atomic.Bool  // damage was found: nothing is read or written any more
}

// dialect holds the differences between the databases beyond the SQL that bun writes.
type dialect struct {
	name      string // the folder of its migrations
	lock      string // run first in a migrating transaction, so that nodes that start together migrate one by one
	claim     string // locks a name until the transaction ends; empty: transactions that write run one by one anyway
	skip      string // the FOR clause of a sub-select that skips locked rows
	hold      string // the FOR clause of a select that locks rows against others like it; empty: transactions that write run one by one
	erase     string // like hold, but inserts of rows that reference the row wait too; empty: as there
	contains  string // that a text, the first of two, contains the other
	probe     string // a query whose one column is a text, and which fails where nothing can be written
	conflict  func(error) bool
	orphan    func(error) bool  // the row's parent was deleted meanwhile
	full      func(error) bool  // the disk of the database is full, or fails
	damaged   func(error) bool  // the file of the database is damaged
	crowded   func(error) bool  // the server has no connection left, and may have one soon
	away      func(error) bool  // the server cannot be reached, has ended the session, or takes no writes
	transient func(error) bool  // the transaction lost against another, and may win when it is tried again
	dsn       callwright.Secret // for other adapters on the same database: PostgreSQL only
}

// Open connects to the database at an address: see bunstore.Open.
func Open(ctx context.Context, address string, c Config) (*DB, error) {
	db := &DB{Keyring: c.Keyring, Limit: c.Limit, Logger: c.Logger}
	switch path, isSQLite := strings.CutPrefix(address, "sqlite:"); {
	case isSQLite:
		return db, db.openSQLite(ctx, path)
	case address == "":
		return nil, errors.New("the address is empty: it is sqlite:<path> or postgres://…")
	default:
		return db, db.openPostgres(address, cmp.Or(c.Connections, postgresConnections))
	}
}

// Name returns the kind of database, which is also the folder of its migrations.
func (db *DB) Name() string { return db.dialect.name }

// Close ends all connections.
func (db *DB) Close() error {
	if db.reader != db.writer {
		return errors.Join(db.reader.Close(), db.writer.Close())
	}
	return db.writer.Close()
}

// pingLimit bounds Ping, whose callers wait for less time than callers of a transaction.
const pingLimit = 3 * time.Second

// Ping reports whether the database can be read and written. On SQLite it takes the one lock for writing, and gives it back; on
// PostgreSQL it locks a row. After a write that found the disk full, and none of Ping since, it writes.
func (db *DB) Ping(ctx context.Context) error {
	if db.damaged.Load() {
		return errDamaged
	}
	ctx, cancel := context.WithTimeoutCause(ctx, min(db.Limit, pingLimit), errSlow)
	defer cancel()
	err := db.retry(ctx, func() error { return db.reader.QueryRowContext(ctx, db.dialect.probe).Scan(new(string)) })
	if err == nil && db.Name() == "sqlite" {
		err = db.tryLock(ctx)
	}
	if err == nil && db.full.Load() {
		if _, err = db.writer.ExecContext(ctx, "UPDATE callwright_migrations SET name = name"); err == nil {
			db.full.Store(false)
		}
	}
	return db.translate(ctx, err)
}

// tryLock begins a transaction that writes nothing.
func (db *DB) tryLock(ctx context.Context) error {
	tx, err := db.writer.BeginTx(ctx, nil)
	if err != nil {
		return err
	}
	return tx.Rollback()
}

// SQL returns the pool that writes.
func (db *DB) SQL() *sql.DB { return db.writer.DB }

// DSN returns the connection string of a PostgreSQL database, and nothing for SQLite.
func (db *DB) DSN() callwright.Secret { return db.dialect.dsn }

// Tx returns the transaction that a context carries, if Do gave it one.
func (db *DB) Tx(ctx context.Context) (*sql.Tx, bool) {
	tx, ok := ctx.Value(inside{db}).(bun.Tx)
	return tx.Tx, ok
}

// MigrationLock returns the statement that makes migrating transactions wait for each other; empty: they do anyway.
func (db *DB) MigrationLock() string { return db.dialect.lock }

// SkipLocked makes a query leave out the rows that other transactions hold.
func (db *DB) SkipLocked(q *bun.SelectQuery) *bun.SelectQuery {
	if db.dialect.skip == "" {
		return q
	}
	return q.For(db.dialect.skip)
}

// ForUpdate makes a query hold the rows that it finds until the transaction ends: others that do the same wait.
func (db *DB) ForUpdate(q *bun.SelectQuery) *bun.SelectQuery {
	if db.dialect.hold == "" {
		return q
	}
	return q.For(db.dialect.hold)
}

// ForDelete makes a query hold the rows that it finds until the transaction ends. Unlike ForUpdate it also waits for
// transactions that add rows which refer to them, and has later ones wait.
func (db *DB) ForDelete(q *bun.SelectQuery) *bun.SelectQuery {
	if db.dialect.erase == "" {
		return q
	}
	return q.For(db.dialect.erase)
}

// Contains returns the condition that a text, the first of two arguments, contains the other.
func (db *DB) Contains() string { return db.dialect.contains }

// ScanRow reads the current row of a result into the columns of a model.
func (db *DB) ScanRow(ctx context.Context, rows *sql.Rows, dest ...any) error {
	return db.reader.ScanRow(ctx, rows, dest...)
}

// Watch calls f with every statement that runs from now on. It is for tests.
func (db *DB) Watch(f func(statement string)) {
	db.writer.AddQueryHook(watcher(f)) //nolint:staticcheck // its successor gives another DB, and the stores have this one
	if db.reader != db.writer {
		db.reader.AddQueryHook(watcher(f)) //nolint:staticcheck // likewise
	}
}

// Compiled returns the number of statements that SQLite has compiled. It is for tests.
func (db *DB) Compiled() int64 { return db.compiled.Load() }

type watcher func(statement string)

// BeforeQuery changes nothing.
func (watcher) BeforeQuery(ctx context.Context, _ *bun.QueryEvent) context.Context { return ctx }

// AfterQuery reports a statement that has run.
func (w watcher) AfterQuery(_ context.Context, e *bun.QueryEvent) { w(e.Query) }
