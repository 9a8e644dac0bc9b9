package bunstore

import (
	"context"
	"embed"
	"errors"
	"fmt"
	"io/fs"
	"path"
	"strconv"
	"strings"
	"time"

	"github.com/uptrace/bun"

	"github.com/callwright/callwright"
	"github.com/callwright/callwright/adapters/bunstore/internal/sqldb"
)

//go:embed migrations
var migrationFiles embed.FS

// migration is one SQL file, such as migrations/sqlite/0001_start.sql.
type migration struct {
	version int
	name    string
	text    string
}

// applied is the row of an applied migration.
type applied struct {
	bun.BaseModel `bun:"table:callwright_migrations"`

	Version   int       `bun:"version,pk"`
	Name      string    `bun:"name"`
	AppliedAt time.Time `bun:"applied_at"`
}

// migrations returns the migrations of a dialect in order. It returns an error unless their numbers are 1, 2, 3 and so on.
func migrations(dialect string) ([]migration, error) {
	folder := path.Join("migrations", dialect)
	entries, err := fs.ReadDir(migrationFiles, folder)
	if err != nil {
		return nil, err
	}
	steps := make([]migration, 0, len(entries))
	for i, entry := range entries {
		number, name, _ := strings.Cut(strings.TrimSuffix(entry.Name(), ".sql"), "_")
		version, err := strconv.Atoi(number)
		if err != nil || version != i+1 {
			return nil, fmt.Errorf("migration %s must have number %d: each number once, without a gap", entry.Name(), i+1)
		}
		text, err := fs.ReadFile(migrationFiles, path.Join(folder, entry.Name()))
		if err != nil {
			return nil, err
		}
		steps = append(steps, migration{version, name, string(text)})
	}
	return steps, nil
}

// migrate applies the pending migrations in one transaction, without a time limit. Nodes that start concurrently wait for each other.
func (db *DB) migrate(ctx context.Context) error {
	steps, err := migrations(db.core.Name())
	if err != nil {
		return err
	}
	err = db.core.DoPatiently(ctx, func(ctx context.Context) error {
		return db.core.Write(ctx, nil, func(ctx context.Context, idb bun.IDB) error { return db.apply(ctx, idb, steps) })
	})
	if e, ok := err.(*callwright.Error); ok && e.Unwrap() != nil { //nolint:errorlint // only errors that translate has wrapped
		err = e.Unwrap() // the operator who starts the server may see the driver's error
	}
	if err != nil {
		return fmt.Errorf("prepare the %s database: %w", db.core.Name(), err)
	}
	return nil
}

// apply applies the pending migrations. It returns an error if the database contains migrations that this program does not know.
func (db *DB) apply(ctx context.Context, idb bun.IDB, steps []migration) error {
	for _, statement := range []string{db.core.MigrationLock(), sqldb.MigrationsTable} {
		if statement == "" {
			continue
		}
		if _, err := idb.ExecContext(ctx, statement); err != nil {
			return err
		}
	}
	last, err := lastApplied(ctx, idb)
	if err != nil {
		return err
	}
	if last > len(steps) {
		return fmt.Errorf("the database has version %d, but this program supports at most version %d: start a newer program", last, len(steps))
	}
	for _, step := range steps[last:] {
		// Bypass bun, which would interpret question marks in the text as placeholders.
		tx, _ := idb.(bun.Tx)
		if _, err := tx.Tx.ExecContext(ctx, step.text); err != nil {
			return fmt.Errorf("migration %d, %s: %w", step.version, step.name, err)
		}
		row := applied{Version: step.version, Name: step.name, AppliedAt: time.Now()}
		if _, err := idb.NewInsert().Model(&row).Exec(ctx); err != nil {
			return err
		}
	}
	if ran := len(steps) - last; ran > 0 {
		db.core.Logger.InfoContext(ctx, "migrated the database", "migrations", ran, "version", len(steps))
	}
	return nil
}

// lastApplied returns the version of the last applied migration, or 0 if none is applied.
func lastApplied(ctx context.Context, idb bun.IDB) (last int, err error) {
	err = idb.NewSelect().Model((*applied)(nil)).ColumnExpr("COALESCE(MAX(version), 0)").Scan(ctx, &last)
	return last, err
}

// checkVersion returns an error unless the database contains exactly the migrations of this program.
func (db *DB) checkVersion(ctx context.Context) error {
	steps, err := migrations(db.core.Name())
	if err != nil {
		return err
	}
	var last int
	err = db.core.Read(ctx, nil, func(ctx context.Context, idb bun.IDB) (err error) {
		last, err = lastApplied(ctx, idb)
		return err
	})
	switch {
	case errors.Is(err, callwright.ErrInternal):
		return fmt.Errorf("the %s database has no tables of Callwright: start the server first, which creates them (%w)", db.core.Name(), errors.Unwrap(err))
	case err != nil:
		return err
	case last != len(steps):
		return fmt.Errorf("the tables of the %s database have version %d, and this program works with version %d: use the program of the "+
			"server's release, or start the server of this one, which migrates them", db.core.Name(), last, len(steps))
	}
	return nil
}
