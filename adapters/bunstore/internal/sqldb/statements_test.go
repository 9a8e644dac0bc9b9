package sqldb_test

import (
	"context"
	"database/sql"
	"database/sql/driver"
	"errors"
	"fmt"
	"math"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"testing"

	"modernc.org/sqlite"

	"github.com/callwright/callwright/adapters/bunstore/internal/sqldb"
)

// pool is a pool of SQLite connections that cache compiled statements. Its database contains a table t of numbers.
type pool struct {
	*sql.DB
	t        *testing.T
	compiled atomic.Int64
	open     atomic.Int64 // prepared statements that are not finalized
}

func newPool(t *testing.T, address string, size int) *pool {
	t.Helper()
	base, err := sqlite.NewConnector(address)
	if err != nil {
		t.Fatal(err)
	}
	p := &pool{t: t}
	p.DB = sql.OpenDB(sqldb.Keeping(countingConnector{base, &p.open}, &p.compiled))
	p.SetMaxOpenConns(size)
	p.SetMaxIdleConns(size)
	t.Cleanup(func() {
		if err := p.Close(); err != nil {
			t.Error(err)
		}
		if n := p.open.Load(); n != 0 {
			t.Errorf("%d statements outlive their connections", n)
		}
	})
	p.exec("CREATE TABLE t (n INTEGER PRIMARY KEY)")
	return p
}

// exec executes a statement, fails the test on an error, and returns how many statements were compiled.
func (p *pool) exec(statement string, args ...any) int64 {
	p.t.Helper()
	before := p.compiled.Load()
	if _, err := p.ExecContext(p.t.Context(), statement, args...); err != nil {
		p.t.Fatalf("%s: %v", statement, err)
	}
	return p.compiled.Load() - before
}

// countingConnector counts the prepared statements that are not finalized.
type countingConnector struct {
	driver.Connector
	open *atomic.Int64
}

func (c countingConnector) Connect(ctx context.Context) (driver.Conn, error) {
	conn, err := c.Connector.Connect(ctx)
	if err != nil {
		return nil, err
	}
	return countingConn{conn.(sqldb.SQLiteConn), c.open}, nil
}

type countingConn struct {
	sqldb.SQLiteConn
	open *atomic.Int64
}

func (c countingConn) PrepareContext(ctx context.Context, query string) (driver.Stmt, error) {
	prepared, err := c.SQLiteConn.PrepareContext(ctx, query)
	if err != nil {
		return nil, err
	}
	c.open.Add(1)
	return countingStmt{prepared.(statement), c.open}, nil
}

type statement interface {
	driver.Stmt
	driver.StmtExecContext
	driver.StmtQueryContext
}

type countingStmt struct {
	statement
	open *atomic.Int64
}

func (s countingStmt) Close() error {
	s.open.Add(-1)
	return s.statement.Close()
}

func TestStatementIsCompiledOnce(t *testing.T) {
	t.Parallel()
	p := newPool(t, ":memory:", 1)
	for i := range 10 {
		if n := p.exec("INSERT INTO t VALUES (?)", i); n != 0 && i > 0 {
			t.Fatalf("compiled again for value %d", i)
		}
	}
	before := p.compiled.Load()
	for i := range 10 {
		var n int
		if err := p.QueryRowContext(t.Context(), "SELECT n FROM t WHERE n = ?", i).Scan(&n); err != nil || n != i {
			t.Fatal(n, err)
		}
	}
	if n := p.compiled.Load() - before; n != 1 {
		t.Errorf("one query was compiled %d times", n)
	}
	for range 2 { // long statements and statements without values are not cached
		if p.exec("DELETE FROM t") != 1 || p.exec("DELETE FROM t WHERE n = ? --"+strings.Repeat("x", sqldb.MaxText), 1) != 1 {
			t.Error("kept")
		}
	}
}

func TestBusyStatementIsNotReused(t *testing.T) {
	t.Parallel()
	p := newPool(t, ":memory:", 1)
	p.exec("INSERT INTO t VALUES (1), (2), (3)")
	tx, err := p.BeginTx(t.Context(), nil)
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = tx.Rollback() }()
	const from = "SELECT n FROM t WHERE n >= ? ORDER BY n"
	var seen []int
	rows, err := tx.QueryContext(t.Context(), from, 1)
	if err != nil {
		t.Fatal(err)
	}
	defer rows.Close() // Next also closes the rows after the last one
	for rows.Next() {
		var n, other int
		if err := errors.Join(rows.Scan(&n), tx.QueryRowContext(t.Context(), from, 3).Scan(&other)); err != nil {
			t.Fatal(err)
		}
		seen = append(seen, n, other)
	}
	if rows.Err() != nil || !slices.Equal(seen, []int{1, 3, 2, 3, 3, 3}) {
		t.Fatal(seen, rows.Err())
	}
	before := p.compiled.Load()
	var n int
	if err := tx.QueryRowContext(t.Context(), from, 2).Scan(&n); err != nil || n != 2 || p.compiled.Load() != before {
		t.Error("not used again when its rows were read:", n, err)
	}
}

func TestStatementsAreBounded(t *testing.T) {
	t.Parallel()
	p := newPool(t, ":memory:", 1)
	numbered := func(i int) string { return fmt.Sprintf("DELETE FROM t WHERE n = ? AND n <> %d", i) }
	for i := range sqldb.MaxStatements + 10 {
		p.exec(numbered(i), 1)
		p.exec(numbered(0), 1) // keeps this statement from being the least recently used one
	}
	if n := p.open.Load(); n != sqldb.MaxStatements {
		t.Errorf("keeps %d statements", n)
	}
	if p.exec(numbered(0), 1) != 0 || p.exec(numbered(sqldb.MaxStatements), 1) != 0 || p.exec(numbered(1), 1) != 1 {
		t.Error("does not keep the statements that were used last")
	}
}

