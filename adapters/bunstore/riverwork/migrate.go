package riverwork

import (
	"context"
	"database/sql"
	"fmt"
	"log/slog"

	"github.com/riverqueue/river/riverdriver/riverdatabasesql"
	"github.com/riverqueue/river/riverdriver/riversqlite"
	"github.com/riverqueue/river/rivermigrate"

	"github.com/callwright/callwright"
)

// Migrate applies River's pending migrations. Nodes that start concurrently wait for each other.
func Migrate(ctx context.Context, c Config) error {
	if err := callwright.PrepareConfig(&c); err != nil {
		return err
	}
	migrate := migratePostgres
	if c.PostgresDSN == "" {
		migrate = migrateSQLite
	}
	if err := migrate(ctx, c.SQL, c.riverLogger()); err != nil {
		return fmt.Errorf("riverwork: prepare the tables: %w", err)
	}
	return nil
}

// migrateSQLite applies all migrations in one transaction. The transaction begins with a write lock, so that other processes wait for it.
func migrateSQLite(ctx context.Context, db *sql.DB, logger *slog.Logger) error {
	migrator, err := rivermigrate.New(riversqlite.New(db), &rivermigrate.Config{Logger: logger})
	if err != nil {
		return err
	}
	tx, err := db.BeginTx(ctx, nil)
	if err != nil {
		return err
	}
	defer func() { _ = tx.Rollback() }() // has no effect after the commit
	//nolint:staticcheck // deprecated for PostgreSQL, where some steps need their own transactions
	if _, err := migrator.MigrateTx(ctx, tx, rivermigrate.DirectionUp, nil); err != nil {
		return err
	}
	return tx.Commit()
}

// migratePostgres applies the migrations, which are several transactions, while another transaction holds an advisory lock. The lock is not
// on the session, because a pooler could move the session, or never release the lock.
func migratePostgres(ctx context.Context, db *sql.DB, logger *slog.Logger) error {
	migrator, err := rivermigrate.New(riverdatabasesql.New(db), &rivermigrate.Config{Logger: logger, Schema: schema})
	if err != nil {
		return err
	}
	lock, err := db.BeginTx(ctx, nil)
	if err != nil {
		return err
	}
	defer func() { _ = lock.Rollback() }() // only releases the lock
	const key = 7157425302149
	if _, err := lock.ExecContext(ctx, fmt.Sprintf("SELECT pg_advisory_xact_lock(%d)", key)); err != nil {
		return err
	}
	if _, err := db.ExecContext(ctx, "CREATE SCHEMA IF NOT EXISTS "+schema); err != nil {
		return err
	}
	_, err = migrator.Migrate(ctx, rivermigrate.DirectionUp, nil)
	return err
}
