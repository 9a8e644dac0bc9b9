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

// MigrationsTable makes the table of completed migrations. Every database has it from its beginning.
const MigrationsTable = "CREATE TABLE IF NOT EXISTS callwright_migrations " +
	"(version INTEGER NOT NULL PRIMARY KEY, name TEXT NOT NULL, applied_at TIMESTAMP NOT NULL)"

// prepareSQLite makes an absent database, and checks one that is there, before anything is written to it: SQLite takes a file that
// lost its contents for a new one, and reads a damaged log only up to the damage.
func prepareSQLite(ctx context.Context, path string) error {
	log := path + "-wal"
	info, err := os.Stat(path)
	_, linked := os.Readlink(path)
	switch {
	case errors.Is(err, fs.ErrNotExist) && linked == nil:
		return fmt.Errorf("the database %s is a symbolic link to a file that is missing: restore that from a backup, or remove the link", path)
	case errors.Is(err, fs.ErrNotExist):
		if log, err := os.Stat(log); err == nil && log.Size() > 0 {
			return fmt.Errorf("the database %s is missing, and its write-ahead log is there: put the database back; "+
				"to begin a new one, remove %s-wal", path, path)
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

// writable reports why the file of a database cannot be written, or its folder, in which SQLite keeps its log. SQLite would open it
// all the same, and refuse the first write.
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

// refusal returns the error of the system without the name of the file.
func refusal(err error) error {
	if refused, ok := errors.AsType[*fs.PathError](err); ok {
		return refused.Err
	}
	return err
}

func emptied(path string) error {
	return fmt.Errorf("the database %s is empty although it is not new: restore it from a backup; "+
		"to begin a new one, remove the file, and %s-wal with it", path, path)
}

// checkSQLite reads the whole database, and changes nothing.
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

// createSQLite makes a database with a table, under another name first: so one that is there is never empty, however its creation
// was cut off. Only its owner may read it, because it contains transcripts; SQLite gives its companions, the log and the index of
// that, the same mode. When several processes create it concurrently, the first one's stays.
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