func TestStatementFollowsTheSchema(t *testing.T) {
	t.Parallel()
	p := newPool(t, ":memory:", 1)
	const all = "SELECT * FROM t WHERE n < ?" //nolint:unqueryvet // the columns change
	columns := func() int {
		rows, err := p.QueryContext(t.Context(), all, 10)
		if err != nil {
			t.Fatal(err)
		}
		defer rows.Close()
		names, err := rows.Columns()
		if err != nil || !rows.Next() || rows.Err() != nil {
			t.Fatal(err, rows.Err())
		}
		return len(names)
	}
	p.exec("INSERT INTO t VALUES (?)", 1)
	if n := columns(); n != 1 {
		t.Fatalf("%d columns", n)
	}
	p.exec("ALTER TABLE t ADD COLUMN m")
	if n := columns(); n != 2 {
		t.Errorf("%d columns after one was added", n)
	}
	p.exec("DROP TABLE t")
	if _, err := p.QueryContext(t.Context(), all, 10); err == nil || !strings.Contains(err.Error(), "no such table") { //nolint:rowserrcheck,sqlclosecheck // there are no rows
		t.Errorf("without the table: %v", err)
	}
	p.exec("CREATE TABLE t (n, m, o)")
	p.exec("INSERT INTO t VALUES (1, 2, ?)", 3)
	if n := columns(); n != 3 {
		t.Errorf("%d columns in the new table", n)
	}
}

func TestFailedStatementIsNotKept(t *testing.T) {
	t.Parallel()
	p := newPool(t, ":memory:", 1)
	p.exec("INSERT INTO t VALUES (?)", 1)
	if _, err := p.ExecContext(t.Context(), "INSERT INTO t VALUES (?)", 1); err == nil || !strings.Contains(err.Error(), "UNIQUE") {
		t.Fatalf("a number twice: %v", err)
	}
	if n := p.open.Load(); n != 0 {
		t.Errorf("%d statements are kept", n)
	}
	p.exec("INSERT INTO t VALUES (?)", 0)
	rows, err := p.QueryContext(t.Context(), "SELECT abs(n + ?) FROM t ORDER BY n DESC", math.MinInt64) // abs fails for the smallest number
	if err != nil {
		t.Fatal(err)
	}
	defer rows.Close() // Next also closes the rows when it fails
	for rows.Next() {
		continue
	}
	if err := rows.Err(); err == nil || !strings.Contains(err.Error(), "overflow") {
		t.Errorf("the last row: %v", err)
	}
	if n := p.open.Load(); n != 1 {
		t.Errorf("%d statements are kept", n)
	}
}

func TestStatementIsInterrupted(t *testing.T) {
	t.Parallel()
	for _, address := range []string{":memory:", filepath.Join(t.TempDir(), "db")} {
		p := newPool(t, address, 1)
		p.exec("INSERT INTO t VALUES (?)", 1)
		const endless = "WITH RECURSIVE r(i) AS (SELECT ? UNION ALL SELECT i + 1 FROM r) SELECT max(i) FROM r"
		for range 3 {
			ctx, cancel := context.WithCancel(t.Context())
			go cancel()
			var n int
			if err := p.QueryRowContext(ctx, endless, 1).Scan(&n); err == nil {
				t.Fatal("an endless query has ended")
			}
			if _, err := p.ExecContext(ctx, endless, 1); err == nil {
				t.Fatal("an endless query has ended")
			}
		}
		p.exec("INSERT INTO t VALUES (?)", 2)
	}
}

// TestStatementsAreKeptForEachConnection checks that each of four connections compiles a repeated statement only once. The connections are
// used concurrently, so that the race detector also checks them.
func TestStatementsAreKeptForEachConnection(t *testing.T) {
	t.Parallel()
	p := newPool(t, filepath.Join(t.TempDir(), "db")+"?_pragma=busy_timeout(60000)", 4)
	p.exec("INSERT INTO t VALUES (1), (2), (3)")
	var wg sync.WaitGroup
	for range 8 {
		wg.Go(func() {
			for i := range 200 {
				var n int
				if err := p.QueryRowContext(t.Context(), "SELECT n FROM t WHERE n = ?", i%3+1).Scan(&n); err != nil || n != i%3+1 {
					t.Error(n, err)
					return
				}
			}
		})
	}
	wg.Wait()
	if n := p.compiled.Load(); n > 2+4 {
		t.Errorf("four connections compiled %d statements", n)
	}
}

func TestPartialIndexServesValuesToo(t *testing.T) {
	t.Parallel()
	p := newPool(t, ":memory:", 1)
	p.exec("CREATE TABLE u (a, b)")
	p.exec("CREATE INDEX sevens ON u (b) WHERE a = 7")
	for _, a := range []int{7, 8, 7} {
		var plan string
		if err := p.QueryRowContext(t.Context(), "EXPLAIN QUERY PLAN SELECT b FROM u WHERE a = ? AND b > ?", a, 1).Scan(new(any), new(any), new(any), &plan); err != nil {
			t.Fatal(err)
		}
		if strings.Contains(plan, "sevens") != (a == 7) {
			t.Errorf("for %d: %s", a, plan)
		}
	}
}
