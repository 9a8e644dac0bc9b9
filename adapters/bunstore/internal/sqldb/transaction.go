package sqldb

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"time"

	"github.com/uptrace/bun"
)

// inside is the context key of the current transaction of a database.
type inside struct{ db *DB }

// Limits of the retries of a transaction that failed because of another transaction or an unusable session. The wait doubles with each
// retry, up to longestWait.
const (
	attempts    = 6
	firstWait   = 5 * time.Millisecond
	longestWait = 200 * time.Millisecond
)

// errSlow is the cause of the context of a transaction or statement that exceeds the time limit.
var errSlow = errors.New("the database did not answer in time")

// bounded returns a context that ends after the time limit. Without it, a database that is frozen, or locked by another process, would
// block callers forever.
func (db *DB) bounded(ctx context.Context) (context.Context, context.CancelFunc) {
	return context.WithTimeoutCause(ctx, db.Limit, errSlow)
}

// Do runs fn in one transaction, within the time limit. It joins the transaction of ctx, if there is one; otherwise fn may be called again
// after a failure (see retry). See callwright.Atomic.
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

// DoPatiently runs fn in a new transaction, without a time limit of its own. fn may be called again after a failure (see retry).
func (db *DB) DoPatiently(ctx context.Context, fn func(ctx context.Context) error) error {
	return db.retry(ctx, func() error { return db.once(ctx, fn) })
}

// once runs fn in a new transaction, and rolls the transaction back unless fn returns nil. It returns the error of fn unchanged, unless the
// error means that the database is damaged, too slow or unreachable.
func (db *DB) once(ctx context.Context, fn func(ctx context.Context) error) error {
	tx, err := db.writer.BeginTx(ctx, nil)
	if err != nil {
		return db.translate(ctx, err)
	}
	// After a commit, or after ctx has ended, Rollback only returns an error that says so.
	defer func() { _ = tx.Rollback() }()
	if err := fn(context.WithValue(ctx, inside{db}, tx)); err != nil {
		return db.translateOf(ctx, err)
	}
	err = tx.Commit()
	if db.dialect.away(err) { // hide the cause from retry, because the commit may have succeeded
		return errAway.Because(fmt.Errorf("commit: %v", err)) //nolint:errorlint // as said
	}
	return db.translate(ctx, err)
}

// retry calls fn until it succeeds, ctx ends, or fn returns an error that a retry cannot mend. After a failure because of another
// transaction or an unusable session, it calls fn again, up to six times in total (the constant attempts). If the server has reached its
// limit of connections and ctx has a deadline, retry continues until the deadline.
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

// Alone locks a name until the transaction finishes. Other transactions that lock the same name wait. On SQLite, which serializes writing
// transactions, it does nothing.
func (db *DB) Alone(ctx context.Context, idb bun.IDB, name string) error {
	if db.dialect.claim == "" {
		return nil
	}
	_, err := idb.ExecContext(ctx, db.dialect.claim, name)
	return err
}

// Write calls fn with the transaction of ctx. Without a transaction, each statement of fn runs in a separate transaction, the time limit
// applies to all statements together, and fn may be called again after a failure (see retry). fn must use the context that it receives.
// Write first checks the texts in inputs, which must contain all texts that reach the database.
func (db *DB) Write(ctx context.Context, inputs []any, fn func(ctx context.Context, idb bun.IDB) error) error {
	return db.run(ctx, db.writer, inputs, fn)
}

// Read calls fn with the transaction of ctx, or else with the pool for reads, within the time limit. In the latter case fn may be called
// again after a failure (see retry). fn must use the context that it receives, and read all rows before it returns. Read first checks the
// texts in inputs, like Write.
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
