package sqldb

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"time"

	"github.com/uptrace/bun"
)

// inside is the key of a context for the transaction of a database.
type inside struct{ db *DB }

// The retries of a transaction that failed because of another one. The wait doubles.
const (
	attempts    = 6
	firstWait   = 5 * time.Millisecond
	longestWait = 200 * time.Millisecond
)

// errSlow ends the context of a transaction that takes longer than the limit.
var errSlow = errors.New("the database did not answer in time")

// bounded returns a context that ends after the limit: a database that is frozen, or locked by another process, would hold its
// callers for ever.
func (db *DB) bounded(ctx context.Context) (context.Context, context.CancelFunc) {
	return context.WithTimeoutCause(ctx, db.Limit, errSlow)
}

// Do runs fn in one transaction, within the limit. See callwright.Atomic.
func (db *DB) Do(ctx context.Context, fn func(ctx context.Context) error) error {
	if _, joined := db.Tx(ctx); joined {
		return fn(ctx)
	}
	if db.damaged.Load() {
		return errDamaged
	}
	ctx, cancel := db.bounded(ctx)
	defer cancel()
	return db.DoPatiently(ctx, fn)
}

// DoPatiently runs fn in a separate transaction, however long that takes.
func (db *DB) DoPatiently(ctx context.Context, fn func(ctx context.Context) error) error {
	return db.retry(ctx, func() error { return db.once(ctx, fn) })
}

// once runs fn in a separate transaction, which it rolls back unless fn returns nil. It returns the error of fn unchanged, unless
// that means that the database is damaged or unreachable.
func (db *DB) once(ctx context.Context, fn func(ctx context.Context) error) error {
	tx, err := db.writer.BeginTx(ctx, nil)
	if err != nil {
		return db.translate(ctx, err)
	}
	// After a commit, or when ctx has ended, there is nothing to roll back: the error says only that.
	defer func() { _ = tx.Rollback() }()
	if err := fn(context.WithValue(ctx, inside{db}, tx)); err != nil {
		return db.translateOf(ctx, err)
	}
	err = tx.Commit()
	if db.dialect.away(err) { // it may have been committed: retry must not see why
		return errAway.Because(fmt.Errorf("commit: %v", err)) //nolint:errorlint // as said
	}
	return db.translate(ctx, err)
}

// retry calls fn again while it fails because of another transaction, or of a session that is of no use any more; and while the server
// has no connection left, for as long as ctx lasts.
func (db *DB) retry(ctx context.Context, fn func() error) error {
	_, ends := ctx.Deadline()
	wait := firstWait
	for tried := 1; ; tried++ {
		err := fn()
		if err == nil || !(db.dialect.crowded(err) && ends || db.dialect.transient(err) && tried < attempts) {
			return err
		}
		timer := time.NewTimer(wait/2 + rand.N(wait)) //nolint:gosec // spreads load, hides nothing
		select {
		case <-ctx.Done():
			timer.Stop()
			return err
		case <-timer.C:
		}
		wait = min(2*wait, longestWait)
	}
}

// Alone takes a lock with a name until the transaction ends: other transactions that take it wait.
func (db *DB) Alone(ctx context.Context, idb bun.IDB, name string) error {
	if db.dialect.claim == "" {
		return nil
	}
	_, err := idb.ExecContext(ctx, db.dialect.claim, name)
	return err
}

// Write runs statements in the transaction of ctx, or each in its own and all of them within the limit. fn must use the
// context that it gets. Write first checks the texts in inputs, which must be all texts that reach the database.
func (db *DB) Write(ctx context.Context, inputs []any, fn func(ctx context.Context, idb bun.IDB) error) error {
	return db.run(ctx, db.writer, inputs, fn)
}

// Read runs queries in the transaction of ctx, or outside of any transaction within the limit. fn must use the context that it
// gets, and have read all rows when it returns.
func (db *DB) Read(ctx context.Context, inputs []any, fn func(ctx context.Context, idb bun.IDB) error) error {
	return db.run(ctx, db.reader, inputs, fn)
}

func (db *DB) run(ctx context.Context, pool *bun.DB, inputs []any, fn func(ctx context.Context, idb bun.IDB) error) error {
	if err := checkText(inputs...); err != nil {
		return err
	}
	if tx, ok := ctx.Value(inside{db}).(bun.Tx); ok {
		return db.translate(ctx, fn(ctx, tx))
	}
	if db.damaged.Load() {
		return errDamaged
	}
	ctx, cancel := db.bounded(ctx)
	defer cancel()
	return db.retry(ctx, func() error { return db.translate(ctx, fn(ctx, pool)) })
}
