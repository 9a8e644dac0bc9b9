package sqldb

import (
	"context"
	"database/sql/driver"
	"errors"
	"fmt"
	"sync/atomic"
)

// Limits of the compiled statements that a SQLite connection caches. The largest, about calls, occupy 14 KB each.
const (
	maxStatements = 96
	maxText       = 16 << 10 // in bytes; longer statements are not cached
)

// watched receives reports from the connections of a database. Both fields are required.
type watched struct {
	compiled *atomic.Int64 // counts compiled statements
	failed   func(error)   // called with the error of each failed statement
}

// unwatched returns a watched that discards all reports, for connections that are soon closed.
func unwatched() watched { return watched{new(atomic.Int64), func(error) {}} }

// keepingConnector opens connections to SQLite that cache compiled statements.
type keepingConnector struct {
	driver.Connector
	watched
}

// Connect opens a connection that caches compiled statements.
func (c keepingConnector) Connect(ctx context.Context) (driver.Conn, error) {
	opened, err := c.Connector.Connect(ctx)
	if err != nil {
		return nil, err
	}
	conn, ok := opened.(sqliteConn)
	if !ok {
		return nil, errors.Join(fmt.Errorf("no connection to SQLite: %T", opened), opened.Close())
	}
	return &keepingConn{sqliteConn: conn, watched: c.watched, kept: map[string]*keptStatement{}}, nil
}

// sqliteConn is the set of methods of the driver's connection that database/sql uses.
type sqliteConn interface {
	driver.Conn
	driver.ConnBeginTx
	driver.ConnPrepareContext
	driver.ExecerContext
	driver.QueryerContext
	driver.Pinger
	driver.SessionResetter
	driver.Validator
}

// keepingConn is a connection that caches the compiled forms of statements with values. After a change of the schema, SQLite itself
// recompiles a cached statement. A keepingConn needs no lock, because database/sql uses a connection and its rows from one goroutine at a
// time.
type keepingConn struct {
	sqliteConn
	watched
	kept map[string]*keptStatement
	uses uint64
	text []byte // text of the last statement, with placeholders; reused as a buffer
}

type keptStatement struct {
	driver.Stmt // nil if finalized
	text        string
	used        uint64 // value of keepingConn.uses at the last use
	busy        bool   // in use: its rows may still be read
}

// Close finalizes all cached statements and closes the connection.
func (c *keepingConn) Close() error {
	for _, s := range c.kept {
		c.discard(s)
	}
	return c.sqliteConn.Close()
}

// ExecContext executes a statement, from the cache if possible, and passes an error to the callback c.failed.
func (c *keepingConn) ExecContext(ctx context.Context, query string, args []driver.NamedValue) (driver.Result, error) {
	result, err := c.exec(ctx, query, args)
	if err != nil {
		c.failed(err)
	}
	return result, err
}

func (c *keepingConn) exec(ctx context.Context, query string, args []driver.NamedValue) (driver.Result, error) {
	s, args, err := c.statement(ctx, query, args)
	if err != nil {
		return nil, err
	}
	if s == nil {
		return c.sqliteConn.ExecContext(ctx, query, args)
	}
	result, err := s.Stmt.(driver.StmtExecContext).ExecContext(ctx, args)
	c.release(s, err)
	return result, err
}

// QueryContext executes a query, from the cache if possible, and passes an error to the callback c.failed.
func (c *keepingConn) QueryContext(ctx context.Context, query string, args []driver.NamedValue) (driver.Rows, error) {
	rows, err := c.query(ctx, query, args)
	if err != nil {
		c.failed(err)
	}
	return rows, err
}

func (c *keepingConn) query(ctx context.Context, query string, args []driver.NamedValue) (driver.Rows, error) {
	s, args, err := c.statement(ctx, query, args)
	if err != nil {
		return nil, err
	}
	if s == nil {
		return c.sqliteConn.QueryContext(ctx, query, args)
	}
	rows, err := s.Stmt.(driver.StmtQueryContext).QueryContext(ctx, args)
	if err != nil {
		c.release(s, err)
		return nil, err
	}
	return &keptRows{sqliteRows: rows.(sqliteRows), conn: c, statement: s}, nil
}

// statement returns the compiled statement for a text, and its arguments. If necessary, it compiles the statement. The caller must release
// the statement. statement returns nil if the text must run unchanged: if it is too long, if it contains no values, too many values or a
// value that cannot be parsed, or if its compiled statement is in use.
func (c *keepingConn) statement(
	ctx context.Context, query string, given []driver.NamedValue,
) (s *keptStatement, args []driver.NamedValue, err error) {
	switch {
	case len(given) == 0:
		c.text, args = liftValues(query, c.text[:0])
	case len(query) <= maxText:
		c.text, args = append(c.text[:0], query...), given
	}
	s = c.kept[string(c.text)]
	if len(args) == 0 || len(c.text) > maxText || s != nil && s.busy {
		c.compiled.Add(1)
		return nil, given, nil
	}
	if s == nil {
		if s, err = c.prepare(ctx, string(c.text)); err != nil {
			return nil, nil, err
		}
	}
	c.uses++
	s.used, s.busy = c.uses, true
	return s, args, nil
}

// prepare compiles a statement and adds it to the cache. If the cache is full, prepare discards the least recently used statement that is
// not in use, if there is one.
func (c *keepingConn) prepare(ctx context.Context, text string) (*keptStatement, error) {
	c.compiled.Add(1)
	compiled, err := c.PrepareContext(ctx, text)
	if err != nil {
		return nil, err
	}
	if len(c.kept) >= maxStatements {
		c.discard(c.oldest())
	}
	s := &keptStatement{Stmt: compiled, text: text}
	c.kept[text] = s
	return s, nil
}

// oldest returns the least recently used statement that is not in use, or nil if all are in use.
func (c *keepingConn) oldest() (oldest *keptStatement) {
	for _, s := range c.kept {
		if !s.busy && (oldest == nil || s.used < oldest.used) {
			oldest = s
		}
	}
	return oldest
}

// release ends the use of a statement. If err is not nil, it discards the statement.
func (c *keepingConn) release(s *keptStatement, err error) {
	s.busy = false
	if err != nil {
		c.discard(s)
	}
}

// discard finalizes a statement and deletes it from the cache. It ignores the error, because the caller has already received the same error
// from the last use.
func (c *keepingConn) discard(s *keptStatement) {
	if s != nil && s.Stmt != nil {
		_ = s.Close()
		s.Stmt = nil
		delete(c.kept, s.text)
	}
}

// sqliteRows is the set of methods of the driver's rows that database/sql uses.
type sqliteRows interface {
	driver.Rows
	driver.RowsColumnTypeDatabaseTypeName
	driver.RowsColumnTypeLength
	driver.RowsColumnTypeNullable
	driver.RowsColumnTypePrecisionScale
	driver.RowsColumnTypeScanType
}

// keptRows holds the rows of a cached statement, which stays in use until Close.
type keptRows struct {
	sqliteRows
	conn      *keepingConn
	statement *keptStatement
}

// Close closes the rows and releases the statement.
func (r *keptRows) Close() error {
	if r.statement.Stmt == nil {
		return nil // closing the connection has finalized the statement
	}
	err := r.sqliteRows.Close()
	r.conn.release(r.statement, err)
	return err
}
