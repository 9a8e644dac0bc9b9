// Package sqldb contains the common code of all stores of bunstore: connections to SQLite and PostgreSQL, the differences between them,
// transactions, errors, secrets, and rows with versions.
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
	Limit       time.Duration // time limit of a transaction, or of a statement outside a transaction
	Connections int           // maximum of connections to PostgreSQL; 0 means postgresConnections

	callwright.Runtime
}

// DB is an open database. Keyring, Limit and Logger come from its Config.
type DB struct {
	Keyring  *callwright.Keyring
	Limit    time.Duration
	Logger   *slog.Logger
	writer   *bun.DB
	reader   *bun.DB // equals writer, except for a SQLite file
	dialect  dialect
	full     atomic.Bool  // a write found the disk full, and no write of Ping has succeeded since
	compiled atomic.Int64 // number of statements compiled by SQLite
	damaged  atomic.Bool  // damage was found: all further accesses fail
}

// dialect holds the differences between SQLite and PostgreSQL that bun does not cover.
type dialect struct {
	name      string // also the folder of its migrations
	lock      string // first statement of a migrating transaction: lets concurrent nodes migrate one after another
	claim     string // statement that locks a name until the transaction finishes; empty if writing transactions are serialized anyway
	skip      string // FOR clause of a subquery that skips locked rows
	hold      string // FOR clause of a query that locks rows; empty if writing transactions are serialized anyway
	erase     string // like hold, but also blocks inserts of rows that reference the locked row
	contains  string // condition that the first of two texts contains the second
	probe     string // query of Ping with one text column; on PostgreSQL it fails if the database cannot be written
	conflict  func(error) bool
	orphan    func(error) bool  // the parent of the row was deleted concurrently
	full      func(error) bool  // the disk of the database is full or fails
	damaged   func(error) bool  // the file of the database is damaged
	crowded   func(error) bool  // the server has reached its limit of connections; a retry may succeed
	away      func(error) bool  // the server cannot be reached, has ended the session, or accepts no writes
	transient func(error) bool  // another transaction, or an unusable session, made the transaction fail; a retry may succeed
	dsn       callwright.Secret // connection string for other adapters, only on PostgreSQL
}

// Open opens the database at an address. It applies no migrations: see bunstore.Open.
func Open(ctx context.Context, address string, c Config) (*DB, error) {
	db := &DB{Keyring: c.Keyring, Limit: c.Limit, Logger: c.Logger}
	switch path, isSQLite := strings.CutPrefix(address, "sqlite:"); {
	case isSQLite:
		return db, db.openSQLite(ctx, path)
	case address == "":
		return nil, errors.New("the address of the database is required: sqlite:<path> or postgres://…")
	default:
		return db, db.openPostgres(address, cmp.Or(c.Connections, postgresConnections))
	}
}

// Name returns the kind of database, which is also the folder of its migrations.
func (db *DB) Name() string { return db.dialect.name }

// Close closes all connections.
func (db *DB) Close() error {
	if db.reader != db.writer {
		return errors.Join(db.reader.Close(), db.writer.Close())
	}
	return db.writer.Close()
}

// pingLimit is the time limit of Ping, unless DB.Limit is shorter. Health checks do not wait as long as transactions may take.
const pingLimit = 3 * time.Second

// Ping returns nil if the database can be read and written. On SQLite it acquires the write lock and releases it; on PostgreSQL it locks a
// row. After a write that found the disk full, Ping also writes, until such a write succeeds.
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

// tryLock acquires SQLite's write lock by beginning a transaction, and rolls the transaction back.
func (db *DB) tryLock(ctx context.Context) error {
	tx, err := db.writer.BeginTx(ctx, nil)
	if err != nil {
		return err
	}
	return tx.Rollback()
}

// SQL returns the pool for writes.
func (db *DB) SQL() *sql.DB { return db.writer.DB }

// DSN returns the connection string of a PostgreSQL database, or an empty Secret for SQLite.
func (db *DB) DSN() callwright.Secret { return db.dialect.dsn }

// Tx returns the transaction that ctx carries, and false if ctx is not a context of Do.
func (db *DB) Tx(ctx context.Context) (*sql.Tx, bool) {
	tx, ok := ctx.Value(inside{db}).(bun.Tx)
	return tx.Tx, ok
}

// MigrationLock returns the statement that makes migrating transactions wait for each other. It returns an empty string for SQLite, which
// serializes them anyway.
func (db *DB) MigrationLock() string { return db.dialect.lock }

// SkipLocked makes a query omit the rows that other transactions have locked. SQLite does not lock rows, so there it returns the query
// unchanged.
func (db *DB) SkipLocked(q *bun.SelectQuery) *bun.SelectQuery {
	if db.dialect.skip == "" {
		return q
	}
	return q.For(db.dialect.skip)
}

// ForUpdate makes a query lock the rows that it finds until the transaction finishes. Other transactions that lock these rows wait. On
// SQLite, which serializes writing transactions, it returns the query unchanged.
func (db *DB) ForUpdate(q *bun.SelectQuery) *bun.SelectQuery {
	if db.dialect.hold == "" {
		return q
	}
	return q.For(db.dialect.hold)
}

// ForDelete makes a query lock the rows that it finds until the transaction finishes. Unlike the lock of ForUpdate, this lock also excludes
// transactions that insert rows with a reference to these rows. On SQLite, which serializes writing transactions, ForDelete returns the
// query unchanged.
func (db *DB) ForDelete(q *bun.SelectQuery) *bun.SelectQuery {
	if db.dialect.erase == "" {
		return q
	}
	return q.For(db.dialect.erase)
}

// Contains returns an SQL condition with two placeholders: the first text contains the second.
func (db *DB) Contains() string { return db.dialect.contains }

// ScanRow reads the current row of a result into dest, as bun.DB.ScanRow does.
func (db *DB) ScanRow(ctx context.Context, rows *sql.Rows, dest ...any) error {
	return db.reader.ScanRow(ctx, rows, dest...)
}

// Watch calls f with every later statement, after it has run. It is for tests.
func (db *DB) Watch(f func(statement string)) {
	db.writer.AddQueryHook(watcher(f)) //nolint:staticcheck // its successor gives another DB, and the stores have this one
	if db.reader != db.writer {
		db.reader.AddQueryHook(watcher(f)) //nolint:staticcheck // likewise
	}
}

// Compiled returns how many statements SQLite has compiled. It is for tests.
func (db *DB) Compiled() int64 { return db.compiled.Load() }

type watcher func(statement string)

// BeforeQuery implements bun.QueryHook and returns ctx unchanged.
func (watcher) BeforeQuery(ctx context.Context, _ *bun.QueryEvent) context.Context { return ctx }

// AfterQuery implements bun.QueryHook: it passes the text of the executed statement to w.
func (w watcher) AfterQuery(_ context.Context, e *bun.QueryEvent) { w(e.Query) }
