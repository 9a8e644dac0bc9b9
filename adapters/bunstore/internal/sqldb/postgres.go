package sqldb

import (
	"database/sql/driver"
	"errors"
	"time"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgconn"
	"github.com/jackc/pgx/v5/stdlib"
	"github.com/uptrace/bun"
	"github.com/uptrace/bun/dialect/pgdialect"

	"github.com/callwright/callwright"
)

// The pool on PostgreSQL. A server allows 100 connections by default, which several nodes share.
const (
	postgresConnections = 16
	postgresIdle        = 5 * time.Minute
)

// migrationLock is the key of the advisory lock under which nodes migrate, released when their transaction ends.
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

// openPostgres opens the pool. bun writes values into its queries, so each would be prepared for itself: the simple
// protocol prepares none.
func (db *DB) openPostgres(dsn string) error {
	config, err := pgx.ParseConfig(dsn)
	if err != nil {
		return errors.New("the address is neither sqlite:<path> nor a connection string of PostgreSQL")
	}
	config.DefaultQueryExecMode = pgx.QueryExecModeSimpleProtocol
	config.RuntimeParams["timezone"] = "UTC"
	config.RuntimeParams["application_name"] = "callwright"
	pool := stdlib.OpenDB(*config)
	pool.SetMaxOpenConns(postgresConnections)
	pool.SetMaxIdleConns(postgresConnections)
	pool.SetConnMaxIdleTime(postgresIdle)
	db.writer = bun.NewDB(pool, pgdialect.New())
	db.reader = db.writer
	db.dialect = dialect{
		name: "postgres", lock: migrationLock, skip: "UPDATE SKIP LOCKED", dsn: callwright.Secret(dsn),
		// FOR UPDATE would also block inserts whose foreign keys refer to the row.
		hold:     "NO KEY UPDATE",
		erase:    "UPDATE",
		claim:    "SELECT pg_advisory_xact_lock(hashtextextended(?, 0))",
		contains: "strpos(?, ?) > 0",
		conflict: func(err error) bool { return state(err) == uniqueViolation },
		orphan:   func(err error) bool { return state(err) == foreignKeyViolation },
		full:     func(err error) bool { return state(err) == diskFull || state(err) == ioError },
		damaged:  func(error) bool { return false }, // its server looks after its files
		transient: func(err error) bool {
			s := state(err)
			return s == serializationFailure || s == deadlockDetected || s == lockNotAvailable ||
				errors.Is(err, driver.ErrBadConn) // the statement was not sent: others have left broken connections in the pool
		},
	}
	return nil
}

// away reports whether an error means that the server cannot be reached.
func away(err error) bool {
	_, ok := errors.AsType[*pgconn.ConnectError](err)
	return ok
}

// state returns the SQLSTATE of an error of PostgreSQL.
func state(err error) string {
	e, ok := errors.AsType[*pgconn.PgError](err)
	if !ok {
		return ""
	}
	return e.Code
}
