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

// Migrate brings River's tables up to date. Nodes that start together wait for each other.
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

// migrateSQLite does everything in one transaction: it begins as a writer, so another process waits for it.
func migrateSQLite(ctx context.Context, db *sql.DB, logger *slog.Logger) error {
	migrator, err := rivermigrate.New(riversqlite.New(db), &rivermigrate.Config{Logger: logger})
	if err != nil {
		return err
	}
	tx, err := db.BeginTx(ctx, nil)
	if err != nil {
		return err
	}
	defer func() { _ = tx.Rollback() }() // after the commit there is nothing to roll back
	//nolint:staticcheck // deprecated for PostgreSQL, where some steps need their own transactions
	if _, err := migrator.MigrateTx(ctx, tx, rivermigrate.DirectionUp, nil); err != nil {
		return err
	}
	return tx.Commit()
}

// migratePostgres holds an advisory lock in a separate transaction meanwhile: River's steps are several transactions. A lock of the
// session would be lost behind a pooler, or never given back.
func migratePostgres(ctx context.Context, db *sql.DB, logger *slog.Logger) error {
	migrator, err := rivermigrate.New(riverdatabasesql.New(db), &rivermigrate.Config{Logger: logger, Schema: schema})
	if err != nil {
		return err
	}
	lock, err := db.BeginTx(ctx, nil)
	if err != nil {
		return err
	}
	defer func() { _ = lock.Rollback() }() // which wrote nothing
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
