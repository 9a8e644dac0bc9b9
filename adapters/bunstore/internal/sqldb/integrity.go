package sqldb

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"net/url"
	"os"
	"path/filepath"

	"modernc.org/sqlite"
	sqlite3 "modernc.org/sqlite/lib"
)

// MigrationsTable is the statement that creates the table of applied migrations. A new SQLite file contains it from the start.
const MigrationsTable = "CREATE TABLE IF NOT EXISTS callwright_migrations " +
	"(version INTEGER NOT NULL PRIMARY KEY, name TEXT NOT NULL, applied_at TIMESTAMP NOT NULL)"

// prepareSQLite creates the database file if it is absent, and otherwise checks it. It returns an error for a file that is damaged, empty
// or not writable, before anything is written to the file. SQLite itself would treat an empty file as new, and read a damaged log only up
// to the damage. prepareSQLite also returns an error for an absent file if path is a symbolic link to it, or if its write-ahead log exists
// and is not empty.
func prepareSQLite(ctx context.Context, path string) error {
	log := path + "-wal"
	info, err := os.Stat(path)
	_, linked := os.Readlink(path)
	switch {
	case errors.Is(err, fs.ErrNotExist) && linked == nil:
		return fmt.Errorf("the database %s is a symbolic link to a file that is missing: restore that file from a backup, or delete the link", path)
	case errors.Is(err, fs.ErrNotExist):
		if log, err := os.Stat(log); err == nil && log.Size() > 0 {
			return fmt.Errorf("the database %s is missing, but its write-ahead log exists: restore the database; "+
				"to begin a new one, delete %s-wal", path, path)
		}
		return createSQLite(ctx, path)
	case err != nil:
		return err
	case info.Size() == 0:
		return emptied(path)
	}
	if err := writable(path); err != nil {
		return err
	}
	if err := checkLog(path, log); err != nil {
		return err
	}
	return checkSQLite(ctx, path)
}

// writable returns an error if the file of a database or its folder, in which SQLite creates its log, cannot be written. SQLite would open
// such a file without an error, and fail at the first write.
func writable(path string) error {
	f, err := os.OpenFile(path, os.O_RDWR, 0)
	if err != nil {
		return fmt.Errorf("the database %s cannot be written (%w): this process must be able to write the file", path, refusal(err))
	}
	if err := f.Close(); err != nil {
		return err
	}
	folder := filepath.Dir(path)
	probe, err := os.CreateTemp(folder, ".writable-*")
	if err != nil {
		return fmt.Errorf("the folder %s of the database %s cannot be written (%w): this process must be able to write it, for SQLite's log",
			folder, filepath.Base(path), refusal(err))
	}
	return errors.Join(probe.Close(), os.Remove(probe.Name()))
}

// refusal returns the operating system's error without the path, which the caller's message contains.
func refusal(err error) error {
	if refused, ok := errors.AsType[*fs.PathError](err); ok {
		return refused.Err
	}
	return err
}

func emptied(path string) error {
	return fmt.Errorf("the database %s is empty although it is not new: restore it from a backup; "+
		"to begin a new one, delete the file, and %s-wal with it", path, path)
}

// checkSQLite reads the whole database through a read-only connection, and returns an error if it is damaged or contains no tables.
func checkSQLite(ctx context.Context, path string) error {
	pool, err := openPool(path, 1, unwatched(), url.Values{"_pragma": {"busy_timeout(5000)"}, "mode": {"ro"}})
	if err != nil {
		return err
	}
	defer pool.Close()
	var found string
	if err := pool.QueryRowContext(ctx, "PRAGMA quick_check(1)").Scan(&found); err != nil {
		if !damagedFile(err) {
			return fmt.Errorf("check the database %s: %w", path, err)
		}
		found = err.Error()
	}
	if found != "ok" {
		return fmt.Errorf("the database %s is damaged (%s): restore it from a backup; nothing was written to it", path, found)
	}
	var tables int
	if err := pool.QueryRowContext(ctx, "SELECT COUNT(*) FROM sqlite_schema").Scan(&tables); err != nil {
		return err
	}
	if tables == 0 {
		return emptied(path)
	}
	return nil
}

func damagedFile(err error) bool {
	e, ok := errors.AsType[*sqlite.Error](err)
	return ok && (e.Code()&0xff == sqlite3.SQLITE_CORRUPT || e.Code()&0xff == sqlite3.SQLITE_NOTADB)
}

// createSQLite creates a database with one table. It writes the database under another name first, so that a file at path is never empty,
// even if the creation is interrupted. Only the owner may read the file, because it contains transcripts; SQLite creates the log and its
// index with the same mode. If several processes create the database concurrently, the file of the first process stays.
func createSQLite(ctx context.Context, path string) error {
	file, err := os.CreateTemp(filepath.Dir(path), filepath.Base(path)+".new-*") // mode 0600
	if err != nil {
		return err
	}
	defer os.Remove(file.Name())
	if err := file.Close(); err != nil {
		return err
	}
	pool, err := sqlitePool(file.Name(), 1, unwatched())
	if err != nil {
		return err
	}
	_, err = pool.ExecContext(ctx, MigrationsTable)
	if err := errors.Join(err, pool.Close()); err != nil {
		return err
	}
	if err := os.Link(file.Name(), path); err != nil && !errors.Is(err, fs.ErrExist) {
		return err
	}
	return nil
}
