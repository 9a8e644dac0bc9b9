package sqldb

import (
	"context"
	"database/sql/driver"
	"errors"
	"fmt"
	"sync/atomic"
)

// The statements that a connection to SQLite keeps compiled. Statements about calls, which have the widest rows, take 14 KB each.
const (
	maxStatements = 96
	maxText       = 16 << 10 // the length of a statement above which it is not kept
)

// watched receives reports from the connections of a database. Both fields are required.
type watched struct {
	compiled *atomic.Int64 // counts the statements that the connections compile
	failed   func(error)   // receives the errors of all statements
}

// unwatched is for connections that are closed soon.
func unwatched() watched { return watched{new(atomic.Int64), func(error) {}} }

// keepingConnector opens connections to SQLite that keep their statements.
type keepingConnector struct {
	driver.Connector
	watched
}

// Connect opens a connection.
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

// sqliteConn lists the methods of the driver's connection that database/sql uses.
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

// keepingConn is a connection that keeps the statements with values that it has compiled. SQLite itself compiles a kept one
// again when the schema has changed. database/sql uses a connection, and the rows of one, from one goroutine at a time.
type keepingConn struct {
	sqliteConn
	watched
	kept map[string]*keptStatement
	uses uint64
	text []byte // of the last statement whose values were lifted
}

type keptStatement struct {
	driver.Stmt // nil: closed
	text        string
	used        uint64 // counts the uses of the connection
	busy        bool   // its rows are being read
}

// Close finalizes all statements and closes the connection.
func (c *keepingConn) Close() error {
	for _, s := range c.kept {
		c.discard(s)
	}
	return c.sqliteConn.Close()
}

// ExecContext runs a statement.
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

// QueryContext runs a query.
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

// statement returns the kept statement for a text and its arguments, compiled if need be, until release. It returns nil when
// the text has to run as it is: it has no values, or its statement is busy.
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

// prepare compiles a statement and makes room for it.
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

// oldest returns the least recently used idle statement, or nil if all are busy.
func (c *keepingConn) oldest() (oldest *keptStatement) {
	for _, s := range c.kept {
		if !s.busy && (oldest == nil || s.used < oldest.used) {
			oldest = s
		}
	}
	return oldest
}

// release ends the use of a statement. One that has failed is not kept.
func (c *keepingConn) release(s *keptStatement, err error) {
	s.busy = false
	if err != nil {
		c.discard(s)
	}
}

// discard finalizes a statement. Its error would repeat the error of the last use, which the user has already got.
func (c *keepingConn) discard(s *keptStatement) {
	if s != nil && s.Stmt != nil {
		_ = s.Close()
		s.Stmt = nil
		delete(c.kept, s.text)
	}
}

// sqliteRows lists the methods of the driver's rows.
type sqliteRows interface {
	driver.Rows
	driver.RowsColumnTypeDatabaseTypeName
	driver.RowsColumnTypeLength
	driver.RowsColumnTypeNullable
	driver.RowsColumnTypePrecisionScale
	driver.RowsColumnTypeScanType
}

// keptRows are the rows of a kept statement.
type keptRows struct {
	sqliteRows
	conn      *keepingConn
	statement *keptStatement
}

// Close ends the use of the statement.
func (r *keptRows) Close() error {
	if r.statement.Stmt == nil {
		return nil // the connection is closed
	}
	err := r.sqliteRows.Close()
	r.conn.release(r.statement, err)
	return err
}
