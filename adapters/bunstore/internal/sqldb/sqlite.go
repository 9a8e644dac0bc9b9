package sqldb

import (
	"context"
	"database/sql"
	"database/sql/driver"
	"errors"
	"net/url"
	"path/filepath"
	"strings"
	"sync"

	"github.com/uptrace/bun"
	"modernc.org/sqlite"
	sqlite3 "modernc.org/sqlite/lib"
)

// readers is the number of connections for reads outside transactions on SQLite.
const readers = 4

// openSQLite opens the two pools of a file, or the single connection of a database in memory.
func (db *DB) openSQLite(ctx context.Context, path string) error {
	if path == "" || strings.IndexByte(path, 0) >= 0 {
		return errors.New("the address of a SQLite database must be sqlite:<path>")
	}
	if path != ":memory:" {
		if file, err := filepath.EvalSymlinks(path); err == nil {
			path = file // SQLite keeps the log next to the link's target
		}
		if err := prepareSQLite(ctx, path); err != nil {
			return err
		}
	}
	if err := registerContains(); err != nil {
		return err
	}
	db.dialect = dialect{
		name: "sqlite", contains: "callwright_contains(?, ?)", conflict: sqliteConflict, orphan: sqliteOrphan,
		probe: "SELECT name FROM callwright_migrations LIMIT 1",
		full:  sqliteFull, damaged: damagedFile, transient: sqliteTransient,
		crowded: func(error) bool { return false }, // SQLite has no server that could refuse connections
		away:    func(error) bool { return false },
	}
	watch := watched{&db.compiled, db.noteDamage}
	writer, err := sqlitePool(path, 1, watch, "foreign_keys(1)", "journal_mode(WAL)", "synchronous(NORMAL)")
	if err != nil {
		return err
	}
	db.writer, db.reader = writer, writer
	if path == ":memory:" {
		return nil
	}
	reader, err := sqlitePool(path, readers, watch, "query_only(1)")
	if err != nil {
		return errors.Join(err, writer.Close())
	}
	db.reader = reader
	return nil
}

// registerContains registers an SQL function in SQLite that reports whether a text contains another. LIKE and instr need time proportional
// to the product of both lengths: a search for a repeated letter in a long text of that letter blocked all other reads.
var registerContains = sync.OnceValue(func() error {
	return sqlite.RegisterDeterministicScalarFunction("callwright_contains", 2,
		func(_ *sqlite.FunctionContext, args []driver.Value) (driver.Value, error) {
			text, _ := args[0].(string)
			part, _ := args[1].(string)
			return strings.Contains(text, part), nil
		})
})

// sqlitePool returns a pool of up to size connections that stay open. A statement waits up to 5 s for a writer in another process.
func sqlitePool(path string, size int, watch watched, pragmas ...string) (*bun.DB, error) {
	return openPool(path, size, watch, url.Values{"_pragma": append(pragmas, "busy_timeout(5000)"), "_txlock": {"immediate"}})
}

// openPool returns a pool of connections with the given driver options. The connections cache compiled statements and report to watch.
func openPool(path string, size int, watch watched, options url.Values) (*bun.DB, error) {
	name := path
	if path != ":memory:" {
		// Only characters with a special meaning in a file: URI are escaped, so that relative paths stay relative.
		name = "file:" + strings.NewReplacer("%", "%25", "?", "%3f", "#", "%23").Replace(path)
	}
	connector, err := sqlite.NewConnector(name + "?" + options.Encode())
	if err != nil {
		return nil, err
	}
	pool := sql.OpenDB(keepingConnector{connector, watch})
	pool.SetMaxOpenConns(size)
	pool.SetMaxIdleConns(size)
	return bun.NewDB(pool, newMarkingDialect()), nil
}

// Checkpoint copies the contents of SQLite's write-ahead log into the database file. On PostgreSQL it does nothing.
func (db *DB) Checkpoint(ctx context.Context) error {
	if db.Name() != "sqlite" {
		return nil
	}
	_, err := db.writer.ExecContext(ctx, "PRAGMA wal_checkpoint(TRUNCATE)")
	return db.translate(ctx, err)
}

func sqliteConflict(err error) bool {
	e, ok := errors.AsType[*sqlite.Error](err)
	return ok && (e.Code() == sqlite3.SQLITE_CONSTRAINT_UNIQUE || e.Code() == sqlite3.SQLITE_CONSTRAINT_PRIMARYKEY)
}

func sqliteOrphan(err error) bool {
	e, ok := errors.AsType[*sqlite.Error](err)
	return ok && e.Code() == sqlite3.SQLITE_CONSTRAINT_FOREIGNKEY
}

// sqliteFull reports whether an error means that the disk is full or fails. If the index of the log does not fit, SQLite reports an I/O
// error.
func sqliteFull(err error) bool {
	e, ok := errors.AsType[*sqlite.Error](err)
	return ok && (e.Code()&0xff == sqlite3.SQLITE_FULL || e.Code()&0xff == sqlite3.SQLITE_IOERR)
}

func sqliteTransient(err error) bool {
	e, ok := errors.AsType[*sqlite.Error](err)
	if !ok {
		return false
	}
	primary := e.Code() & 0xff // the higher bits hold the extended error code
	return primary == sqlite3.SQLITE_BUSY || primary == sqlite3.SQLITE_LOCKED
}
