package sqldb

import (
	"context"
	"database/sql/driver"
	"time"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/stdlib"
	"github.com/uptrace/bun"
	"github.com/uptrace/bun/dialect/pgdialect"

	"github.com/callwright/callwright"
	"github.com/callwright/callwright/adapters/bunstore/internal/postgres"
)

// Limits of the pool for PostgreSQL. By default a server allows 100 connections, which several nodes share.
const (
	postgresConnections = 16
	postgresIdle        = 5 * time.Minute
)

// migrationLock acquires the advisory lock of migrations until the transaction finishes.
const migrationLock = "SELECT pg_advisory_xact_lock(7157425302148)"

// SQLSTATE codes of expected errors.
const (
	foreignKeyViolation  = "23503"
	uniqueViolation      = "23505"
	serializationFailure = "40001"
	deadlockDetected     = "40P01"
	lockNotAvailable     = "55P03"
	diskFull             = "53100"
	ioError              = "58030"
)

// openPostgres opens the pool. It uses the simple protocol, which prepares no statements: bun writes values into its queries, so each query
// would be prepared separately.
func (db *DB) openPostgres(dsn string, connections int) error {
	sessions, err := postgres.NewPool(dsn, "callwright")
	if err != nil {
		return err
	}
	config := sessions.Config()
	config.DefaultQueryExecMode = pgx.QueryExecModeSimpleProtocol
	pool := stdlib.OpenDB(*config, stdlib.OptionResetSession(func(_ context.Context, c *pgx.Conn) error {
		if sessions.Stale(c) {
			return driver.ErrBadConn
		}
		return nil
	}))
	pool.SetMaxOpenConns(connections)
	pool.SetMaxIdleConns(connections)
	pool.SetConnMaxIdleTime(postgresIdle)
	pool.SetConnMaxLifetime(postgres.Lifetime)
	db.writer = bun.NewDB(pool, postgresDialect{pgdialect.New()})
	db.reader = db.writer
	db.dialect = dialect{
		name: "postgres", lock: migrationLock, skip: "UPDATE SKIP LOCKED", dsn: callwright.Secret(dsn),
		// FOR UPDATE would also block inserts of rows whose foreign keys reference the row.
		hold:     "NO KEY UPDATE",
		erase:    "UPDATE",
		claim:    "SELECT pg_advisory_xact_lock(hashtextextended(?, 0))",
		contains: "strpos(?, ?) > 0",
		// Locking a row is a write, so a read-only server refuses it.
		probe:    "SELECT name FROM callwright_migrations ORDER BY name LIMIT 1 FOR NO KEY UPDATE",
		conflict: func(err error) bool { return postgres.State(err) == uniqueViolation },
		orphan:   func(err error) bool { return postgres.State(err) == foreignKeyViolation },
		full:     func(err error) bool { s := postgres.State(err); return s == diskFull || s == ioError },
		damaged:  func(error) bool { return false }, // the server detects damage of its files itself
		crowded:  postgres.TooManyConnections,
		away:     postgres.Unavailable,
		transient: func(err error) bool {
			s := postgres.State(err)
			return s == serializationFailure || s == deadlockDetected || s == lockNotAvailable || postgres.Refused(err)
		},
	}
	return nil
}

// mostConnections selects the smallest of the limits of server, database and role. The catalogs store -1 for a database or role without a
// limit. The setting reserved_connections is absent in older versions.
const mostConnections = `SELECT LEAST(
	current_setting('max_connections')::int - current_setting('superuser_reserved_connections')::int
		- COALESCE(current_setting('reserved_connections', true), '0')::int,
	(SELECT NULLIF(datconnlimit, -1) FROM pg_database WHERE datname = current_database()),
	(SELECT NULLIF(rolconnlimit, -1) FROM pg_roles WHERE rolname = current_user))`

// MostConnections returns the maximum number of connections that the server allows, or 0 if it is unknown: on SQLite, and behind a pooler.
func (db *DB) MostConnections(ctx context.Context) (most int, err error) {
	if db.Name() != "postgres" {
		return 0, nil
	}
	ctx, cancel := db.bounded(ctx)
	defer cancel()
	conn, err := db.writer.DB.Conn(ctx)
	if err != nil {
		return 0, db.translate(ctx, err)
	}
	defer func() { _ = conn.Close() }()
	pooled := false
	err = conn.Raw(func(c any) (err error) {
		pooled, err = postgres.Pooled(ctx, c.(*stdlib.Conn).Conn())
		return err
	})
	if err == nil && !pooled {
		err = conn.QueryRowContext(ctx, mostConnections).Scan(&most)
	}
	return most, db.translate(ctx, err)
}
